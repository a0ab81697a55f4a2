#pragma once
// Random numbers from counters: Philox 4x32-10 (Salmon, Moraes, Dror and Shaw 2011).
#include <cmath>
#include <cstdint>

#include "c10/util/Export.h"

namespace at::native {
namespace {

struct PhiloxWords {
  uint32_t words[4];

  /// Two words as one; i is 0 or 1.
  C10_HOST_DEVICE uint64_t wide(int i) const {
    return uint64_t{words[2 * i]} << 32 | words[2 * i + 1];
  }
};

/// 128 random bits for a key and a counter of 128 bits.
C10_HOST_DEVICE inline PhiloxWords philox(uint64_t key, uint64_t low, uint64_t high) {
  auto key0 = static_cast<uint32_t>(key);
  auto key1 = static_cast<uint32_t>(key >> 32);
  auto c0 = static_cast<uint32_t>(low);
  auto c1 = static_cast<uint32_t>(low >> 32);
  auto c2 = static_cast<uint32_t>(high);
  auto c3 = static_cast<uint32_t>(high >> 32);

  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * c0;
    const uint64_t second = uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<uint32_t>(second >> 32) ^ c1 ^ key0;
    c1 = static_cast<uint32_t>(second);
    c2 = static_cast<uint32_t>(first >> 32) ^ c3 ^ key1;
    c3 = static_cast<uint32_t>(first);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return {{c0, c1, c2, c3}};
}

/// Uniform numbers from [0, 1), with as many bits as the type holds.
C10_HOST_DEVICE inline float uniform_number(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}
C10_HOST_DEVICE inline double uniform_number(uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

/// Uniform numbers from (0, 1), for logarithms: small ones have a finer grid than 2^-32, 2^-64.
C10_HOST_DEVICE inline float open_uniform_number(uint32_t word) {
  const float x = (static_cast<float>(word) + 0.5f) * 0x1p-32f;
  return x < 1.0f ? x : 1.0f - 0x1p-24f;
}
C10_HOST_DEVICE inline double open_uniform_number(uint64_t word) {
  const double x = (static_cast<double>(word) + 0.5) * 0x1p-64;
  return x < 1.0 ? x : 1.0 - 0x1p-53;
}

/// A pair of standard normal numbers by the method of Box and Muller (1958).
template <class T>
struct NormalPair {
  T first;
  T second;
};
C10_HOST_DEVICE inline NormalPair<float> normal_pair(uint32_t a, uint32_t b) {
  const float radius = std::sqrt(-2.0f * std::log(open_uniform_number(a)));
  const float angle = 6.2831853071795864769f * uniform_number(b);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}
C10_HOST_DEVICE inline NormalPair<double> normal_pair(uint64_t a, uint64_t b) {
  const double radius = std::sqrt(-2.0 * std::log(open_uniform_number(a)));
  const double angle = 6.2831853071795864769 * uniform_number(b);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// As many numbers as one element needs, drawn one at a time from a sequence of its own: the
/// counter's high half counts on. See SerialDraws for the same from the CPU's generator.
class PhiloxDraws {
 public:
  C10_HOST_DEVICE PhiloxDraws(uint64_t key, uint64_t counter) : key_(key), counter_(counter) {}

  C10_HOST_DEVICE double uniform() { return uniform_number(word()); }

  C10_HOST_DEVICE double normal() {
    if (has_normal_) {
      has_normal_ = false;
      return normal_;
    }
    const uint64_t a = word();
    const uint64_t b = word();
    const NormalPair<double> pair = normal_pair(a, b);
    normal_ = pair.second;
    has_normal_ = true;
    return pair.first;
  }

 private:
  C10_HOST_DEVICE uint64_t word() {
    if (used_ == 2) {
      words_ = philox(key_, counter_, drawn_++);
      used_ = 0;
    }
    return words_.wide(used_++);
  }

  uint64_t key_;
  uint64_t counter_;
  uint64_t drawn_ = 0;
  PhiloxWords words_{};
  int used_ = 2;
  bool has_normal_ = false;
  double normal_ = 0;
};

}  // namespace
}  // namespace at::native
