// The shared memory of a block: variables, their first contents, the gaps between them.
#include "tests/emulation/shared_memory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/emulation/fiber.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)
#define ASAN_UNPOISON_MEMORY_REGION(address, size)
#endif

namespace emulation {

namespace {

constexpr size_t kGap = kAddressMode ? 64 : 0;
constexpr size_t kCapacity = 512 * 1024;  // the limit, and gaps
constexpr size_t kAlignment = 128;

size_t rounded_to(size_t bytes, size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

SharedMemory::~SharedMemory() {
  if (memory_ == nullptr) return;
  ASAN_UNPOISON_MEMORY_REGION(memory_, kCapacity);
  std::free(memory_);
}

void SharedMemory::begin_block(size_t dynamic_bytes) {
  // The race detector remembers who wrote to memory; only new memory is free of that.
  if (kRaceMode && used_ != 0) {
    std::free(memory_);
    memory_ = nullptr;
  }
  if (memory_ != nullptr) {
    ASAN_POISON_MEMORY_REGION(memory_, used_);
  }

  used_ = 0;
  static_bytes_ = 0;
  dynamic_bytes_ = dynamic_bytes;
  dynamic_ = nullptr;
  variables_.clear();
}

void* SharedMemory::take(size_t bytes, size_t alignment) {
  if (memory_ == nullptr) {
    memory_ = static_cast<char*>(std::aligned_alloc(kAlignment, kCapacity));
    if (memory_ == nullptr) throw std::bad_alloc();
    ASAN_POISON_MEMORY_REGION(memory_, kCapacity);
  }

  const size_t begin = rounded_to(used_ + kGap, alignment);
  if (begin + bytes + kGap > kCapacity) return nullptr;
  used_ = begin + bytes + kGap;

  ASAN_UNPOISON_MEMORY_REGION(memory_ + begin, bytes);
  std::memset(memory_ + begin, 0xFF, bytes);
  return memory_ + begin;
}

void* SharedMemory::dynamic() {
  if (dynamic_ == nullptr && dynamic_bytes_ != 0) dynamic_ = take(dynamic_bytes_, kAlignment);
  return dynamic_;
}

void* SharedMemory::variable(const SharedSite& site) {
  for (const Variable& known : variables_)
    if (known.site == &site) return known.address;

  static_bytes_ += site.size;
  if (static_bytes_ > kStaticLimit || static_bytes_ + dynamic_bytes_ > kLimit) return nullptr;

  void* const address = take(site.size, site.alignment < 16 ? 16 : site.alignment);
  variables_.push_back({&site, address});
  return address;
}

}  // namespace emulation
