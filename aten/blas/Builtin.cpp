// Our own products: threads and strided vectors around the kernels.
#include "aten/blas/Builtin.h"

#include <algorithm>
#include <memory>
#include <type_traits>

#include "aten/blas/Runtime.h"
#include "aten/blas/tile/Epilogue.h"
#include "aten/blas/tile/Kernels.h"

namespace at::blas {

// The tables of tile/*.isa.cpp; null where the build does not have the instruction set.
namespace tile {
namespace DEFAULT {
extern const GemmTable kGemmTable;
extern const VectorTable kVectorTable;
}  // namespace DEFAULT
namespace AVX2 {
[[gnu::weak]] extern const GemmTable kGemmTable;
[[gnu::weak]] extern const VectorTable kVectorTable;
}  // namespace AVX2
namespace AVX512 {
[[gnu::weak]] extern const GemmTable kGemmTable;
[[gnu::weak]] extern const VectorTable kVectorTable;
}  // namespace AVX512

const GemmTable& gemm_table() {
  const int capability = runtime().capability;
  if (capability >= 2 && &AVX512::kGemmTable != nullptr) return AVX512::kGemmTable;
  if (capability >= 1 && &AVX2::kGemmTable != nullptr) return AVX2::kGemmTable;
  return DEFAULT::kGemmTable;
}

const VectorTable& vector_table() {
  const int capability = runtime().capability;
  if (capability >= 2 && &AVX512::kVectorTable != nullptr) return AVX512::kVectorTable;
  if (capability >= 1 && &AVX2::kVectorTable != nullptr) return AVX2::kVectorTable;
  return DEFAULT::kVectorTable;
}

void* scratch(size_t bytes) {
  static thread_local std::unique_ptr<Buffer<char>> buffer;
  static thread_local size_t available = 0;
  if (bytes > available) {
    buffer.reset();  // first, so that there are not two
    available = 0;
    buffer = std::make_unique<Buffer<char>>(static_cast<int64_t>(bytes));
    available = bytes;
  }
  return buffer->data();
}

}  // namespace tile

namespace builtin {

namespace {

using tile::Operand;
using tile::Product;

/// The type that a kernel takes for T: the unsigned one for integers.
template <class T>
struct KernelType {
  using type = T;
};
template <class T>
  requires std::is_integral_v<T>
struct KernelType<T> {
  using type = std::make_unsigned_t<T>;
};

/// The kernel for lanes, rows and results of these types.
template <class Lane, class Row, class Result>
tile::GemmKernel<Lane, Row, Result> gemm_kernel() {
  const tile::GemmTable& table = tile::gemm_table();
  const auto better = [](auto* special, auto* general, bool usable) {
    return usable && special != nullptr ? special : general;
  };
  const bool pairs = runtime().multiplies_bfloat16;
  const bool quads = runtime().multiplies_bytes;

  if constexpr (std::is_same_v<Lane, int8_t>) {
    if constexpr (std::is_same_v<Row, uint8_t>)
      return better(table.i8_u8_quads, table.i8_u8, quads);
    else if constexpr (std::is_same_v<Row, int8_t>)
      return better(table.i8_i8_quads, table.i8_i8, quads);
    else if constexpr (std::is_same_v<Row, float>) return table.i8_f32;
    else if constexpr (std::is_same_v<Row, c10::BFloat16>) return table.i8_bf16;
    else return table.i8_f16;
  } else if constexpr (std::is_same_v<Lane, float>) return table.f32;
  else if constexpr (std::is_same_v<Lane, double>) return table.f64;
  else if constexpr (std::is_same_v<Lane, c10::complex<float>>) return table.c64;
  else if constexpr (std::is_same_v<Lane, c10::complex<double>>) return table.c128;
  else if constexpr (std::is_same_v<Lane, c10::BFloat16>)
    return better(table.bf16_pairs, table.bf16, pairs);
  else if constexpr (std::is_same_v<Lane, c10::Half>) return table.f16;
  else if constexpr (sizeof(Lane) == 1) return better(table.u8_quads, table.u8, quads);
  else if constexpr (sizeof(Lane) == 2) return table.u16;
  else if constexpr (sizeof(Lane) == 4) return table.u32;
  else return table.u64;
}

template <class T>
tile::DotsKernel<T> dots_kernel() {
  if constexpr (std::is_same_v<T, float>) return tile::vector_table().dots_f32;
  else return tile::vector_table().dots_f64;
}

template <class T>
auto dot_kernel() {
  const tile::VectorTable& table = tile::vector_table();
  if constexpr (std::is_same_v<T, float>) return table.dot_f32;
  else if constexpr (std::is_same_v<T, double>) return table.dot_f64;
  else if constexpr (std::is_same_v<T, c10::BFloat16>) return table.dot_bf16;
  else if constexpr (std::is_same_v<T, c10::Half>) return table.dot_f16;
  else if constexpr (sizeof(T) == 1) return table.dot_u8;
  else if constexpr (sizeof(T) == 2) return table.dot_u16;
  else if constexpr (sizeof(T) == 4) return table.dot_u32;
  else return table.dot_u64;
}

// The least work for a thread, worth about 50 µs.
constexpr int64_t kMinimumWork = int64_t{1} << 20;

/// The number of parts that rows and columns are cut into.
struct Grid {
  int64_t rows, columns;
};

/// Chooses parts that are as square as possible and not too small.
Grid choose_grid(int64_t m, int64_t n, int64_t k) {
  const int64_t work = m * n * std::max<int64_t>(k, 1);
  const int64_t parts = std::clamp<int64_t>(work / kMinimumWork, 1, runtime().threads());

  Grid best{1, 1};
  double best_border = 1e300;
  for (int64_t rows = 1; rows <= parts; ++rows) {
    if (parts % rows != 0) continue;
    const int64_t columns = parts / rows;
    const double border = static_cast<double>(m) / static_cast<double>(rows) +
                          static_cast<double>(n) / static_cast<double>(columns);
    if (rows <= std::max<int64_t>(1, m / 16) && columns <= std::max<int64_t>(1, n / 4) &&
        border < best_border) {
      best = {rows, columns};
      best_border = border;
    }
  }

  return best;
}

/// Rows [i0, i1) and lanes [l0, l1) of a product.
template <class Lane, class Row, class Result>
void multiply_part(tile::GemmKernel<Lane, Row, Result> kernel, Product<Lane, Row, Result> part,
                   int64_t i0, int64_t i1, int64_t l0, int64_t l1) {
  part.rows = i1 - i0;
  part.lanes = l1 - l0;
  part.row.data = part.row.at(i0, 0);
  part.lane.data = part.lane.at(l0, 0);
  part.c += i0 * part.ldc + l0;

  Epilogue<Result> epilogue;
  if (part.epilogue != nullptr) {
    epilogue = *part.epilogue;
    if (epilogue.scale != nullptr) epilogue.scale += l0;
    if (epilogue.added != nullptr)
      epilogue.added += i0 * epilogue.column_step + l0 * epilogue.row_step;
    part.epilogue = &epilogue;
  }
  kernel(part);
}

// Shorter sums take less time than adding up the lanes of a register.
constexpr int64_t kLongDots = 64;

template <class T>
bool lies_along_depth(const Operand<T>& operand) {
  return operand.depth_step == 1 && operand.step != 1;
}

template <class T>
int64_t most_few() {
  const tile::VectorTable& table = tile::vector_table();
  return std::is_same_v<T, float> ? table.few_f32 : table.few_f64;
}

/// Whether a product consists of a few vectors times many that lie along the depth, which takes
/// less time than packing the many. It depends on the whole product, so that the bits do not depend
/// on its parts.
template <class T>
struct FewVectors {
  explicit FewVectors(const Product<T>& x) {
    const int64_t most = most_few<T>();
    if (x.depth < kLongDots) return;

    are_rows = x.rows <= most && lies_along_depth(x.lane);
    are_lanes = !are_rows && x.lanes <= most / 2 && lies_along_depth(x.row);
  }

  explicit operator bool() const { return are_rows || are_lanes; }

  bool are_rows = false;
  bool are_lanes = false;
};

/// The many vectors are shared by threads.
template <class T>
void multiply_few(const Product<T>& x) {
  const bool few_rows = FewVectors(x).are_rows;
  const Operand<T>& few = few_rows ? x.row : x.lane;
  const Operand<T>& many = few_rows ? x.lane : x.row;
  const int64_t count = few_rows ? x.rows : x.lanes;

  const bool copies = !lies_along_depth(few);
  Buffer<T> copy(copies ? count * x.depth : 1);
  for (int64_t i = 0; copies && i < count; ++i) {
    for (int64_t p = 0; p < x.depth; ++p) copy[i * x.depth + p] = *few.at(i, p);
  }

  const int64_t grain = std::max<int64_t>(16, kMinimumWork / std::max<int64_t>(1, count * x.depth));
  const auto part = [&](int64_t begin, int64_t end) {
    tile::Dots<T> dots;
    dots.depth = x.depth;
    dots.few = count;
    dots.many = end - begin;
    dots.few_data = copies ? copy.data() : few.data;
    dots.few_step = copies ? x.depth : few.step;
    dots.many_data = many.at(begin, 0);
    dots.many_step = many.step;
    dots.alpha = x.alpha;
    dots.beta = x.beta;
    dots.c_few_step = few_rows ? x.ldc : 1;
    dots.c_many_step = few_rows ? 1 : x.ldc;
    dots.c = x.c + begin * dots.c_many_step;
    dots_kernel<T>()(dots);

    if (x.epilogue == nullptr) return;
    const tile::CPU_CAPABILITY::Part changed =
        few_rows ? tile::CPU_CAPABILITY::Part{0, x.rows, begin, end - begin}
                 : tile::CPU_CAPABILITY::Part{begin, end - begin, 0, x.lanes};
    tile::CPU_CAPABILITY::apply_epilogue(*x.epilogue, 0, changed, dots.c, x.ldc);
  };
  parallel_for(0, few_rows ? x.lanes : x.rows, grain, part);
}

/// C is cut into a grid of parts, each computed by one thread.
template <class Lane, class Row, class Result>
void multiply(const Product<Lane, Row, Result>& product) {
  if constexpr (std::is_same_v<Lane, float> || std::is_same_v<Lane, double>) {
    if (FewVectors(product)) return multiply_few(product);
  }

  const tile::GemmKernel<Lane, Row, Result> kernel = gemm_kernel<Lane, Row, Result>();
  const double work = static_cast<double>(product.rows) * static_cast<double>(product.lanes) *
                      static_cast<double>(product.depth);
  if (work < 2 * kMinimumWork || runtime().threads() == 1) return kernel(product);

  const Grid grid = choose_grid(product.lanes, product.rows, product.depth);
  parallel_for(0, grid.rows * grid.columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t row = part / grid.rows;
      const int64_t lane = part % grid.rows;
      multiply_part(kernel, product, product.rows * row / grid.columns,
                    product.rows * (row + 1) / grid.columns, product.lanes * lane / grid.rows,
                    product.lanes * (lane + 1) / grid.rows);
    }
  });
}

/// Matrices [begin, end) of a batch.
template <class T>
Product<T> part_of_batch(const Product<T>& product, Epilogue<T>& epilogue, int64_t begin,
                         int64_t end) {
  Product<T> part = product;
  part.batch = end - begin;
  part.row.data += begin * part.row_batch_step;
  part.lane.data += begin * part.lane_batch_step;
  part.c += begin * part.c_batch_step;

  if (part.epilogue != nullptr) {
    epilogue = *part.epilogue;
    if (epilogue.added != nullptr) epilogue.added += begin * epilogue.batch_step;
    part.epilogue = &epilogue;
  }
  return part;
}

/// With enough matrices, each has one thread. Otherwise each product uses the threads itself.
template <class T>
void multiply_batch(const Product<T>& product) {
  const auto one_by_one = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Epilogue<T> epilogue;
      multiply(part_of_batch(product, epilogue, i, i + 1));
    }
  };
  if (product.batch < runtime().threads()) return one_by_one(0, product.batch);

  const int64_t work = product.rows * product.lanes * product.depth;
  const int64_t grain = std::max<int64_t>(1, kMinimumWork / 4 / std::max<int64_t>(1, work));
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (FewVectors(product)) return parallel_for(0, product.batch, grain, one_by_one);
  }

  parallel_for(0, product.batch, grain, [&](int64_t begin, int64_t end) {
    Epilogue<T> epilogue;
    gemm_kernel<T, T, T>()(part_of_batch(product, epilogue, begin, end));
  });
}

/// See Note [Lanes and rows].
template <class Lane, class Row, class Result>
Product<Lane, Row, Result> product_of(Transpose transpose_a, Transpose transpose_b, int64_t m,
                                      int64_t n, int64_t k, Scale<Result> alpha, const Lane* a,
                                      int64_t lda, const Row* b, int64_t ldb, Scale<Result> beta,
                                      Result* c, int64_t ldc) {
  const bool ta = transpose_a != Transpose::None;
  const bool tb = transpose_b != Transpose::None;

  Product<Lane, Row, Result> product;
  product.rows = n;
  product.lanes = m;
  product.depth = alpha == Scale<Result>(0) ? 0 : k;  // then A and B are not read
  product.row = {b, tb ? 1 : ldb, tb ? ldb : 1, transpose_b == Transpose::Conjugate};
  product.lane = {a, ta ? lda : 1, ta ? 1 : lda, transpose_a == Transpose::Conjugate};
  product.alpha = alpha;
  product.beta = beta;
  product.c = c;
  product.ldc = ldc;
  return product;
}

/// The product in the types of kernels.
template <class T, class K = typename KernelType<T>::type>
Product<K> kernel_product(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n,
                          int64_t k, Scale<T> alpha, const T* a, int64_t lda, const T* b,
                          int64_t ldb, Scale<T> beta, T* c, int64_t ldc,
                          const Epilogue<T>* epilogue) {
  auto product = product_of(transpose_a, transpose_b, m, n, k, static_cast<Scale<K>>(alpha),
                            reinterpret_cast<const K*>(a), lda, reinterpret_cast<const K*>(b), ldb,
                            static_cast<Scale<K>>(beta), reinterpret_cast<K*>(c), ldc);
  product.epilogue = reinterpret_cast<const Epilogue<K>*>(epilogue);
  return product;
}

/// Matrix times vector for float and double. Strided vectors are copied; threads share the rows or
/// columns that make up y.
template <class T>
void gemv_real(tile::GemvKernel<T> kernel, bool transpose, int64_t m, int64_t n, T alpha,
               const T* a, int64_t lda, const T* x, int64_t incx, T beta, T* y, int64_t incy) {
  const int64_t length_x = transpose ? m : n;
  const int64_t length_y = transpose ? n : m;
  Buffer<T> copy_x(incx == 1 ? 1 : length_x);
  Buffer<T> copy_y(incy == 1 ? 1 : length_y);
  if (incx != 1) {
    for (int64_t i = 0; i < length_x; ++i) copy_x[i] = x[i * incx];
    x = copy_x.data();
  }
  T* const out = incy == 1 ? y : copy_y.data();

  const int64_t grain = std::max<int64_t>(16, (kMinimumWork / 8) / std::max<int64_t>(1, length_x));
  parallel_for(0, length_y, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = beta == T(0) ? T(0) : beta * y[i * incy];
    if (transpose) kernel(true, m, end - begin, alpha, a + begin * lda, lda, x, out + begin);
    else kernel(false, end - begin, n, alpha, a + begin, lda, x, out + begin);
  });

  if (incy != 1) {
    for (int64_t i = 0; i < length_y; ++i) y[i * incy] = out[i];
  }
}

}  // namespace

template <class T>
bool are_few(int64_t rows, int64_t depth, bool lanes_along_depth) {
  return lanes_along_depth && rows <= most_few<T>() && depth >= kLongDots;
}
template bool are_few<float>(int64_t, int64_t, bool);
template bool are_few<double>(int64_t, int64_t, bool);

template <class T>
void gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
          Scale<T> alpha, const T* a, int64_t lda, const T* b, int64_t ldb, Scale<T> beta, T* c,
          int64_t ldc, const Epilogue<T>* epilogue) {
  multiply(kernel_product(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                          epilogue));
}

template <class T>
void gemm_batched_strided(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n,
                          int64_t k, Scale<T> alpha, const T* a, int64_t lda, int64_t stride_a,
                          const T* b, int64_t ldb, int64_t stride_b, Scale<T> beta, T* c,
                          int64_t ldc, int64_t stride_c, int64_t batch,
                          const Epilogue<T>* epilogue) {
  auto product = kernel_product(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                                ldc, epilogue);
  product.batch = batch;
  product.lane_batch_step = stride_a;
  product.row_batch_step = stride_b;
  product.c_batch_step = stride_c;
  multiply_batch(product);
}

template <class T>
void gemm_on_one_thread(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n,
                        int64_t k, Scale<T> alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
                        Scale<T> beta, T* c, int64_t ldc) {
  using K = typename KernelType<T>::type;
  gemm_kernel<K, K, K>()(kernel_product<T>(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb,
                                           beta, c, ldc, nullptr));
}

template <class B>
void gemm_int8(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
               const int8_t* a, int64_t lda, const B* b, int64_t ldb, int32_t* c, int64_t ldc) {
  multiply(product_of(transpose_a, transpose_b, m, n, k, uint32_t{1}, a, lda, b, ldb, uint32_t{0},
                      reinterpret_cast<uint32_t*>(c), ldc));
}

template <class T>
void gemm_int8_weight(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
                      const int8_t* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc,
                      const T* scale) {
  const Epilogue<T> epilogue{.scale = scale};
  auto product = product_of(transpose_a, transpose_b, m, n, k, 1.0f, a, lda, b, ldb, 0.0f, c, ldc);
  product.epilogue = &epilogue;
  multiply(product);
}

template <class T>
void gemv(Transpose transpose, int64_t m, int64_t n, Scale<T> alpha, const T* a, int64_t lda,
          const T* x, int64_t incx, Scale<T> beta, T* y, int64_t incy) {
  if constexpr (std::is_same_v<T, float>) {
    gemv_real(tile::vector_table().gemv_f32, transpose != Transpose::None, m, n, alpha, a, lda, x,
              incx, beta, y, incy);
  } else if constexpr (std::is_same_v<T, double>) {
    gemv_real(tile::vector_table().gemv_f64, transpose != Transpose::None, m, n, alpha, a, lda, x,
              incx, beta, y, incy);
  } else {
    const int64_t k = transpose == Transpose::None ? n : m;
    const int64_t length = transpose == Transpose::None ? m : n;
    // x is a k x 1 matrix that is stored transposed, with column stride incx. y has no such form,
    // so a strided y is copied.
    Buffer<T> copy(incy == 1 ? 1 : length);
    T* const out = incy == 1 ? y : copy.data();
    for (int64_t i = 0; incy != 1 && i < length; ++i) out[i] = y[i * incy];
    builtin::gemm<T>(transpose, Transpose::Transpose, length, 1, k, alpha, a, lda, x, incx, beta,
                     out, length);
    for (int64_t i = 0; incy != 1 && i < length; ++i) y[i * incy] = out[i];
  }
}

template <class T>
T dot(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy, bool conjugate) {
  if constexpr (c10::is_complex_v<T>) {
    T sum(0);
    for (int64_t i = 0; i < n; ++i)
      sum += (conjugate ? conj(x[i * incx]) : x[i * incx]) * y[i * incy];
    return sum;
  } else {
    using K = typename KernelType<T>::type;
    return static_cast<T>(dot_kernel<K>()(n, reinterpret_cast<const K*>(x), incx,
                                          reinterpret_cast<const K*>(y), incy));
  }
}

#define INSTANTIATE(T)                                                                           \
  template void gemm<T>(Transpose, Transpose, int64_t, int64_t, int64_t, Scale<T>, const T*,     \
                        int64_t, const T*, int64_t, Scale<T>, T*, int64_t, const Epilogue<T>*);  \
  template void gemm_batched_strided<T>(                                                         \
      Transpose, Transpose, int64_t, int64_t, int64_t, Scale<T>, const T*, int64_t, int64_t,     \
      const T*, int64_t, int64_t, Scale<T>, T*, int64_t, int64_t, int64_t, const Epilogue<T>*);  \
  template void gemm_on_one_thread<T>(Transpose, Transpose, int64_t, int64_t, int64_t, Scale<T>, \
                                      const T*, int64_t, const T*, int64_t, Scale<T>, T*,        \
                                      int64_t);                                                  \
  template void gemv<T>(Transpose, int64_t, int64_t, Scale<T>, const T*, int64_t, const T*,      \
                        int64_t, Scale<T>, T*, int64_t);                                         \
  template T dot<T>(int64_t, const T*, int64_t, const T*, int64_t, bool);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(c10::complex<float>)
INSTANTIATE(c10::complex<double>)
INSTANTIATE(c10::BFloat16)
INSTANTIATE(c10::Half)
INSTANTIATE(uint8_t)
INSTANTIATE(int8_t)
INSTANTIATE(int16_t)
INSTANTIATE(int32_t)
INSTANTIATE(int64_t)
#undef INSTANTIATE

#define INSTANTIATE(T)                                                                       \
  template void gemm_int8<T>(Transpose, Transpose, int64_t, int64_t, int64_t, const int8_t*, \
                             int64_t, const T*, int64_t, int32_t*, int64_t);
INSTANTIATE(uint8_t)
INSTANTIATE(int8_t)
#undef INSTANTIATE

#define INSTANTIATE(T)                                                                      \
  template void gemm_int8_weight<T>(Transpose, Transpose, int64_t, int64_t, int64_t,        \
                                    const int8_t*, int64_t, const T*, int64_t, T*, int64_t, \
                                    const T*);
INSTANTIATE(float)
INSTANTIATE(c10::BFloat16)
INSTANTIATE(c10::Half)
#undef INSTANTIATE

}  // namespace builtin
}  // namespace at::blas
