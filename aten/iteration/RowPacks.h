#pragma once
// Packs of the elements of a row (Note [Packs of floats]), for the stages whose lambdas take them:
// with `auto` parameters for elements. What is added up in which order stays the same.
#include <array>
#include <type_traits>
#include <utility>

#include "aten/iteration/RowOps.h"
#include "aten/vec/math.h"
#include "aten/vec/pack.h"
#ifdef AT_VEC_HAS_PACKS
#include "aten/vec/pack_functions.h"
#endif

#ifdef AT_VEC_HAS_PACKS
namespace at::vec {
inline namespace CPU_CAPABILITY {

/// Formulas over rows of complex dtypes take the real parts of floats, too.
C10_ALWAYS_INLINE Pack real(Pack x) { return x; }

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

template <class T, size_t kCount>
using RowArray = std::array<T, kCount>;

template <class T, size_t>
using Repeated = T;

/// Whether F takes row values and packs of elements.
template <class F, class T, size_t... v, size_t... i>
constexpr bool takes_packs(std::index_sequence<v...>, std::index_sequence<i...>) {
  if constexpr (!vec::kHasPacks || !std::is_same_v<T, float>) return false;
  else return std::is_invocable_v<const F&, Repeated<T, v>..., Repeated<vec::Pack, i>...>;
}

/// What the map of a pass returns: numbers, or packs if it is given some.
template <class T, class... Values>
C10_ALWAYS_INLINE auto row_array(Values... values) {
#ifdef AT_VEC_HAS_PACKS
  if constexpr ((std::is_same_v<Values, vec::Pack> || ...))
    return RowArray<vec::Pack, sizeof...(Values)>{vec::as_pack(values)...};
  else
#endif
    return RowArray<T, sizeof...(Values)>{static_cast<T>(values)...};
}

#ifdef AT_VEC_HAS_PACKS

/// Reduces whole blocks of kCount elements into `lanes`, maps the elements behind them to `rest`
/// and returns their number.
template <class Pass, int64_t kCount, size_t kValues, size_t kInputs, size_t... v, size_t... i,
          size_t... k>
C10_ALWAYS_INLINE int64_t reduce_packs(const Pass& pass, const RowArray<float, kValues>& values,
                                       const RowArray<const float*, kInputs>& in,
                                       const RowArray<float*, Pass::kKept>& kept, int64_t begin,
                                       int64_t n, float (&lanes)[Pass::kValues][kCount],
                                       float (&rest)[Pass::kValues][kCount],
                                       std::index_sequence<v...>, std::index_sequence<i...>,
                                       std::index_sequence<k...>) {
  constexpr int64_t kPacks = kCount / vec::kPack;
  static_assert(kPacks * vec::kPack == kCount);
  const auto mapped = [&](int64_t at) __attribute__((always_inline)) {
    const auto found = pass.map(values[v]..., vec::load_pack(in[i] + at)...);
    for (size_t c = 0; c < Pass::kKept; ++c)
      vec::store_pack(kept[c] + at, found[Pass::kValues + c]);
    return found;
  };

  vec::Pack totals[Pass::kValues][kPacks];
  for (int64_t p = 0; p < kPacks; ++p)
    ((totals[k][p] = vec::load_pack(lanes[k] + p * vec::kPack)), ...);
  int64_t at = begin;
  const int64_t end = begin + n;
  for (; at + kCount <= end; at += kCount) {
#pragma GCC unroll 4
    for (int64_t p = 0; p < kPacks; ++p) {
      const auto found = mapped(at + p * vec::kPack);
      ((totals[k][p] = Pass::template Op<k>::combine(totals[k][p], found[k])), ...);
    }
  }
  for (int64_t p = 0; p < kPacks; ++p)
    (vec::store_pack(lanes[k] + p * vec::kPack, totals[k][p]), ...);

  const int64_t left = end - at;
  int64_t j = 0;
  for (; j + vec::kPack <= left; j += vec::kPack) {
    const auto found = mapped(at + j);
    (vec::store_pack(rest[k] + j, found[k]), ...);
  }
  if (j == left) return left;

  // A last pack, of which memory has a part.
  alignas(64) float part[kInputs][vec::kPack];
  (vec::copy_part_in(part[i], in[i] + at + j, left - j), ...);
  const auto found = pass.map(values[v]..., vec::load_pack(part[i])...);
  (vec::store_pack(rest[k] + j, found[k]), ...);
  for (size_t c = 0; c < Pass::kKept; ++c) {
    alignas(64) float last[vec::kPack];
    vec::store_pack(last, found[Pass::kValues + c]);
    std::copy_n(last, left - j, kept[c] + at + j);
  }
  return left;
}

/// out[at] = finish(values, elements), for n elements of a row.
template <class Finish, size_t kValues, size_t kInputs, size_t... v, size_t... i>
C10_ALWAYS_INLINE void finish_packs(const Finish& finish, const RowArray<float, kValues>& values,
                                    const RowArray<const float*, kInputs>& in, float* out,
                                    int64_t n, std::index_sequence<v...>,
                                    std::index_sequence<i...>) {
  int64_t at = 0;
  for (; at + vec::kPack <= n; at += vec::kPack)
    vec::store_pack(out + at, vec::as_pack(finish(values[v]..., vec::load_pack(in[i] + at)...)));
  if (at == n) return;

  alignas(64) float part[kInputs][vec::kPack];
  alignas(64) float last[vec::kPack];
  (vec::copy_part_in(part[i], in[i] + at, n - at), ...);
  vec::store_pack(last, vec::as_pack(finish(values[v]..., vec::load_pack(part[i])...)));
  std::copy_n(last, n - at, out + at);
}

#endif

}  // namespace CPU_CAPABILITY
}  // namespace at::native
