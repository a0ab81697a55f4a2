// The source of random numbers for tensors of accelerators.
#pragma once
#include <cstdint>

#include "c10/core/Generator.h"

namespace c10 {

/// A counter-based source: number i is a function of the seed and of a counter, so that threads
/// draw without waiting for each other and every launch shape gives the same numbers. The state is
/// the seed and the counter of the next draw.
struct TORCH_PY_API PhiloxGenerator final : Generator {
  explicit PhiloxGenerator(Device device, uint64_t seed = kDefaultSeed);

  void set_seed(uint64_t value) override;

  /// Reserves counters for one launch and returns the first of them; call with `mutex` held. A
  /// counter gives four 32-bit numbers, so `count` is rounded up to a multiple of four.
  uint64_t take(uint64_t count) {
    const uint64_t first = offset;
    offset += (count + 3) / 4 * 4;
    return first;
  }

  /// Prepares `engine` for a kernel of the CPU that runs in place of a device's, and moves the
  /// counter on; call with `mutex` held.
  void seed_host_engine();

  uint64_t offset = 0;  // counter of the next draw; a multiple of four
};

/// The generator that operators on `device` draw from when none is given. A device without index
/// is the current one. CPU: default_cpu_generator().
TORCH_PY_API Generator& default_generator(Device device);

/// Seeds the default generators of all devices of an accelerator, also of those that are first used
/// later. Needs no backend.
TORCH_PY_API void seed_generators(DeviceType type, uint64_t seed);

}  // namespace c10
