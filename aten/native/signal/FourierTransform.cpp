// Discrete Fourier transforms: arguments, shapes and gradients around three kernels (complex, real
// to complex, complex to real).
#include <algorithm>
#include <string>

#include "aten/native/declarations/signal/FourierTransform.h"
#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/_fft_c2c.h"
#include "aten/ops/_fft_c2r.h"
#include "aten/ops/_fft_r2c.h"
#include "aten/ops/arange.h"
#include "aten/ops/cat.h"
#include "aten/ops/conj.h"
#include "aten/ops/constant_pad_nd.h"
#include "aten/ops/div.h"
#include "aten/ops/mul.h"
#include "aten/ops/real.h"
#include "aten/ops/roll.h"

namespace at::native {

namespace {

enum class Scaling : int64_t { None = 0, ByRoot = 1, ByCount = 2 };

/// The scaling of a transform: `norm` names the direction that gets the factor 1 / n, and `forward`
/// tells which direction this transform has.
int64_t scaling_of(std::optional<std::string_view> norm, bool forward) {
  const std::string_view mode = norm.value_or("backward");
  TORCH_CHECK(mode == "forward" || mode == "backward" || mode == "ortho",
              "Invalid normalization mode: \"", mode, "\"");
  if (mode == "ortho") return static_cast<int64_t>(Scaling::ByRoot);

  return static_cast<int64_t>((mode == "forward") == forward ? Scaling::ByCount : Scaling::None);
}

void check_dtype(const char* name, const Tensor& self) {
  TORCH_CHECK(!is_reduced_floating(self.scalar_type()), name, ": Unsupported dtype ",
              self.scalar_type());
}

/// Integers become the default dtype.
Tensor as_inexact(const char* name, const Tensor& self) {
  check_dtype(name, self);
  return is_integral(self.scalar_type(), true) ? self.to(default_dtype()) : self;
}

Tensor as_complex(const char* name, const Tensor& self) {
  const Tensor inexact = as_inexact(name, self);
  return inexact.is_complex() ? inexact : inexact.to(to_complex(inexact.scalar_type()));
}

int64_t transformed_dim(const Tensor& self, int64_t dim) {
  TORCH_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  return wrap_dim(dim, self.dim());
}

/// A dimension truncated to `size` elements, or filled up with zeros.
Tensor with_size(const Tensor& self, int64_t dim, int64_t size) {
  const int64_t present = self.sizes()[dim];
  if (size == present) return self;
  if (size < present) return self.narrow(dim, 0, size);

  DimVector pad(2 * (self.dim() - dim), 0);
  pad.back() = size - present;
  return at::constant_pad_nd(self, pad);
}

void check_length(int64_t n) {
  TORCH_CHECK(n >= 1, "Invalid number of data points (", n, ") specified");
}

/// A complex transform along one dimension.
Tensor along(const char* name, const Tensor& self, std::optional<int64_t> n, int64_t dim,
             std::optional<std::string_view> norm, bool forward) {
  const Tensor input = as_inexact(name, self);
  const int64_t d = transformed_dim(input, dim);
  const int64_t length = n.value_or(input.sizes()[d]);
  check_length(length);

  const Tensor sized = with_size(input, d, length);
  const int64_t scaling = scaling_of(norm, forward);

  if (sized.is_complex()) return at::_fft_c2c(sized, {d}, scaling, forward);

  // The spectrum of real numbers; the inverse transform's is its conjugate.
  const Tensor spectrum = at::_fft_r2c(sized, {d}, scaling, false);
  return forward ? spectrum : at::conj(spectrum);
}

/// The first half of the spectrum of a real signal.
Tensor half_spectrum(const char* name, const Tensor& self, std::optional<int64_t> n, int64_t dim,
                     std::optional<std::string_view> norm, bool forward) {
  TORCH_CHECK(!self.is_complex(), name, " expects a real input tensor, but got ",
              self.scalar_type());
  const Tensor input = as_inexact(name, self);
  const int64_t d = transformed_dim(input, dim);
  const int64_t length = n.value_or(input.sizes()[d]);
  check_length(length);

  const Tensor spectrum =
      at::_fft_r2c(with_size(input, d, length), {d}, scaling_of(norm, forward), true);
  return forward ? spectrum : at::conj(spectrum);
}

/// The real signal that has the given first half of a spectrum.
Tensor from_half(const char* name, const Tensor& self, std::optional<int64_t> n, int64_t dim,
                 std::optional<std::string_view> norm, bool forward) {
  const Tensor input = as_complex(name, self);
  const int64_t d = transformed_dim(input, dim);
  const int64_t length = n.value_or(2 * (input.sizes()[d] - 1));
  check_length(length);

  const Tensor sized = with_size(input, d, length / 2 + 1);
  return at::_fft_c2r(forward ? at::conj(sized) : sized, {d}, scaling_of(norm, forward), length);
}

/// The dimensions that a transform over several dimensions covers, and their sizes.
struct Region {
  Region(const Tensor& input, OptionalIntArrayRef s, OptionalIntArrayRef dim) {
    const int64_t ndim = input.dim();
    if (dim.has_value()) {
      for (const int64_t d : *dim) dims.push_back(transformed_dim(input, d));
      DimVector sorted = dims;
      std::sort(sorted.begin(), sorted.end());
      TORCH_CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
                  "FFT dims must be unique");
    }

    if (s.has_value()) {
      TORCH_CHECK(!dim.has_value() || dim->size() == s->size(),
                  "When given, dim and shape arguments must have the same length");
      const int64_t count = static_cast<int64_t>(s->size());
      TORCH_CHECK(count <= ndim, "Got shape with ", count, " values but input tensor only has ",
                  ndim, " dimensions.");
      for (int64_t i = 0; !dim.has_value() && i < count; ++i) dims.push_back(ndim - count + i);
    } else if (!dim.has_value()) {
      for (int64_t d = 0; d < ndim; ++d) dims.push_back(d);
    }

    for (size_t i = 0; i < dims.size(); ++i) {
      const bool has_size = s.has_value() && (*s)[i] != -1;
      sizes.push_back(has_size ? (*s)[i] : input.sizes()[dims[i]]);
      check_length(sizes.back());
    }

    has_last_size = s.has_value() && !s->empty() && s->back() != -1;
  }

  Tensor resized(Tensor input) const {
    for (size_t i = 0; i < dims.size(); ++i) input = with_size(input, dims[i], sizes[i]);
    return input;
  }

  IntArrayRef all_but_last() const { return IntArrayRef(dims).slice(0, dims.size() - 1); }

  DimVector dims, sizes;
  bool has_last_size = false;
};

/// A complex transform over several dimensions.
Tensor over(const char* name, const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
            std::optional<std::string_view> norm, bool forward) {
  const Tensor input = as_complex(name, self);

  const Region region(input, s, dim);
  if (region.dims.empty()) return input.clone();

  return at::_fft_c2c(region.resized(input), region.dims, scaling_of(norm, forward), forward);
}

/// The region of a transform from or to real numbers, which cannot be empty.
Region half_region(const char* name, Tensor& input, OptionalIntArrayRef s,
                   OptionalIntArrayRef dim) {
  Region region(input, s, dim);
  TORCH_CHECK(!region.dims.empty(), name, " must transform at least one axis");
  return region;
}

/// Returns the size of the real result in its last dimension, and sets that dimension of the region
/// to the size of the half spectrum.
int64_t halve(Region& region, const Tensor& input) {
  const int64_t length =
      region.has_last_size ? region.sizes.back() : 2 * (input.sizes()[region.dims.back()] - 1);
  check_length(length);
  region.sizes.back() = length / 2 + 1;
  return length;
}

/// Rolls each dimension by half its size, rounded down (0) or up (1).
Tensor shifted(const Tensor& self, OptionalIntArrayRef dim, int64_t rounding) {
  DimVector dims, shifts;
  if (dim.has_value()) {
    dims = wrap_dims(*dim, self.dim());
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  }

  for (const int64_t d : dims) shifts.push_back((self.sizes()[d] + rounding) / 2);
  return at::roll(self, shifts, dims);
}

ScalarType frequency_dtype(const char* name, int64_t n, std::optional<ScalarType> dtype) {
  TORCH_CHECK(n >= 0, name, "(): n must not be negative, got ", n);

  const ScalarType type = dtype.value_or(default_dtype());
  TORCH_CHECK(is_floating(type) || is_complex(type), name,
              " requires a floating point or complex dtype");
  return type;
}

}  // namespace

// -- the three kernels

TensorSpec fft_c2c_shape(const Tensor& self, IntArrayRef dim, int64_t, bool) {
  wrap_dims(dim, self.dim());
  return {DimVector(self.sizes()), self.scalar_type(), self.device()};
}

TensorSpec fft_r2c_shape(const Tensor& self, IntArrayRef dim, int64_t, bool onesided) {
  TORCH_CHECK(!dim.empty(), "_fft_r2c(): expected at least one dimension to transform");
  wrap_dims(dim, self.dim());

  DimVector sizes(self.sizes());
  int64_t& last = sizes[wrap_dim(dim.back(), self.dim())];
  for (const int64_t d : dim) check_length(self.sizes()[wrap_dim(d, self.dim())]);
  if (onesided) last = last / 2 + 1;

  return {sizes, to_complex(self.scalar_type()), self.device()};
}

TensorSpec fft_c2r_shape(const Tensor& self, IntArrayRef dim, int64_t, int64_t last_dim_size) {
  TORCH_CHECK(!dim.empty(), "_fft_c2r(): expected at least one dimension to transform");
  wrap_dims(dim, self.dim());

  check_length(last_dim_size);

  const int64_t last = wrap_dim(dim.back(), self.dim());
  TORCH_CHECK(self.sizes()[last] == last_dim_size / 2 + 1, "_fft_c2r(): expected ",
              last_dim_size / 2 + 1, " elements in dimension ", last, " for a result of ",
              last_dim_size, ", got ", self.sizes()[last]);

  DimVector sizes(self.sizes());
  sizes[last] = last_dim_size;
  return {sizes, to_real(self.scalar_type()), self.device()};
}

Tensor _fft_c2c_backward(const Tensor& grad, IntArrayRef dim, int64_t normalization, bool forward) {
  return at::_fft_c2c(grad, dim, normalization, !forward);
}

/// The gradient of a real signal is the real part of the inverse transform. The half of the
/// spectrum that was not computed has gradient 0.
Tensor _fft_r2c_backward(const Tensor& grad, IntArrayRef dim, int64_t normalization, bool onesided,
                         IntArrayRef sizes) {
  const int64_t last = wrap_dim(dim.back(), grad.dim());
  const Tensor full = onesided ? with_size(grad, last, sizes[last]) : grad;
  return at::real(at::_fft_c2c(full, dim, normalization, false));
}

/// Elements of the half spectrum that also represent their conjugates have twice the gradient.
Tensor _fft_c2r_backward(const Tensor& grad, IntArrayRef dim, int64_t normalization) {
  const int64_t last = wrap_dim(dim.back(), grad.dim());
  const int64_t n = grad.sizes()[last];
  const int64_t twice = (n - 1) / 2;

  const Tensor spectrum = at::_fft_r2c(grad, dim, normalization, true);
  if (twice == 0) return spectrum;

  std::vector<Tensor> parts{spectrum.narrow(last, 0, 1),
                            spectrum.narrow(last, 1, twice) * Scalar(2)};
  if (n % 2 == 0) parts.push_back(spectrum.narrow(last, n / 2, 1));
  return at::cat(parts, last);
}

// -- one dimension

using OptionalLength = std::optional<int64_t>;
using Norm = std::optional<std::string_view>;

Tensor fft_fft(const Tensor& self, OptionalLength n, int64_t dim, Norm norm) {
  return along("fft", self, n, dim, norm, true);
}

Tensor fft_ifft(const Tensor& self, OptionalLength n, int64_t dim, Norm norm) {
  return along("ifft", self, n, dim, norm, false);
}

Tensor fft_rfft(const Tensor& self, OptionalLength n, int64_t dim, Norm norm) {
  return half_spectrum("rfft", self, n, dim, norm, true);
}

Tensor fft_ihfft(const Tensor& self, OptionalLength n, int64_t dim, Norm norm) {
  return half_spectrum("ihfft", self, n, dim, norm, false);
}

Tensor fft_irfft(const Tensor& self, OptionalLength n, int64_t dim, Norm norm) {
  return from_half("irfft", self, n, dim, norm, false);
}

Tensor fft_hfft(const Tensor& self, OptionalLength n, int64_t dim, Norm norm) {
  return from_half("hfft", self, n, dim, norm, true);
}

// -- several dimensions

Tensor fft_fftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  return over("fftn", self, s, dim, norm, true);
}

Tensor fft_ifftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  return over("ifftn", self, s, dim, norm, false);
}

Tensor fft_rfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  TORCH_CHECK(!self.is_complex(), "rfftn expects a real-valued input tensor, but got ",
              self.scalar_type());

  Tensor input = as_inexact("rfftn", self);
  const Region region = half_region("rfftn", input, s, dim);
  return at::_fft_r2c(region.resized(input), region.dims, scaling_of(norm, true), true);
}

Tensor fft_irfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  Tensor input = as_complex("irfftn", self);
  Region region = half_region("irfftn", input, s, dim);

  const int64_t length = halve(region, input);
  return at::_fft_c2r(region.resized(input), region.dims, scaling_of(norm, false), length);
}

Tensor fft_hfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  Tensor input = as_complex("hfftn", self);
  Region region = half_region("hfftn", input, s, dim);

  const int64_t length = halve(region, input);
  const int64_t scaling = scaling_of(norm, true);

  // The last dimension is transformed to real numbers, all others as complex ones.
  Tensor sized = region.resized(input);
  if (region.dims.size() > 1) sized = at::_fft_c2c(sized, region.all_but_last(), scaling, true);

  return at::_fft_c2r(at::conj(sized), {region.dims.back()}, scaling, length);
}

Tensor fft_ihfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  TORCH_CHECK(!self.is_complex(), "ihfftn expects a real-valued input tensor, but got ",
              self.scalar_type());
  Tensor input = as_inexact("ihfftn", self);
  const Region region = half_region("ihfftn", input, s, dim);

  const int64_t scaling = scaling_of(norm, false);
  const Tensor half =
      at::conj(at::_fft_r2c(region.resized(input), {region.dims.back()}, scaling, true));

  return region.dims.size() > 1 ? at::_fft_c2c(half, region.all_but_last(), scaling, false) : half;
}

Tensor fft_fft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return fft_fftn(self, s, dim, norm);
}

Tensor fft_ifft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return fft_ifftn(self, s, dim, norm);
}

Tensor fft_rfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return fft_rfftn(self, s, dim, norm);
}

Tensor fft_irfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return fft_irfftn(self, s, dim, norm);
}

Tensor fft_hfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return fft_hfftn(self, s, dim, norm);
}

Tensor fft_ihfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return fft_ihfftn(self, s, dim, norm);
}

// -- shifts and frequencies

Tensor fft_fftshift(const Tensor& self, OptionalIntArrayRef dim) { return shifted(self, dim, 0); }

Tensor fft_ifftshift(const Tensor& self, OptionalIntArrayRef dim) { return shifted(self, dim, 1); }

Tensor fft_fftfreq(int64_t n, double d, std::optional<ScalarType> dtype,
                   std::optional<Layout> layout, std::optional<Device> device,
                   std::optional<bool> pin_memory) {
  const ScalarType type = frequency_dtype("fftfreq", n, dtype);

  // 0, 1, ..., then the negative frequencies up to -1, divided by n d.
  const int64_t positive = n - n / 2;
  const Tensor first =
      at::arange(Scalar(0), Scalar(positive), Scalar(1), type, layout, device, pin_memory);
  const Tensor second =
      at::arange(Scalar(positive - n), Scalar(0), Scalar(1), type, layout, device, pin_memory);

  return at::cat(std::vector<Tensor>{first, second}, 0) *
         Scalar(1.0 / (static_cast<double>(n) * d));
}

Tensor fft_rfftfreq(int64_t n, double d, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool> pin_memory) {
  const ScalarType type = frequency_dtype("rfftfreq", n, dtype);
  const Tensor counts =
      at::arange(Scalar(0), Scalar(n / 2 + 1), Scalar(1), type, layout, device, pin_memory);
  return counts * Scalar(1.0 / (static_cast<double>(n) * d));
}

}  // namespace at::native
