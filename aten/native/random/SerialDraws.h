#pragma once
// Random numbers drawn from a generator one at a time.
#include <cmath>
#include <mutex>
#include <numbers>

#include "c10/core/Generator.h"

namespace at::native {

/// Holds the lock of a generator as long as it lives.
class SerialDraws {
 public:
  explicit SerialDraws(c10::Generator* generator)
      : generator_(generator != nullptr ? *generator : c10::default_cpu_generator()),
        lock_(generator_.mutex) {}

  /// A number from [0, 1) with 53 random bits.
  double uniform() {
    return static_cast<double>(generator_.random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
  }

  /// A standard normal number (Box and Muller 1958). The method gives pairs: the second number is
  /// kept for the next draw.
  double normal() {
    if (generator_.next_normal.has_value()) {
      const double value = *generator_.next_normal;
      generator_.next_normal.reset();
      return value;
    }

    const double first = uniform();
    const double second = uniform();
    const double radius = std::sqrt(-2.0 * std::log1p(-second));
    const double angle = 2.0 * std::numbers::pi * first;
    generator_.next_normal = radius * std::sin(angle);
    return radius * std::cos(angle);
  }

 private:
  c10::Generator& generator_;
  std::lock_guard<std::mutex> lock_;
};

}  // namespace at::native
