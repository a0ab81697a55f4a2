// The source of random numbers behind torch.Generator.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>

#include "c10/core/Device.h"
#include "c10/core/MT19937.h"
#include "c10/util/Export.h"

namespace c10 {

/// A source of random numbers: this class of those for CPU tensors, PhiloxGenerator of those for
/// tensors of accelerators. Drawing is serial under `mutex`, so that a seed gives the same numbers
/// for every number of threads.
struct TORCH_PY_API Generator {
  static constexpr uint64_t kDefaultSeed = 67280421310721ULL;

  explicit Generator(uint64_t seed = kDefaultSeed, Device device = kCPU);
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  virtual ~Generator();

  virtual void set_seed(uint64_t value);

  uint32_t random() { return engine(); }
  /// 64 random bits: the first draw is the high half.
  uint64_t random64() {
    const uint64_t high = engine();
    return (high << 32) | engine();
  }

  std::mutex mutex;  // held by whoever draws or changes the state
  Device device = kCPU;
  uint64_t seed = 0;  // the last one set
  MT19937 engine{0};
  std::optional<double> next_normal;  // second value of a Box-Muller pair, kept for the next draw
};

TORCH_PY_API Generator& default_cpu_generator();

}  // namespace c10
