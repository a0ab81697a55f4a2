// The Mersenne Twister random number generator.
#pragma once

#include <array>
#include <cstdint>

#include "c10/util/Export.h"

namespace c10 {

/// The Mersenne Twister of Matsumoto and Nishimura (1998) with a 32-bit seed: the stream of
/// std::mt19937 and of the CPU generators of NumPy's legacy interface and PyTorch. Copyable; the
/// state can be saved and restored.
class MT19937 {
 public:
  static constexpr int kStateSize = 624;
  static constexpr uint32_t kDefaultSeed = 5489;

  struct State {
    uint32_t seed = kDefaultSeed;
    int32_t position = kStateSize;  // of the next word; kStateSize if a new block is due
    std::array<uint32_t, kStateSize> words{};
  };

  explicit MT19937(uint64_t seed = kDefaultSeed) { reseed(seed); }

  void reseed(uint64_t seed) {
    state_.seed = static_cast<uint32_t>(seed);
    state_.words[0] = state_.seed;
    for (uint32_t i = 1; i < kStateSize; ++i) {
      const uint32_t previous = state_.words[i - 1];
      state_.words[i] = 1812433253u * (previous ^ (previous >> 30)) + i;
    }
    state_.position = kStateSize;
  }

  /// Uniform over all 32-bit numbers.
  uint32_t operator()() {
    if (C10_UNLIKELY(state_.position >= kStateSize)) next_block();
    return temper(state_.words[static_cast<size_t>(state_.position++)]);
  }

  /// Uniform over all 64-bit numbers: the first draw is the upper half.
  uint64_t random64() {
    const uint64_t high = (*this)();
    return high << 32 | (*this)();
  }

  /// Writes the same numbers as `count` calls; the loop over a block vectorises.
  void fill(uint32_t* out, int64_t count) {
    while (count > 0) {
      if (state_.position >= kStateSize) next_block();
      const int64_t left = kStateSize - state_.position;
      const int64_t now = count < left ? count : left;
      const uint32_t* words = state_.words.data() + state_.position;
      for (int64_t i = 0; i < now; ++i) out[i] = temper(words[i]);

      state_.position += static_cast<int32_t>(now);
      out += now;
      count -= now;
    }
  }

  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  static constexpr int kShift = 397;

  static constexpr uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  static constexpr uint32_t twist(uint32_t upper, uint32_t lower, uint32_t shifted) {
    const uint32_t mixed = (upper & 0x80000000u) | (lower & 0x7fffffffu);
    return shifted ^ (mixed >> 1) ^ ((0u - (lower & 1u)) & 0x9908b0dfu);
  }

  C10_NOINLINE void next_block() {
    uint32_t* w = state_.words.data();
    for (int i = 0; i < kStateSize - kShift; ++i) w[i] = twist(w[i], w[i + 1], w[i + kShift]);
    for (int i = kStateSize - kShift; i < kStateSize - 1; ++i)
      w[i] = twist(w[i], w[i + 1], w[i + kShift - kStateSize]);
    w[kStateSize - 1] = twist(w[kStateSize - 1], w[0], w[kShift - 1]);
    state_.position = 0;
  }

  State state_;
};

}  // namespace c10
