// Short-time Fourier transforms: the spectra of overlapping pieces of a signal, and the inverse.
#include <algorithm>
#include <atomic>

#include "aten/core/Warning.h"
#include "aten/native/declarations/signal/ShortTimeFourier.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/_fft_c2c.h"
#include "aten/ops/_fft_c2r.h"
#include "aten/ops/_fft_r2c.h"
#include "aten/ops/abs.h"
#include "aten/ops/add.h"
#include "aten/ops/amin.h"
#include "aten/ops/arange.h"
#include "aten/ops/cat.h"
#include "aten/ops/constant_pad_nd.h"
#include "aten/ops/div.h"
#include "aten/ops/flip.h"
#include "aten/ops/index_add.h"
#include "aten/ops/item.h"
#include "aten/ops/mul.h"
#include "aten/ops/ones.h"
#include "aten/ops/square.h"
#include "aten/ops/unfold.h"
#include "aten/ops/view_as_real.h"
#include "aten/ops/zeros.h"
#include "c10/util/CheckedMath.h"

namespace at::native {

namespace {

/// Warns once per process, because a rectangular window is rarely intended.
void warn_without_window(std::atomic<bool>& warned, const char* consequence) {
  if (warned.exchange(true)) return;
  warn("A window was not provided. A rectangular window will be applied, ", consequence,
       " To suppress this warning and use a rectangular window, explicitly set "
       "`window=torch.ones(n_fft, device=<device>)`.");
}

/// The step between pieces and the length of the window.
struct Frames {
  Frames(const char* name, int64_t n_fft, std::optional<int64_t> hop_length,
         std::optional<int64_t> win_length, const Tensor& window)
      : hop(hop_length.value_or(n_fft / 4)), width(win_length.value_or(n_fft)) {
    TORCH_CHECK(hop > 0, name, ": expected hop_length > 0, but got hop_length=", hop);
    TORCH_CHECK(0 < width && width <= n_fft, name,
                ": expected 0 < win_length <= n_fft, but got win_length=", width);
    TORCH_CHECK(!window.defined() || (window.dim() == 1 && window.sizes()[0] == width), name,
                ": expected a 1D window tensor of size equal to win_length=", width,
                ", but got window with size ", window.defined() ? window.sizes() : IntArrayRef());
  }

  /// `window`, or ones, centred in n_fft elements.
  Tensor weights(const Tensor& window, int64_t n_fft, ScalarType dtype, Device device) const {
    const Tensor weights =
        window.defined() ? window : at::ones({width}, dtype, std::nullopt, device, std::nullopt);
    if (width == n_fft) return weights;

    const int64_t left = (n_fft - width) / 2;
    return at::constant_pad_nd(weights, {left, n_fft - width - left});
  }

  int64_t hop, width;
};

/// `signal` with `amount` more elements on each side of the last dimension.
Tensor extended(const Tensor& signal, int64_t amount, std::string_view mode) {
  const int64_t length = signal.size(-1);
  if (mode == "constant") return at::constant_pad_nd(signal, {amount, amount});

  const auto part = [&](int64_t start, int64_t count) { return signal.narrow(-1, start, count); };

  if (mode == "reflect") {
    TORCH_CHECK(amount < length,
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                "but got: padding (",
                amount, ", ", amount, ") at dimension ", signal.dim() - 1, " of input ",
                signal.sizes());
    return at::cat(std::vector<Tensor>{at::flip(part(1, amount), {-1}), signal,
                                       at::flip(part(length - 1 - amount, amount), {-1})},
                   -1);
  }

  if (mode == "circular") {
    TORCH_CHECK(amount <= length, "Padding value causes wrapping around more than once.");
    return at::cat(std::vector<Tensor>{part(length - amount, amount), signal, part(0, amount)}, -1);
  }

  TORCH_CHECK_NOT_IMPLEMENTED(mode == "replicate", "Unrecognised padding mode ", mode);

  DimVector sizes(signal.sizes());
  sizes.back() = amount;
  return at::cat(
      std::vector<Tensor>{part(0, 1).expand(sizes), signal, part(length - 1, 1).expand(sizes)}, -1);
}

}  // namespace

Tensor stft_center(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
                   std::optional<int64_t> win_length, const Tensor& window, bool center,
                   std::string_view pad_mode, bool normalized, std::optional<bool> onesided,
                   std::optional<bool> return_complex, std::optional<bool> align_to_window) {
  TORCH_CHECK(is_floating(self.scalar_type()) || self.is_complex(),
              "stft: expected a tensor of floating point or complex values, got ",
              self.scalar_type());
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "stft: expected a 1D or 2D tensor, but got ",
              self.dim(), "D");
  TORCH_CHECK(!center || !align_to_window.value_or(false),
              "stft: align_to_window is not supported when center is true");

  const bool is_complex = self.is_complex() || (window.defined() && window.is_complex());
  TORCH_CHECK(return_complex.has_value() || is_complex,
              "stft requires the return_complex parameter be given for real inputs, and will "
              "further require that return_complex=True in a "
              "future PyTorch release.");

  Tensor signal = self.dim() == 1 ? self.unsqueeze(0) : self;
  if (center) signal = extended(signal, n_fft / 2, pad_mode);

  const int64_t length = signal.size(1);
  TORCH_CHECK(0 < n_fft && n_fft <= length, "stft: expected 0 < n_fft < ", length,
              ", but got n_fft=", n_fft);

  const Frames frames("stft", n_fft, hop_length, win_length, window);
  static std::atomic<bool> warned{false};
  if (!window.defined())
    warn_without_window(
        warned,
        "which is known to cause spectral leakage; windows such as torch.hann_window reduce it.");

  const bool one_side = onesided.value_or(!is_complex);
  TORCH_CHECK(!one_side || !is_complex,
              "Cannot have onesided output if window or input is complex");

  Tensor pieces = at::unfold(signal, 1, n_fft, frames.hop);  // (batch, frames, n_fft)
  if (window.defined() || frames.width < n_fft)
    pieces = pieces * frames.weights(window, n_fft, to_real(self.scalar_type()), self.device());

  const int64_t scaling = normalized ? 1 : 0;
  const Tensor by_frame = pieces.is_complex() ? at::_fft_c2c(pieces, {2}, scaling, true)
                                              : at::_fft_r2c(pieces, {2}, scaling, one_side);
  const Tensor spectrum = by_frame.transpose(1, 2);  // (batch, bins, frames)

  const Tensor result = self.dim() == 1 ? spectrum.squeeze(0) : spectrum;
  return return_complex.value_or(true) ? result : at::view_as_real(result);
}

Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
             std::optional<int64_t> win_length, const Tensor& window, bool center, bool normalized,
             std::optional<bool> onesided, std::optional<int64_t> length, bool return_complex) {
  TORCH_CHECK(self.is_complex(), "istft requires a complex-valued input tensor matching the output "
                                 "from stft with return_complex=True.");
  TORCH_CHECK(self.numel() > 0, "istft: input tensor cannot be empty.");
  TORCH_CHECK(self.dim() == 2 || self.dim() == 3,
              "istft: expected a tensor with 2 or 3 dimensions, but got ", self.dim());

  const Frames frames("istft", n_fft, hop_length, win_length, window);
  static std::atomic<bool> warned{false};
  if (!window.defined())
    warn_without_window(warned,
                        "which loses information unless stft was called without one as well.");

  const Tensor spectrum = self.dim() == 2 ? self.unsqueeze(0) : self;
  const int64_t bins = spectrum.size(1);
  const int64_t count = spectrum.size(2);

  const bool one_side = onesided.value_or(bins != n_fft);
  TORCH_CHECK(bins == (one_side ? n_fft / 2 + 1 : n_fft),
              "istft: expected the frequency dimension (3rd to the last) of the input tensor to ",
              one_side ? "match n_fft / 2 + 1 when onesided=True"
                       : "match n_fft when onesided=False",
              ", but got ", bins);
  TORCH_CHECK(!return_complex || !one_side,
              "cannot have onesided output if window or input is complex");

  const int64_t scaling = normalized ? 1 : 2;
  const Tensor columns = spectrum.transpose(1, 2);  // (batch, frames, bins)
  Tensor pieces = return_complex
                      ? at::_fft_c2c(columns, {2}, scaling, false)
                      : at::_fft_c2r(one_side ? columns : columns.narrow(2, 0, n_fft / 2 + 1), {2},
                                     scaling, n_fft);

  const Tensor weights = frames.weights(window, n_fft, to_real(self.scalar_type()), self.device());
  pieces = pieces * weights;

  // Every piece is added where it was cut out, and the sum is divided by that of the squared
  // windows (weighted overlap-add: Griffin and Lim, "Signal estimation from modified short-time
  // Fourier transform", 1984).
  const int64_t total =
      c10::checked_add("istft", n_fft, c10::checked_multiply("istft", frames.hop, count - 1));
  const Tensor starts = at::arange(Scalar(0), Scalar(count), Scalar(1), kLong, std::nullopt,
                                   self.device(), std::nullopt) *
                        Scalar(frames.hop);
  const Tensor within = at::arange(Scalar(0), Scalar(n_fft), Scalar(1), kLong, std::nullopt,
                                   self.device(), std::nullopt);
  const Tensor places = (starts.unsqueeze(1) + within.unsqueeze(0)).reshape({-1});

  const auto overlapped = [&](const Tensor& values) {
    const Tensor zeros = at::zeros({values.size(0), total}, values.scalar_type(), std::nullopt,
                                   self.device(), std::nullopt);
    return at::index_add(zeros, 1, places, values.reshape({values.size(0), count * n_fft}),
                         Scalar(1));
  };

  Tensor signal = overlapped(pieces);
  Tensor envelope = overlapped(at::square(weights).expand({1, count, n_fft}));

  const int64_t start = center ? n_fft / 2 : 0;
  TORCH_CHECK(length.value_or(1) > 0, "istft: the signal would have ", length.value_or(1),
              " elements; expected length > 0");
  const int64_t wanted_end = length.has_value() ? c10::checked_add("istft", start, *length)
                                                : (center ? total - n_fft / 2 : total);
  const int64_t end = std::min(wanted_end, total);
  TORCH_CHECK(end > start, "istft: the signal would have ", end - start,
              " elements; expected length > 0");

  signal = signal.narrow(1, start, end - start);
  envelope = envelope.narrow(1, start, end - start);

  if (has_elements(envelope)) {
    const Scalar least = at::item(at::amin(at::abs(envelope), IntArrayRef()));
    TORCH_CHECK(least.to_double() >= 1e-11, "window overlap add min: ", least.to_double(),
                " is too small: the windows leave a gap");
  }

  signal = signal / envelope;
  if (length.has_value() && *length > end - start)
    signal = at::constant_pad_nd(signal, {0, *length - (end - start)});

  return self.dim() == 2 ? signal.squeeze(0) : signal;
}

}  // namespace at::native
