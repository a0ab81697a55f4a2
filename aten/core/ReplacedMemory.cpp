// Memory that a kernel takes away from a storage.
#include "aten/core/ReplacedMemory.h"

#include <atomic>
#include <utility>

namespace at {

namespace {

std::atomic<ReplacedMemoryHandler> handler{nullptr};

}  // namespace

void set_replaced_memory_handler(ReplacedMemoryHandler receiver) { handler = receiver; }

void release_replaced_storage(const c10::Storage& storage) {
  const ReplacedMemoryHandler receiver = handler.load(std::memory_order_relaxed);
  if (storage && receiver != nullptr) receiver(storage);
}

void release_replaced_memory(c10::DataPtr memory) {
  if (!memory) return;
  release_replaced_storage(c10::make_intrusive<c10::StorageImpl>(std::move(memory), 0, nullptr));
}

}  // namespace at
