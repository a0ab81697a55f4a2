// Adds rows to rows that positions choose. Compiled with -O3.
#include "aten/native/cpu/shared/RowSums.h"

#include <algorithm>

#include "aten/Dispatch.h"
#include "aten/vec/wrapping.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// Asks for the first cache lines of a row that is added to soon; no prefetcher can guess which.
void prefetch_row(const char* row, int64_t bytes) {
  constexpr int64_t kLine = 64;
  constexpr int64_t kMost = 512;
  for (int64_t i = 0; i < std::min(bytes, kMost); i += kLine) __builtin_prefetch(row + i, 1);
}

template <class T>
void add_rows_of(const RowSums& sums, const Scalar& alpha) {
  using opmath_t = opmath_type<T>;
  constexpr int64_t kAhead = 4;  // rows
  const auto factor = alpha.to<opmath_t>();
  const auto row_of = [&](int64_t i) {
    return sums.out + sums.position[i * sums.position_step] * sums.out_row;
  };

  for (int64_t i = 0; i < sums.rows; ++i) {
    if (i + kAhead < sums.rows)
      prefetch_row(row_of(i + kAhead), sums.width * static_cast<int64_t>(sizeof(T)));

    T* out = reinterpret_cast<T*>(row_of(i));
    const T* in = reinterpret_cast<const T*>(sums.in + i * sums.in_row);
    for (int64_t w = 0; w < sums.width; ++w) {
      const auto product = vec::wrapping_product(static_cast<opmath_t>(in[w]), factor);
      out[w] = static_cast<T>(vec::wrapping_sum(static_cast<opmath_t>(out[w]), product));
    }
  }
}

}  // namespace

void add_rows(ScalarType type, const RowSums& sums, const Scalar& alpha) {
  AT_DISPATCH_ALL_AND_BOOL(type, "index_add", [&] { add_rows_of<scalar_t>(sums, alpha); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
