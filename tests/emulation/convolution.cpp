// Convolutions on the host, plainly: one loop over all products, for each pass.
#include "tests/emulation/convolution.h"

#include <bit>
#include <type_traits>
#include <vector>

#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"

namespace emulation {

namespace {

using c10::cuda::cudnn::DataType;
using c10::cuda::cudnn::Kind;

/// Calls f(offset of the image, of the weight, of the result) for each product, in elements.
template <class F>
void for_products(const EmulatedConvolution& c, const F& f) {
  const auto& [batch, outputs, depth, height, width] = c.result.sizes;
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t k = 0; k < outputs; ++k)
      for (int64_t z = 0; z < depth; ++z)
        for (int64_t y = 0; y < height; ++y)
          for (int64_t x = 0; x < width; ++x) for_window(c, {n, k, z, y, x}, f);
}

/// The products of which an element of the result is the sum.
template <class F>
void for_window(const EmulatedConvolution& c, const std::array<int64_t, 5>& at, const F& f) {
  const int64_t channels = c.weight.sizes[1];  // of a group
  const int64_t first_channel = at[1] / (c.weight.sizes[0] / c.groups) * channels;
  const int64_t elements = c.weight.sizes[2] * c.weight.sizes[3] * c.weight.sizes[4];
  int64_t result = 0;
  for (int d = 0; d < 5; ++d) result += at[d] * c.result.strides[d];

  for (int64_t element = 0; element < elements; ++element) {
    const int64_t tap[] = {element / c.weight.sizes[4] / c.weight.sizes[3],
                           element / c.weight.sizes[4] % c.weight.sizes[3],
                           element % c.weight.sizes[4]};
    int64_t image = at[0] * c.image.strides[0];
    int64_t weight = at[1] * c.weight.strides[0];
    bool is_inside = true;
    for (int d = 0; d < 3; ++d) {
      const int64_t place = at[d + 2] * c.strides[d] - c.paddings[d] + tap[d] * c.dilations[d];
      is_inside = is_inside && place >= 0 && place < c.image.sizes[d + 2];
      image += place * c.image.strides[d + 2];
      weight += tap[d] * c.weight.strides[d + 2];
    }

    for (int64_t channel = 0; is_inside && channel < channels; ++channel)
      f(image + (first_channel + channel) * c.image.strides[1],
        weight + channel * c.weight.strides[1], result);
  }
}

/// A factor as the engine sees it: TF32 keeps ten bits of a float's mantissa.
template <class Sum, class T>
Sum factor(OperandRounding rounding, const T& element) {
  if constexpr (std::is_same_v<T, float>) {
    if (rounding == OperandRounding::Tf32)
      return std::bit_cast<float>((std::bit_cast<uint32_t>(element) + 0x1000u) & ~0x1fffu);
  }
  const auto number = static_cast<Sum>(element);
  return rounding == OperandRounding::BFloat16
             ? static_cast<Sum>(static_cast<float>(c10::BFloat16(static_cast<float>(number))))
             : number;
}

/// The sums of a forward pass before it begins.
template <class Sum, class T>
void begin_with(const EmulatedConvolution& c, const T* bias, std::vector<Sum>& sums) {
  const std::array<int64_t, 5>& sizes = c.result.sizes;
  const int64_t plane = sizes[2] * sizes[3] * sizes[4];
  for (int64_t i = 0; i < c.result.elements(); ++i) {
    const bool is_last = c.result.strides[1] == 1 && sizes[1] > 1;
    sums[i] = static_cast<Sum>(bias[is_last ? i % sizes[1] : i / plane % sizes[1]]);
  }
}

template <class T, class Sum>
void convolve(const EmulatedConvolution& c, T* image, T* weight, T* result, const T* bias) {
  const auto add_up = [&](const ConvolutionOperand& operand, T* out, const auto& product) {
    std::vector<Sum> sums(static_cast<size_t>(operand.elements()), Sum(0));
    if (bias != nullptr) begin_with(c, bias, sums);
    for_products(c, [&](int64_t i, int64_t w, int64_t r) { product(sums, i, w, r); });
    for (size_t i = 0; i < sums.size(); ++i) out[i] = static_cast<T>(sums[i]);
  };
  const auto at = [&](const T* data, int64_t offset) {
    return factor<Sum>(c.rounding, data[offset]);
  };

  switch (c.pass) {
    case Kind::Forward:
      return add_up(c.result, result, [&](auto& sums, int64_t i, int64_t w, int64_t r) {
        sums[r] += at(image, i) * at(weight, w);
      });
    case Kind::BackwardData:
      return add_up(c.image, image, [&](auto& sums, int64_t i, int64_t w, int64_t r) {
        sums[i] += at(result, r) * at(weight, w);
      });
    default:
      return add_up(c.weight, weight, [&](auto& sums, int64_t i, int64_t w, int64_t r) {
        sums[w] += at(result, r) * at(image, i);
      });
  }
}

template <class T, class Sum>
void convolve_untyped(const EmulatedConvolution& c, void* image, void* weight, void* result,
                      const void* bias) {
  convolve<T, Sum>(c, static_cast<T*>(image), static_cast<T*>(weight), static_cast<T*>(result),
                   static_cast<const T*>(bias));
}

}  // namespace

void convolve_on_host(const EmulatedConvolution& c, void* image, void* weight, void* result,
                      const void* bias) {
  switch (c.type) {
    case DataType::Float: return convolve_untyped<float, float>(c, image, weight, result, bias);
    case DataType::Double: return convolve_untyped<double, double>(c, image, weight, result, bias);
    case DataType::Half: return convolve_untyped<c10::Half, float>(c, image, weight, result, bias);
    case DataType::BFloat16:
      return convolve_untyped<c10::BFloat16, float>(c, image, weight, result, bias);
  }
}

}  // namespace emulation
