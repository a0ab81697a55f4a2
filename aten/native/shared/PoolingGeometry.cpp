// Checks of pooling windows and the sizes of pooled results.
#include "aten/native/shared/PoolingGeometry.h"

#include <string>

namespace at::native {

namespace {

constexpr const char* kNumbers[] = {"", "one int", "two ints", "three ints"};

/// One value per spatial dimension from an argument of one value or one per dimension.
DimVector expanded(const char* op, const char* name, size_t spatial, IntArrayRef values) {
  TORCH_CHECK(values.size() == 1 || values.size() == spatial, op, ": ", name,
              " must either be a single int, or a tuple of ", kNumbers[spatial], ", but got ",
              values);
  return values.size() == spatial ? DimVector(values) : DimVector(spatial, values[0]);
}

/// Sizes for messages, as "2x4x5".
std::string extents(IntArrayRef sizes) {
  std::string text;
  for (size_t d = 0; d < sizes.size(); ++d) text += (d == 0 ? "" : "x") + std::to_string(sizes[d]);
  return text;
}

/// The number of windows along one dimension. With ceil_mode the last window may reach beyond the
/// padded input, but it starts inside the input or the left padding.
int64_t window_count(int64_t size, int64_t kernel, int64_t padding, int64_t stride,
                     int64_t dilation, bool ceil_mode) {
  const int64_t room =
      size + 2 * padding - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  // Rounds towards minus infinity.
  const int64_t count = (room >= 0 ? room / stride : -((-room + stride - 1) / stride)) + 1;
  return ceil_mode && (count - 1) * stride >= size + padding ? count - 1 : count;
}

void check_windows(const char* op, const PoolingWindows& w) {
  for (const DimVector* values : {&w.kernel, &w.stride, &w.padding, &w.dilation}) {
    for (const int64_t value : *values) {
      TORCH_CHECK(value == static_cast<int32_t>(value),
                  "value cannot be converted to type int without overflow: ", value);
    }
  }

  for (size_t d = 0; d < w.spatial(); ++d) {
    TORCH_CHECK(w.kernel[d] > 0, op, ": kernel size should be greater than zero, but got ",
                IntArrayRef(w.kernel));
    TORCH_CHECK(w.stride[d] != 0, op, ": stride should not be zero, but got ",
                IntArrayRef(w.stride));
    TORCH_CHECK(w.stride[d] > 0, op, ": stride should be greater than zero, but got ",
                IntArrayRef(w.stride));
    TORCH_CHECK(w.dilation[d] > 0, op, ": dilation should be greater than zero, but got ",
                IntArrayRef(w.dilation));
    TORCH_CHECK(w.padding[d] >= 0, op, ": pad must be non-negative, but got pad: ", w.padding[d]);
    TORCH_CHECK(w.padding[d] <= ((w.kernel[d] - 1) * w.dilation[d] + 1) / 2, op,
                ": pad should be at most half of effective kernel size, but got pad=", w.padding[d],
                ", kernel_size=", w.kernel[d], " and dilation=", w.dilation[d]);
  }
}

/// Checks that the input is (channels, ...) or (samples, channels, ...).
void check_input(const char* op, IntArrayRef input, size_t spatial) {
  TORCH_CHECK(input.size() == spatial + 1 || input.size() == spatial + 2, op, "(): Expected ",
              spatial + 1, "D or ", spatial + 2, "D (batch mode) tensor, but got: ", input);
}

}  // namespace

PoolingWindows pooling_windows(const char* op, size_t spatial, IntArrayRef kernel_size,
                               IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation) {
  PoolingWindows windows;
  windows.kernel = expanded(op, "kernel_size", spatial, kernel_size);
  windows.stride = stride.empty() ? windows.kernel : expanded(op, "stride", spatial, stride);
  windows.padding = expanded(op, "padding", spatial, padding);
  windows.dilation = expanded(op, "dilation", spatial, dilation);
  return windows;
}

DimVector pooled_sizes(const char* op, IntArrayRef input, const PoolingWindows& w, bool ceil_mode) {
  check_windows(op, w);
  const size_t spatial = w.spatial();
  check_input(op, input, spatial);

  // Only the number of samples may be 0.
  for (size_t d = input.size() - spatial - 1; d < input.size(); ++d) {
    TORCH_CHECK(input[d] > 0, op, "(): Expected ", spatial + 1, "D or ", spatial + 2,
                "D (batch mode) tensor with optional 0 dim batch size for input, but got: ", input);
  }

  DimVector sizes(input);
  const size_t leading = input.size() - spatial;
  for (size_t d = 0; d < spatial; ++d) {
    int64_t& size = sizes[leading + d];
    size = window_count(size, w.kernel[d], w.padding[d], w.stride[d], w.dilation[d], ceil_mode);
  }

  for (size_t d = 0; d < spatial; ++d) {
    TORCH_CHECK(sizes[leading + d] > 0, op, ": Given input size: (",
                extents(input.slice(leading - 1)), "). Calculated output size: (",
                extents(IntArrayRef(sizes).slice(leading - 1)), "). Output size is too small");
  }

  return sizes;
}

DimVector adaptive_sizes(const char* op, IntArrayRef input, IntArrayRef output_size) {
  const size_t spatial = output_size.size();
  for (const int64_t size : output_size) {
    TORCH_CHECK(size >= 0, op,
                ": elements of output_size must be greater than or equal to 0 but received ",
                output_size);
  }
  check_input(op, input, spatial);

  DimVector sizes(input);
  for (size_t d = 0; d < spatial; ++d) {
    int64_t& size = sizes[input.size() - spatial + d];
    TORCH_CHECK(
        size > 0, op,
        "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ",
        input, " with dimension ", input.size() - spatial + d, " being empty");
    size = output_size[d];
  }

  return sizes;
}

}  // namespace at::native
