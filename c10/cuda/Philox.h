// Philox: what a kernel that draws random numbers gets as its argument.
#pragma once

#include <cstdint>

#include "c10/core/Allocator.h"
#include "c10/core/PhiloxGenerator.h"
#include "c10/util/Export.h"

namespace c10::cuda {

/// The key and the first counter of a launch. In a graph, both are read from device memory, which
/// each replay sets before it begins.
struct PhiloxArguments {
  uint64_t seed = 0;
  uint64_t offset = 0;
  const uint64_t* recorded = nullptr;  // in a graph: [seed, counter at the beginning of the replay]

  C10_HOST_DEVICE uint64_t key() const { return recorded != nullptr ? recorded[0] : seed; }
  C10_HOST_DEVICE uint64_t first_counter() const {
    return recorded != nullptr ? recorded[1] + offset : offset;
  }
};

/// Reserves counters for `count` 32-bit numbers; takes the generator's lock.
PhiloxArguments take_philox(PhiloxGenerator& generator, uint64_t count);

/// The share of one generator in a graph: see Graph.cpp.
class RecordedPhilox {
 public:
  explicit RecordedPhilox(PhiloxGenerator& generator) : generator_(generator) {}
  RecordedPhilox(const RecordedPhilox&) = delete;
  RecordedPhilox& operator=(const RecordedPhilox&) = delete;

  PhiloxGenerator& generator() const { return generator_; }
  /// Between these two, launches draw from the device's copy. Needs memory, so it comes before the
  /// capture.
  void begin();
  void end();
  /// Sets the device's copy for a replay in the current stream and moves the generator on.
  void advance();

 private:
  friend PhiloxArguments take_philox(PhiloxGenerator& generator, uint64_t count);

  PhiloxGenerator& generator_;
  DataPtr on_device_;   // [seed, counter]
  uint64_t drawn_ = 0;  // counters per replay
};

}  // namespace c10::cuda
