// Memory that a kernel takes away from a storage.
#include "aten/core/ReplacedMemory.h"

#include <atomic>
#include <utility>

namespace at {

namespace {

std::atomic<ReplacedMemoryHandler> handler{nullptr};

}  // namespace

void set_replaced_memory_handler(ReplacedMemoryHandler receiver) { handler = receiver; }

void release_replaced_memory(c10::DataPtr memory) {
  const ReplacedMemoryHandler receiver = handler.load(std::memory_order_relaxed);
  if (memory && receiver != nullptr) receiver(std::move(memory));
}

}  // namespace at
