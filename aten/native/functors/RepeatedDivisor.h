#pragma once
// Division of many integers by the same one.
#include <bit>
#include <cstdint>
#include <type_traits>

namespace at::native {
namespace {

/// Divides integers of up to 64 bits by one that is not 0, rounding towards zero, by a
/// multiplication with a scaled reciprocal (Granlund and Montgomery, "Division by invariant
/// integers using multiplication", 1994, figure 5.2). The lowest number divided by -1 wraps around.
template <class T>
class RepeatedDivisor {
  static constexpr bool kLong = sizeof(T) == 8;
  using Word = std::conditional_t<kLong, int64_t, int32_t>;
  using Unsigned = std::make_unsigned_t<Word>;
  __extension__ using Product = std::conditional_t<kLong, __int128, int64_t>;
  static constexpr int kBits = sizeof(Word) * 8;

 public:
  explicit RepeatedDivisor(T divisor) : divisor_(divisor) {
    const Word wide = static_cast<Word>(divisor);
    sign_ = wide < 0 ? -1 : 0;
    const Unsigned magnitude =
        wide < 0 ? Unsigned(0) - static_cast<Unsigned>(wide) : static_cast<Unsigned>(wide);

    // The power of two is at least the divisor, which makes the reciprocal one bit too long: its
    // highest bit is implied.
    const int log = magnitude <= 2 ? 1 : std::bit_width(static_cast<Unsigned>(magnitude - 1));
    shift_ = log - 1;
    __extension__ using Wide = unsigned __int128;
    const Wide reciprocal = (Wide(1) << (kBits + shift_)) / magnitude + 1;
    reciprocal_ = static_cast<Word>(static_cast<Unsigned>(reciprocal));
  }

  T divisor() const { return divisor_; }

  T quotient(T dividend) const {
    const Word n = static_cast<Word>(dividend);
    const Word high = static_cast<Word>((static_cast<Product>(reciprocal_) * n) >> kBits);
    const Word sum = static_cast<Word>(static_cast<Unsigned>(n) + static_cast<Unsigned>(high));
    const auto rounded =
        static_cast<Unsigned>(sum >> shift_) + (static_cast<Unsigned>(n) >> (kBits - 1));
    const auto sign = static_cast<Unsigned>(sign_);
    return static_cast<T>((rounded ^ sign) - sign);
  }

 private:
  T divisor_;
  Word reciprocal_;
  Word sign_;  // -1 for a negative divisor, otherwise 0
  int shift_;
};

/// Divides integers of up to 64 bits by one that is at least 2, rounding down (figure 6.1 of the
/// same article). The bits of a negative number, inverted, are a number that is not negative; its
/// quotient, inverted, is the one wanted.
template <class T>
class FloorDivisor {
  static constexpr bool kLong = sizeof(T) == 8;
  using Word = std::conditional_t<kLong, int64_t, int32_t>;
  using Unsigned = std::make_unsigned_t<Word>;
  __extension__ using Product = std::conditional_t<kLong, unsigned __int128, uint64_t>;
  static constexpr int kBits = sizeof(Word) * 8;

 public:
  explicit FloorDivisor(T divisor) : divisor_(divisor) {
    const auto magnitude = static_cast<Unsigned>(divisor);
    shift_ = std::bit_width(static_cast<Unsigned>(magnitude - 1)) - 1;
    __extension__ using Wide = unsigned __int128;
    const Wide reciprocal = (Wide(1) << (kBits + shift_)) / magnitude + 1;
    reciprocal_ = static_cast<Unsigned>(reciprocal);
  }

  T divisor() const { return divisor_; }

  T quotient(T dividend) const {
    const Word n = static_cast<Word>(dividend);
    const Word sign = n >> (kBits - 1);
    const auto inverted = static_cast<Unsigned>(n ^ sign);
    const auto high =
        static_cast<Unsigned>((static_cast<Product>(reciprocal_) * inverted) >> kBits);
    return static_cast<T>(static_cast<Word>(high >> shift_) ^ sign);
  }

 private:
  T divisor_;
  Unsigned reciprocal_;
  int shift_;
};

}  // namespace
}  // namespace at::native
