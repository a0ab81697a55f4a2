#pragma once
// Loops of functors that leave the conversion of elements to the loop.
#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

#include "aten/iteration/Gather.h"
#include "aten/iteration/Rows.h"
#include "aten/vec/pack.h"
#include "c10/core/ScalarType.h"

// Note [Computed values]
// Most functors convert elements to the arithmetic type (opmath_type), compute, and round the
// result. A functor with a member `computed(values...)`, the function between these conversions,
// leaves them to the loop. Where `computed` takes packs, elements are loaded, computed and stored
// by packs (Note [Packs of floats]), and repeated operands need no memory. Where it takes numbers
// only, float16 and bfloat16 are converted by blocks. Results are those of the functor's call
// operator.

namespace at::native {
inline namespace CPU_CAPABILITY {

// Elements per block of a strided loop: all buffers stay in the first-level cache.
constexpr int64_t kBlock = 256;

/// A formula over the arithmetic types of its operands: elements of types A, a result of type R.
template <class Formula, class R, class... A>
struct Arithmetic {
  Formula formula;

  template <class... V>
    requires std::is_invocable_v<const Formula&, V...>
  C10_ALWAYS_INLINE auto computed(V... values) const {
    return formula(values...);
  }
  C10_ALWAYS_INLINE R operator()(A... elements) const {
    return static_cast<R>(formula(static_cast<opmath_type<A>>(elements)...));
  }
};

/// arithmetic<R, A...>(lambda). One with `auto` parameters must take packs, too.
template <class R, class... A, class Formula>
Arithmetic<Formula, R, A...> arithmetic(const Formula& formula) {
  return {formula};
}

template <class>
using PackFor = vec::Pack;

/// Functors that run over packs.
template <class F, class R, class... A>
concept ComputesPacks =
    vec::kHasPacks && sizeof...(A) > 0 && vec::PackElement<R> && (vec::PackElement<A> && ...) &&
    requires(const F& f, PackFor<A>... packs) { f.computed(packs...); };

/// Functors whose operands are converted by blocks.
template <class F, class R, class... A>
concept ComputesConverted =
    vec::kHasPacks && !ComputesPacks<F, R, A...> && (c10::ReducedFloat<A> || ...) &&
    requires(const F& f, opmath_type<A>... values) { f.computed(values...); };

/// A loop over packs. Contiguous and repeated operands are used in place, others are copied to
/// blocks.
template <class F, class R, class... A, size_t... I>
void pointwise_pack_loop(const F& captured, const Rows& rows, std::index_sequence<I...>);

/// A contiguous loop by blocks in the arithmetic type.
template <class F, class R, class... A, size_t... I>
void converted_loop(const F& captured, R* out, const std::tuple<const A*...>& in, int64_t n,
                    std::index_sequence<I...> indices);

#ifdef AT_VEC_HAS_PACKS

/// Elements of a block. Nothing is written to them on construction, which would take as long as a
/// short row.
template <class T>
struct PackBuffer {
  alignas(64) T values[kBlock];

  PackBuffer() {}  // NOLINT: not `= default`, with which std::tuple would write zeros
};

/// What is known of an operand in all rows of a call.
struct PackOperand {
  char* data;
  int64_t stride;
  int64_t row_stride;
  int64_t n;
};

/// An operand to be read. Contiguous elements are used in place, a repeated one as a pack, and
/// others are copied to a buffer.
template <class T>
class PackSource {
 public:
  PackSource(const PackOperand& operand)
      : data_(operand.data),
        stride_(operand.n == 1 ? static_cast<int64_t>(sizeof(T)) : operand.stride),
        row_stride_(operand.row_stride) {}

  bool is_repeated() const { return stride_ == 0; }
  bool is_in_place() const { return is_repeated() || is_contiguous(); }

  /// Prepares for a row.
  void begin_row() {
    if (!is_repeated()) return;
    const T element = *reinterpret_cast<const T*>(data_);
    vec::store_pack(buffer_.values, vec::broadcast(static_cast<float>(element)));
  }
  void end_row() { data_ += row_stride_; }

  /// Where to read `count` elements from number `start` on, and elements up to the next whole pack.
  const T* read(int64_t start, int64_t count) {
    if (is_repeated()) return buffer_.values;
    const char* const from = data_ + start * stride_;
    if (is_contiguous() && count % vec::kPack == 0) return reinterpret_cast<const T*>(from);
    copy(from, count);
    return buffer_.values;
  }

 private:
  bool is_contiguous() const { return stride_ == static_cast<int64_t>(sizeof(T)); }

  /// Fills the buffer. Not inlined: every formula would have a copy.
  C10_NOINLINE void copy(const char* from, int64_t count) {
    T* const values = buffer_.values;
    const int64_t rest = count % vec::kPack;
    if (count == rest && is_contiguous())
      return vec::copy_part_in(values, reinterpret_cast<const T*>(from), rest);

    if (rest != 0) vec::store_pack(values + (count - rest), vec::Pack{});
    gather(values, from, stride_, sizeof(T), count);
  }

  const char* data_;
  int64_t stride_;
  int64_t row_stride_;
  PackBuffer<T> buffer_;
};

/// The operand to be written: in place if it is contiguous, or else to a buffer.
template <class T>
class PackTarget {
 public:
  PackTarget(const PackOperand& operand)
      : data_(operand.data),
        stride_(operand.n == 1 ? static_cast<int64_t>(sizeof(T)) : operand.stride),
        row_stride_(operand.row_stride) {}

  bool is_in_place() const { return stride_ == static_cast<int64_t>(sizeof(T)); }
  void end_row() { data_ += row_stride_; }

  /// Where to write `count` elements from number `start` on, and elements up to the next whole
  /// pack.
  T* write(int64_t start, int64_t count) {
    return writes_through(count) ? reinterpret_cast<T*>(data_ + start * stride_) : buffer_.values;
  }
  /// Copies what was written to the buffer.
  void finish(int64_t start, int64_t count) {
    if (!writes_through(count)) copy(data_ + start * stride_, count);
  }

 private:
  bool writes_through(int64_t count) const { return is_in_place() && count % vec::kPack == 0; }

  C10_NOINLINE void copy(char* to, int64_t count) {
    if (is_in_place() && count < vec::kPack)
      return vec::copy_part_out(reinterpret_cast<T*>(to), buffer_.values, count);
    scatter(to, stride_, buffer_.values, sizeof(T), count);
  }

  char* data_;
  int64_t stride_;
  int64_t row_stride_;
  PackBuffer<T> buffer_;
};

template <class F, class R, class... A, size_t... I>
void pointwise_pack_loop(const F& captured, const Rows& rows, std::index_sequence<I...>) {
  const auto operand = [&](size_t k) {
    return PackOperand{rows.data[k], rows.strides[k], rows.row_strides[k], rows.n};
  };
  const F op = captured;  // a copy, which stores to the output cannot change
  PackTarget<R> out(operand(0));
  std::tuple<PackSource<A>...> in(operand(I + 1)...);

  // In place, all whole packs of a row are one part, and what remains of it is another one.
  const bool in_place = out.is_in_place() && (std::get<I>(in).is_in_place() && ...);
  const int64_t n = rows.n;
  const int64_t longest = !in_place ? kBlock : n < vec::kPack ? n : n - n % vec::kPack;
  const int64_t steps[] = {(std::get<I>(in).is_repeated() ? 0 : 1)...};

  for (int64_t row = 0; row < rows.count; ++row) {
    (std::get<I>(in).begin_row(), ...);

    for (int64_t start = 0; start < n; start += longest) {
      const int64_t count = std::min(longest, n - start);
      R* const to = out.write(start, count);
      const std::tuple<const A*...> from(std::get<I>(in).read(start, count)...);
      for (int64_t i = 0; i < count; i += vec::kPack)
        vec::store_pack(to + i, op.computed(vec::load_pack(std::get<I>(from) + i * steps[I])...));
      out.finish(start, count);
    }

    (std::get<I>(in).end_row(), ...);
    out.end_row();
  }
}

template <class From, class To>
void convert_elements(const From* source, To* target, int64_t n) {
  int64_t i = 0;
  for (; i + vec::kPack <= n; i += vec::kPack)
    vec::store_pack(target + i, vec::load_pack(source + i));
  for (; i < n; ++i) target[i] = static_cast<To>(static_cast<float>(source[i]));
}

/// The elements of a block in the arithmetic type, if necessary in `memory`.
template <class T>
const opmath_type<T>* in_arithmetic_type(const T* source, opmath_type<T>* memory, int64_t n) {
  if constexpr (c10::ReducedFloat<T>) {
    convert_elements(source, memory, n);
    return memory;
  } else {
    return source;
  }
}

template <class F, class R, class... A, size_t... I>
void converted_loop(const F& captured, R* out, const std::tuple<const A*...>& in, int64_t n,
                    std::index_sequence<I...>) {
  const F op = captured;
  std::tuple<PackBuffer<opmath_type<A>>...> memory;
  alignas(64) opmath_type<R> results[kBlock];

  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    const std::tuple<const opmath_type<A>*...> operands(
        in_arithmetic_type(std::get<I>(in) + start, std::get<I>(memory).values, count)...);

    if constexpr (c10::ReducedFloat<R>) {
      for (int64_t i = 0; i < count; ++i) results[i] = op.computed(std::get<I>(operands)[i]...);
      convert_elements(results, out + start, count);
    } else {
      for (int64_t i = 0; i < count; ++i)
        out[start + i] = static_cast<R>(op.computed(std::get<I>(operands)[i]...));
    }
  }
}

#endif  // AT_VEC_HAS_PACKS

}  // namespace CPU_CAPABILITY
}  // namespace at::native
