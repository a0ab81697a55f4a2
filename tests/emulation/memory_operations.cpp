// What kernels do to memory beyond plain accesses: shared variables, deferred copies.
#include <cstring>

#include "tests/emulation/block_run.h"

namespace emulation {

// --- Shared memory ---

void* shared_memory(const SharedSite& site) {
  const HiddenFromRaceDetector hidden;
  BlockRun& run = running_block();
  void* const address = run.shared().variable(site);
  if (address == nullptr)
    run.fail(std::string("no shared memory left for ") + site.name + " (" +
             std::to_string(site.size) + " bytes)");
  return address;
}

void* dynamic_shared_memory() {
  const HiddenFromRaceDetector hidden;
  BlockRun& run = running_block();
  void* const address = run.shared().dynamic();
  if (address == nullptr) run.fail("uses dynamic shared memory, but the launch gave it none");
  return address;
}

// --- Deferred copies ---

void copy_later(void* to, const void* from, unsigned size) {
  BlockRun& run = running_block();
  const auto misaligned = [size](const void* address) {
    return reinterpret_cast<uintptr_t>(address) % size != 0;
  };
  if (misaligned(to) || misaligned(from))
    run.fail(run.name(run.current()) + " copies " + std::to_string(size) +
             " bytes from or to an address that is not aligned to them");

  const HiddenFromRaceDetector hidden;
  GridThread& thread = run.current();
  thread.copies.push_back({to, from, size, thread.copy_group});
}

void close_copy_group() {
  const HiddenFromRaceDetector hidden;
  ++running_block().current().copy_group;
}

void wait_for_copy_groups(unsigned open) {
  GridThread& thread = running_block().current();
  for (;;) {
    DeferredCopy copy;
    {
      const HiddenFromRaceDetector hidden;
      if (thread.copies.empty()) return;
      copy = thread.copies.front();
      if (copy.group + open >= thread.copy_group) return;
      thread.copies.erase(thread.copies.begin());
    }
    std::memcpy(copy.to, copy.from, copy.size);
  }
}

}  // namespace emulation
