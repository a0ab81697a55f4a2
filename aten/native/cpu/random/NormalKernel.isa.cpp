// The kernel of normal_, by the method of Box and Muller (1958): a pair of uniform numbers gives
// the radius and the angle of a pair of normal ones. See Note [Random numbers] in RandomDraws.h.
#include <cmath>
#include <mutex>
#include <numbers>

#include "aten/Dispatch.h"
#include "aten/iteration/Loops.h"
#include "aten/native/cpu/shared/RandomDraws.h"
#include "aten/native/declarations/cpu/random/NormalKernel.isa.h"
#include "aten/parallel/Parallel.h"
#include "aten/vec/math.h"
#include "c10/core/Generator.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

using vec::multiply_add;

// Note [Logarithm and angle of normal numbers]
// For a seed, float32 normals are the same numbers as PyTorch's to the last bit. They are therefore
// computed in fused arithmetic from the single precision polynomials of S. Moshier's Cephes library
// (logf, sinf, cosf). The functions of at::vec are more accurate and would give other numbers.

/// log(x) for x in (0, 1].
C10_ALWAYS_INLINE float cephes_log(float x) {
  // x = f 2^exponent, with f brought to [sqrt(1/2), sqrt(2)) and reduced by 1.
  const uint32_t bits = vec::bits_of(x);
  float exponent = static_cast<float>(static_cast<int32_t>(bits >> 23) - 126);
  float f = vec::from_bits((bits & 0x007fffffu) | 0x3f000000u);  // in [0.5, 1)
  const bool below = f < 0.707106781186547524f;
  exponent -= below ? 1.0f : 0.0f;
  f = (f - 1.0f) + (below ? f : 0.0f);

  // log(1 + f) = f - f^2 / 2 + f^3 p(f)
  const float square = f * f;
  const float p = vec::polynomial(f, 3.3333331174e-1f, -2.4999993993e-1f, 2.0000714765e-1f,
                                  -1.6668057665e-1f, 1.4249322787e-1f, -1.2420140846e-1f,
                                  1.1676998740e-1f, -1.1514610310e-1f, 7.0376836292e-2f);

  // Plus exponent log(2), with log(2) in two parts: 0.693359375 - 2.12194440e-4.
  float tail = multiply_add(p * f, square, exponent * -2.12194440e-4f);
  tail = multiply_add(square, -0.5f, tail);
  return multiply_add(exponent, 0.693359375f, f + tail);
}

struct SineCosine {
  float sine;
  float cosine;
};

/// For angles in [0, 2 pi).
C10_ALWAYS_INLINE SineCosine cephes_sine_cosine(float angle) {
  // The angle minus a multiple of pi / 2, with pi / 4 in three parts for an exact difference.
  const int32_t octant = (static_cast<int32_t>(angle * 1.27323954473516f) + 1) & ~1;
  const float y = static_cast<float>(octant);
  float x = multiply_add(y, -0.78515625f, angle);
  x = multiply_add(y, -2.4187564849853515625e-4f, x);
  x = multiply_add(y, -3.77489497744594108e-8f, x);

  // The even polynomial is the cosine of x, the odd one its sine.
  const float square = x * x;
  const float even_tail = vec::polynomial(square, 4.166664568298827e-2f, -1.388731625493765e-3f,
                                          2.443315711809948e-5f) *
                          square;
  const float even = multiply_add(even_tail, square, -0.5f * square) + 1.0f;

  float odd =
      vec::polynomial(square, -1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f) * square;
  odd = multiply_add(odd, x, x);

  // The octant decides whether sine and cosine are swapped, and their signs.
  const bool swap = (octant & 2) != 0;
  const float sine = swap ? even : odd;
  const float cosine = swap ? odd : even;
  return {(octant & 4) != 0 ? -sine : sine, ((octant + 2) & 4) != 0 ? -cosine : cosine};
}

constexpr int64_t kBlock = 16;

/// Turns 16 uniform numbers into 16 normal ones: the first eight give the radii, the others the
/// angles.
void transform_block(float* data, float mean, float std) {
  for (int64_t j = 0; j < kBlock / 2; ++j) {
    const float radius = vec::sqrt(-2.0f * cephes_log(1.0f - data[j]));
    const SineCosine angle = cephes_sine_cosine(6.28318530717958647692f * data[j + kBlock / 2]);
    data[j] = multiply_add(radius * angle.cosine, std, mean);
    data[j + kBlock / 2] = multiply_add(radius * angle.sine, std, mean);
  }
}

void transform_block(double* data, double mean, double std) {
  for (int64_t j = 0; j < kBlock / 2; ++j) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - data[j]));
    const double angle = 2.0 * std::numbers::pi * data[j + kBlock / 2];
    data[j] = multiply_add(radius * std::cos(angle), std, mean);
    data[j + kBlock / 2] = multiply_add(radius * std::sin(angle), std, mean);
  }
}

/// Fills n >= 16 contiguous elements. If n is not a multiple of 16, a last block is drawn anew for
/// the last 16 elements, which overwrites part of the block before.
template <typename T>
void fill_contiguous(T* data, int64_t n, T mean, T std, Generator& generator) {
  draw_uniform(generator, data, n);
  parallel_for(0, n / kBlock, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block)
      transform_block(data + block * kBlock, mean, std);
  });

  if (n % kBlock == 0) return;
  draw_uniform(generator, data + n - kBlock, kBlock);
  transform_block(data + n - kBlock, mean, std);
}

/// float16 and bfloat16: the same in float, rounded at the end. Numbers are drawn block by block.
template <typename T>
  requires c10::is_reduced_floating_point_v<T>
void fill_contiguous(T* data, int64_t n, float mean, float std, Generator& generator) {
  auto fill_block = [&](T* target) {
    float block[kBlock];
    draw_uniform(generator, block, kBlock);
    transform_block(block, mean, std);
    for (int64_t j = 0; j < kBlock; ++j) target[j] = static_cast<T>(block[j]);
  };

  for (int64_t start = 0; start + kBlock <= n; start += kBlock) fill_block(data + start);
  if (n % kBlock != 0) fill_block(data + n - kBlock);
}

/// Draws one number in double. The second of each pair is kept for the next call.
double draw_normal(Generator& generator) {
  if (generator.next_normal.has_value()) {
    const double value = *generator.next_normal;
    generator.next_normal.reset();
    return value;
  }

  double first;
  double second;
  draw_uniform(generator, &first, 1);
  draw_uniform(generator, &second, 1);

  const double radius = std::sqrt(-2.0 * std::log1p(-second));
  const double angle = 2.0 * std::numbers::pi * first;
  generator.next_normal = radius * std::sin(angle);
  return radius * std::cos(angle);
}

template <typename T>
void fill_normal(const Tensor& self, double mean, double std, Generator& generator) {
  using opmath_t = opmath_type<T>;

  if (self.numel() >= kBlock && self.is_contiguous()) {
    return fill_contiguous(self.data_ptr<T>(), self.numel(), static_cast<opmath_t>(mean),
                           static_cast<opmath_t>(std), generator);
  }
  if (self.numel() == 0) return;

  const TensorIterator iter = TensorIterator::over("normal_", {&self});
  cpu_serial_kernel(iter, [&generator, mean, std]() -> T {
    return convert<T>(draw_normal(generator) * std + mean);
  });
}

}  // namespace

void normal_kernel(const Tensor& self, double mean, double std, Generator* generator) {
  TORCH_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);

  // The real and the imaginary part each have half the variance.
  if (self.is_complex())
    return normal_kernel(as_real(self), mean, std / std::numbers::sqrt2, generator);

  Generator& source = generator_or_default(generator);
  const std::lock_guard<std::mutex> lock(source.mutex);
  AT_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "normal_",
                                   [&] { fill_normal<scalar_t>(self, mean, std, source); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
