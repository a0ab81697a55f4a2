// Shapes and checks of im2col (windows of images as columns of a matrix) and col2im (their sum).
#include "aten/native/declarations/nn/Columns.h"
#include "c10/util/CheckedMath.h"

namespace at::native {

namespace {

void check_pairs(const char* op, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                 IntArrayRef stride) {
  const auto check = [&](const char* name, IntArrayRef values, int64_t lowest) {
    TORCH_CHECK(values.size() == 2, op, ": It is expected ", name, " equals to 2, but got size ",
                values.size());
    for (const int64_t value : values) {
      TORCH_CHECK(value == static_cast<int32_t>(value), op,
                  ": value cannot be converted to type int without overflow: ", value);
      TORCH_CHECK(value >= lowest, op, ": ", name, " should be ",
                  lowest > 0 ? "greater than zero" : "non-negative", ", but got ", values);
    }
  };

  check("kernel_size", kernel_size, 1);
  check("dilation", dilation, 1);
  check("padding", padding, 0);
  check("stride", stride, 1);
}

/// The product, checked for overflow: the kernels' loops count windows and kernel elements, also
/// where the size of a tensor does not contain the product.
int64_t product(const char* op, std::initializer_list<int64_t> factors) {
  int64_t result = 1;
  for (const int64_t factor : factors) {
    TORCH_CHECK(!__builtin_mul_overflow(result, factor, &result), op,
                ": the number of columns or of their elements overflows");
  }
  return result;
}

}  // namespace

TensorSpec im2col_shape(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                        IntArrayRef padding, IntArrayRef stride) {
  check_pairs("im2col", kernel_size, dilation, padding, stride);
  const IntArrayRef sizes = self.sizes();
  const size_t n = sizes.size();
  TORCH_CHECK((n == 3 || n == 4) && sizes[n - 3] > 0 && sizes[n - 2] > 0 && sizes[n - 1] > 0,
              "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
              "dimensions for input, but got: ",
              sizes);

  int64_t windows = 1;
  for (size_t d = 0; d < 2; ++d) {
    const int64_t room = sizes[n - 2 + d] + 2 * padding[d] - dilation[d] * (kernel_size[d] - 1) - 1;
    TORCH_CHECK(room >= 0, "Given input with spatial size (", sizes[n - 2], ", ", sizes[n - 1],
                "), kernel_size=", kernel_size, ", dilation=", dilation, ", padding=", padding,
                ", stride=", stride,
                ", calculated shape of the array of sliding blocks is too small (non-positive)");
    windows = product("im2col", {windows, room / stride[d] + 1});
  }

  DimVector result{product("im2col", {sizes[n - 3], kernel_size[0], kernel_size[1]}), windows};
  if (n == 4) result.insert(result.begin(), sizes[0]);
  return {result, self.scalar_type(), self.device()};
}

TensorSpec col2im_shape(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size,
                        IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  TORCH_CHECK(output_size.size() == 2, "It is expected output_size equals to 2, but got size ",
              output_size.size());
  check_pairs("col2im", kernel_size, dilation, padding, stride);

  const IntArrayRef sizes = self.sizes();
  const size_t n = sizes.size();
  TORCH_CHECK((n == 2 || n == 3) && sizes[n - 2] > 0 && sizes[n - 1] > 0,
              "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
              "non-zero dimensions for input, but got: ",
              sizes);

  const int64_t elements = kernel_size[0] * kernel_size[1];
  TORCH_CHECK(sizes[n - 2] % elements == 0,
              "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
              "but got ",
              "input.size(1)=", sizes[n - 2], " and kernel_size=", kernel_size);

  int64_t windows = 1;
  for (size_t d = 0; d < 2; ++d) {
    const int64_t padded = c10::checked_add("col2im", output_size[d], 2 * padding[d]);
    const int64_t room =
        c10::checked_subtract("col2im", padded, dilation[d] * (kernel_size[d] - 1) + 1);
    windows =
        product("col2im", {windows, output_size[d] > 0 && room >= 0 ? room / stride[d] + 1 : 0});
  }
  TORCH_CHECK(windows == sizes[n - 1] && windows > 0, "Given output_size=", output_size,
              ", kernel_size=", kernel_size, ", dilation=", dilation, ", padding=", padding,
              ", stride=", stride,
              ", expected size of input's dimension 2 to match the calculated number of sliding ",
              "blocks ", windows, ", but got input.size(2)=", sizes[n - 1]);

  DimVector result{sizes[n - 2] / elements, output_size[0], output_size[1]};
  if (n == 3) result.insert(result.begin(), sizes[0]);
  return {result, self.scalar_type(), self.device()};
}

}  // namespace at::native
