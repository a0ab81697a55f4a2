// Fourier transforms along dimensions: lines are gathered into rows, which the FFT library
// transforms.
#include <cmath>
#include <cstring>
#include <vector>

#include "aten/Dispatch.h"
#include "aten/blas/Fft.h"
#include "aten/native/declarations/cpu/signal/FourierTransformKernel.h"
#include "aten/ops/contiguous.h"
#include "aten/ops/copy.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

/// 1, 1 / sqrt(n) or 1 / n for normalization 0, 1 and 2, where n is the number of elements that a
/// transform runs over.
double scale_of(int64_t normalization, double elements) {
  if (normalization == 0) return 1.0;
  return normalization == 1 ? 1.0 / std::sqrt(elements) : 1.0 / elements;
}

double elements_along(IntArrayRef sizes, IntArrayRef dims) {
  double n = 1;
  for (const int64_t dim : dims)
    n *= static_cast<double>(sizes[wrap_dim(dim, static_cast<int64_t>(sizes.size()))]);
  return n;
}

/// The lines of a contiguous tensor along one dimension.
struct Lines {
  Lines(IntArrayRef sizes, int64_t dim) : extent(sizes[dim]) {
    for (int64_t d = 0; d < dim; ++d) outer *= sizes[d];
    for (size_t d = dim + 1; d < sizes.size(); ++d) inner *= sizes[d];
  }

  int64_t count() const { return outer * inner; }

  /// The offset of line `index`; its elements are `inner` apart.
  int64_t start(int64_t index) const { return index / inner * extent * inner + index % inner; }

  int64_t extent, outer = 1, inner = 1;
};

constexpr int64_t kRowsAtOnce = 16;  // neighbouring lines share cache lines

/// Copies the first `count` elements of `rows` lines, from line `first` on, to rows of `out`.
template <class T>
void gather_lines(const Lines& lines, const T* data, int64_t first, int64_t rows, int64_t count,
                  T* out) {
  int64_t starts[kRowsAtOnce];
  for (int64_t row = 0; row < rows; ++row) starts[row] = lines.start(first + row);

  for (int64_t i = 0; i < count; ++i) {
    for (int64_t row = 0; row < rows; ++row)
      out[row * count + i] = data[starts[row] + i * lines.inner];
  }
}

/// Copies rows of `count` elements to `rows` lines, from line `first` on.
template <class T>
void scatter_lines(const Lines& lines, const T* source, int64_t first, int64_t rows, int64_t count,
                   T* data) {
  int64_t starts[kRowsAtOnce];
  for (int64_t row = 0; row < rows; ++row) starts[row] = lines.start(first + row);

  for (int64_t i = 0; i < count; ++i) {
    for (int64_t row = 0; row < rows; ++row)
      data[starts[row] + i * lines.inner] = source[row * count + i];
  }
}

/// Calls block(first, rows) for blocks of lines, on several threads where that pays.
template <class Block>
void for_each_block(int64_t lines, int64_t length, const Block& block) {
  const int64_t blocks = (lines + kRowsAtOnce - 1) / kRowsAtOnce;
  const int64_t grain =
      std::max<int64_t>(1, kDefaultGrainSize / (4 * kRowsAtOnce * std::max<int64_t>(length, 1)));
  parallel_for(0, blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      block(b * kRowsAtOnce, std::min(kRowsAtOnce, lines - b * kRowsAtOnce));
  });
}

/// The first element of each row, and of even lengths the last, are real in the spectrum of a real
/// signal, and libraries rely on it.
template <class T>
void make_ends_real(int64_t n, int64_t rows, c10::complex<T>* halves) {
  const int64_t half = n / 2 + 1;
  for (int64_t row = 0; row < rows; ++row, halves += half) {
    halves[0] = halves[0].real();
    if (n % 2 == 0) halves[n / 2] = halves[n / 2].real();
  }
}

/// Transforms along `dim` of a contiguous complex tensor, in place.
template <class T>
void transform(const Tensor& tensor, int64_t dim, bool forward, double scale) {
  const Lines lines(tensor.sizes(), dim);
  auto* data = tensor.data_ptr<c10::complex<T>>();
  for_each_block(lines.count(), lines.extent, [&](int64_t first, int64_t rows) {
    if (lines.inner == 1)
      return blas::fft_c2c<T>(lines.extent, rows, data + first * lines.extent, forward,
                              static_cast<T>(scale));

    std::vector<c10::complex<T>> buffer(rows * lines.extent);
    gather_lines(lines, data, first, rows, lines.extent, buffer.data());
    blas::fft_c2c<T>(lines.extent, rows, buffer.data(), forward, static_cast<T>(scale));
    scatter_lines(lines, buffer.data(), first, rows, lines.extent, data);
  });
}

/// Transforms along all `dims` in place, and applies the scale in the last of them.
template <class T>
void transform_all(const Tensor& tensor, IntArrayRef dims, bool forward, double scale) {
  for (size_t i = 0; i < dims.size(); ++i) {
    transform<T>(tensor, wrap_dim(dims[i], tensor.dim()), forward,
                 i + 1 == dims.size() ? scale : 1.0);
  }
}

}  // namespace

void fft_c2c_kernel(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward,
                    const Tensor& out0) {
  at::copy_(out0, self);
  if (self.numel() == 0 || dim.empty()) return;
  const double scale = scale_of(normalization, elements_along(self.sizes(), dim));
  AT_DISPATCH_COMPLEX(self.scalar_type(), "fft_c2c", [&] {
    transform_all<typename scalar_t::value_type>(out0, dim, forward, scale);
  });
}

void fft_r2c_kernel(const Tensor& self, IntArrayRef dim, int64_t normalization, bool onesided,
                    const Tensor& out0) {
  if (self.numel() == 0) return;
  const double scale = scale_of(normalization, elements_along(self.sizes(), dim));
  const int64_t last = wrap_dim(dim.back(), self.dim());

  const Tensor source = self.contiguous();
  const Lines in(source.sizes(), last);
  const Lines out(out0.sizes(), last);
  const int64_t n = in.extent;
  const int64_t half = n / 2 + 1;

  AT_DISPATCH_FLOATING(self.scalar_type(), "fft_r2c", [&] {
    using complex_t = c10::complex<scalar_t>;
    for_each_block(in.count(), n, [&](int64_t first, int64_t rows) {
      if (in.inner == 1 && onesided) {
        const scalar_t* lines = source.const_data_ptr<scalar_t>() + first * n;
        return blas::fft_r2c<scalar_t>(n, rows, lines, out0.data_ptr<complex_t>() + first * half,
                                       static_cast<scalar_t>(scale));
      }

      std::vector<scalar_t> reals(rows * n);
      std::vector<complex_t> results(rows * half);
      gather_lines(in, source.const_data_ptr<scalar_t>(), first, rows, n, reals.data());
      blas::fft_r2c<scalar_t>(n, rows, reals.data(), results.data(), static_cast<scalar_t>(scale));

      auto* data = out0.data_ptr<complex_t>();
      scatter_lines(out, results.data(), first, rows, half, data);

      // The second half of a real signal's spectrum is the conjugate of the first, in reverse.
      for (int64_t i = half; !onesided && i < n; ++i) {
        for (int64_t row = 0; row < rows; ++row)
          data[out.start(first + row) + i * out.inner] = c10::conj(results[row * half + n - i]);
      }
    });

    transform_all<scalar_t>(out0, dim.slice(0, dim.size() - 1), true, 1.0);
  });
}

void fft_c2r_kernel(const Tensor& self, IntArrayRef dim, int64_t normalization,
                    int64_t last_dim_size, const Tensor& out0) {
  if (out0.numel() == 0) return;
  const double scale = scale_of(normalization, elements_along(out0.sizes(), dim));
  const int64_t last = wrap_dim(dim.back(), self.dim());
  const int64_t n = last_dim_size;
  const int64_t half = n / 2 + 1;

  const Tensor source = self.clone().contiguous();
  const Lines in(source.sizes(), last);
  const Lines out(out0.sizes(), last);

  AT_DISPATCH_FLOATING(out0.scalar_type(), "fft_c2r", [&] {
    using complex_t = c10::complex<scalar_t>;
    transform_all<scalar_t>(source, dim.slice(0, dim.size() - 1), false, 1.0);

    for_each_block(in.count(), n, [&](int64_t first, int64_t rows) {
      if (in.inner == 1) {
        complex_t* const halves = source.data_ptr<complex_t>() + first * half;
        make_ends_real(n, rows, halves);
        return blas::fft_c2r<scalar_t>(n, rows, halves, out0.data_ptr<scalar_t>() + first * n,
                                       static_cast<scalar_t>(scale));
      }

      std::vector<complex_t> halves(rows * half);
      std::vector<scalar_t> reals(rows * n);
      gather_lines(in, source.const_data_ptr<complex_t>(), first, rows, half, halves.data());
      make_ends_real(n, rows, halves.data());
      blas::fft_c2r<scalar_t>(n, rows, halves.data(), reals.data(), static_cast<scalar_t>(scale));
      scatter_lines(out, reals.data(), first, rows, n, out0.data_ptr<scalar_t>());
    });
  });
}

}  // namespace at::native
