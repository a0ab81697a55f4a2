#pragma once
// Loops of functors that leave the conversion of elements to the loop.
#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "aten/iteration/Gather.h"
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

/// One inner loop over packs. Contiguous and repeated operands are used in place, others are copied
/// to blocks.
template <class F, class R, class... A, size_t... I>
void pointwise_pack_loop(const F& op, char* const* data, const int64_t* strides, int64_t n,
                         std::index_sequence<I...> indices);

/// A contiguous loop by blocks in the arithmetic type.
template <class F, class R, class... A, size_t... I>
void converted_loop(const F& captured, R* out, const std::tuple<const A*...>& in, int64_t n,
                    std::index_sequence<I...> indices);

#ifdef AT_VEC_HAS_PACKS

/// Where an operand is read, and by how many elements it advances: 0 or 1.
template <class T>
struct Source {
  const T* data;
  int64_t step;

  Source at(int64_t i) const { return {data + i * step, step}; }
};

/// Computes n elements, a multiple of a pack. Not inlined: the formula is compiled once. Operands
/// are passed in registers: for short rows, it would take longer to read them from memory that was
/// just written.
template <class F, class R, class... A>
C10_NOINLINE void whole_packs(const F& captured, R* out, int64_t n, Source<A>... in) {
  const F op = captured;  // a copy, which stores to `out` cannot change
  for (int64_t i = 0; i < n; i += vec::kPack)
    vec::store_pack(out + i, op.computed(vec::load_pack(in.data + i * in.step)...));
}

/// The elements of one pack.
template <class T>
struct alignas(64) PackBuffer {
  T values[vec::kPack];
};

/// The same for any n. What remains after whole packs is computed in buffers of one pack.
template <class F, class R, class... A, size_t... I>
void pack_loop(const F& op, R* out, int64_t n, std::index_sequence<I...>, Source<A>... in) {
  const int64_t rest = n % vec::kPack;
  const int64_t whole = n - rest;
  if (whole > 0) whole_packs<F, R, A...>(op, out, whole, in...);
  if (rest == 0) return;

  PackBuffer<R> result;
  std::tuple<PackBuffer<A>...> operands;
  (vec::copy_part_in(std::get<I>(operands).values, in.at(whole).data, rest), ...);

  whole_packs<F, R, A...>(op, result.values, vec::kPack,
                          Source<A>{std::get<I>(operands).values, 1}...);
  vec::copy_part_out(out + whole, result.values, rest);
}

template <class F, class R, class... A, size_t... I>
void pointwise_pack_loop(const F& op, char* const* data, const int64_t* strides, int64_t n,
                         std::index_sequence<I...> indices) {
  std::tuple<PackBuffer<A>...> repeated;
  [[maybe_unused]] auto prepare = [&](auto position, auto* typed) {
    constexpr size_t k = decltype(position)::value;
    using T = std::remove_pointer_t<decltype(typed)>;
    const auto* const from = reinterpret_cast<const T*>(data[k + 1]);
    if (strides[k + 1] != 0 || n == 1) return Source<T>{from, 1};

    // One store, which the loads of the loop need not wait for.
    T* const values = std::get<k>(repeated).values;
    vec::store_pack(values, vec::broadcast(static_cast<float>(*from)));
    return Source<T>{values, 0};
  };
  const std::tuple<Source<A>...> in(
      prepare(std::integral_constant<size_t, I>(), static_cast<A*>(nullptr))...);

  const bool in_place[] = {
      (strides[I + 1] == 0 || n == 1 || strides[I + 1] == static_cast<int64_t>(sizeof(A)))...};
  const bool out_in_place = strides[0] == static_cast<int64_t>(sizeof(R)) || n == 1;
  if (out_in_place && (in_place[I] && ...))
    return pack_loop<F, R, A...>(op, reinterpret_cast<R*>(data[0]), n, indices, std::get<I>(in)...);

  alignas(64) R out_block[kBlock];
  std::tuple<std::array<A, kBlock>...> blocks;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);

    [[maybe_unused]] auto source = [&](auto position, auto* typed) {
      constexpr size_t k = decltype(position)::value;
      using T = std::remove_pointer_t<decltype(typed)>;
      if (in_place[k]) return std::get<k>(in).at(start);
      T* const block = std::get<k>(blocks).data();
      gather(block, data[k + 1] + start * strides[k + 1], strides[k + 1], sizeof(T), count);
      return Source<T>{block, 1};
    };

    char* target = data[0] + start * strides[0];
    R* out = out_in_place ? reinterpret_cast<R*>(target) : out_block;
    pack_loop<F, R, A...>(op, out, count, indices,
                          source(std::integral_constant<size_t, I>(), static_cast<A*>(nullptr))...);
    if (!out_in_place) scatter(target, strides[0], out_block, sizeof(R), count);
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
  std::tuple<std::array<opmath_type<A>, kBlock>...> memory;
  alignas(64) opmath_type<R> results[kBlock];

  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    const std::tuple<const opmath_type<A>*...> operands(
        in_arithmetic_type(std::get<I>(in) + start, std::get<I>(memory).data(), count)...);

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
