// Convolutions on CUDA, and their gradients: by cuDNN, or as products of matrices.
#include <algorithm>

#include "aten/core/Tensor.h"
#include "aten/native/cuda/CudnnConvolution.h"
#include "aten/native/cuda/linalg/MatrixProducts.h"
#include "aten/native/cuda/nn/ConvolutionColumns.h"
#include "aten/ops/add.h"
#include "aten/ops/copy.h"
#include "aten/ops/sum.h"
#include "aten/ops/to.h"
#include "aten/ops/zero.h"

namespace at::native::cuda {

namespace {

constexpr const char* kName = "convolution";
constexpr const char* kBackwardName = "convolution_backward";

// Who computes a convolution is decided here: it is one product if an image is its own columns,
// else cuDNN's work, else a product of columns.

/// A convolution of images (batch, channels, ...) to results (batch, outputs, ...).
class Convolution {
 public:
  /// The sizes of an image and of its result; a transposed convolution is called with them the
  /// other way around.
  Convolution(const char* name, IntArrayRef image, IntArrayRef result, const Tensor& weight,
              IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups)
      : name_(name),
        g_(convolution_geometry(image, result, weight.sizes(), stride, padding, dilation, groups)),
        weight_(weight) {}

  /// A bias, if it is defined, has an element for each output.
  void forward(const Tensor& image, const Tensor& bias, const Tensor& result) const {
    if (is_quick_product(image, result)) return pointwise(false, image, bias, result);
    if (forward_without_columns(image, bias, result)) return;
    if (is_one_product(image, result)) return pointwise(false, image, bias, result);

    const Tensor weight = weight_matrices();
    for_samples([&](int64_t begin, int64_t count) {
      const Tensor columns = columns_of(name_, image.narrow(0, begin, count), g_);
      const Tensor part = result.narrow(0, begin, count);
      const Tensor product = empty_product(g_.group_outputs(), count, dtype_before(bias, result));
      multiply(weight, columns, 0, product);
      store(samples_first(product, part), bias, part);
    });
  }

  /// What the gradients of the results are for the images. A bias, if it is defined, has an element
  /// for each channel.
  void backward_to_image(const Tensor& result, const Tensor& bias, const Tensor& image) const {
    if (is_quick_product(image, result)) return pointwise(true, result, bias, image);
    if (without_columns(ConvolutionPass::ImageGradient, image, weight_, result))
      return add_bias(bias, image);
    if (is_one_product(image, result)) return pointwise(true, result, bias, image);

    const Tensor weight = weight_matrices().transpose(1, 2);
    const Tensor added = bias.defined() ? bias.contiguous() : bias;
    for_samples([&](int64_t begin, int64_t count) {
      const Tensor columns =
          empty_product(g_.column_rows(), count, dtype_of_sums(image.scalar_type()));
      multiply(weight, samples_last(result.narrow(0, begin, count)), 0, columns);
      sum_columns(name_, columns, g_, added, image.narrow(0, begin, count));
    });
  }

  void backward_to_weight(const Tensor& image, const Tensor& result, const Tensor& weight) const {
    if (are_quick_products(image, result)) return pointwise_to_weight(image, result, weight);
    if (without_columns(ConvolutionPass::WeightGradient, image, weight, result)) return;

    const Tensor sums = empty_tensor({g_.groups, g_.group_outputs(), g_.column_rows()},
                                     dtype_of_sums(weight.scalar_type()), weight.device());
    for_samples([&](int64_t begin, int64_t count) {
      const Tensor columns = columns_of(name_, image.narrow(0, begin, count), g_);
      multiply(samples_last(result.narrow(0, begin, count)), columns.transpose(1, 2),
               begin == 0 ? 0 : 1, sums);
    });
    at::copy_(weight, sums.view(weight.sizes()));
  }

 private:
  bool forward_without_columns(const Tensor& image, const Tensor& bias,
                               const Tensor& result) const {
    const ConvolutionTensors tensors{image, weight_, result, bias};
    if (bias.defined() && can_add_bias(tensors) &&
        convolve_by_cudnn(name_, ConvolutionPass::Forward, g_, tensors))
      return true;

    if (!convolve_by_cudnn(name_, ConvolutionPass::Forward, g_, {image, weight_, result, {}}))
      return false;
    add_bias(bias, result);
    return true;
  }

  bool without_columns(ConvolutionPass pass, const Tensor& image, const Tensor& weight,
                       const Tensor& result) const {
    return !is_slow_by_cudnn(pass, image) &&
           convolve_by_cudnn(name_, pass, g_, {image, weight, result, {}});
  }

  /// Whether cuDNN takes several times as long as products of columns. Without tensor cores, it has
  /// no good engine for these gradients (cuDNN 9.19 on an H100: 3451 against 684 us for 1 x 1
  /// filters, 948 against 277 us for volumes).
  bool is_slow_by_cudnn(ConvolutionPass pass, const Tensor& image) const {
    return pass == ConvolutionPass::WeightGradient && image.scalar_type() == kFloat &&
           !uses_tensor_cores(image) && (g_.kernel_elements() == 1 || g_.output[0] > 1);
  }

  static bool uses_tensor_cores(const Tensor& image) {
    const bool is_tf32 =
        image.scalar_type() == kFloat && c10::tf32_allowed(c10::Tf32Use::Convolutions);
    return is_tf32 || c10::is_reduced_floating(image.scalar_type());
  }

  /// (groups, outputs of a group, rows of columns)
  Tensor weight_matrices() const {
    return weight_.reshape({g_.groups, g_.group_outputs(), g_.column_rows()});
  }

  /// Calls f(begin, count) for parts of the batch whose columns fit into memory.
  template <class F>
  void for_samples(const F& f) const {
    const int64_t bytes =
        g_.groups * g_.column_rows() * g_.output_plane() * static_cast<int64_t>(weight_.itemsize());
    const int64_t most = std::max<int64_t>(1, kMostColumnBytes / std::max<int64_t>(1, bytes));
    for (int64_t begin = 0; begin < g_.batch; begin += most)
      f(begin, std::min(most, g_.batch - begin));
  }

  void multiply(const Tensor& a, const Tensor& b, int64_t beta, const Tensor& out) const {
    matrix_product(name_, a, b, beta, 1, out, {}, c10::Tf32Use::Convolutions);
  }

  /// The convolution, or its transpose, as one product for each sample.
  void pointwise(bool transposed, const Tensor& from, const Tensor& bias, const Tensor& to) const {
    const Tensor matrix = weight_matrices();
    const Tensor weight = transposed ? matrix.transpose(1, 2) : matrix;
    const Tensor shared = weight.expand({g_.batch, weight.sizes()[1], weight.sizes()[2]});
    const ScalarType dtype = dtype_before(bias, to);
    const Tensor sums =
        dtype == to.scalar_type() ? to : empty_tensor(to.sizes(), dtype, to.device());

    multiply(shared, planes_of(from), 0, planes_of(sums));
    if (bias.defined()) store(sums, bias, to);
  }

  /// The gradient of a pointwise filter: a product for each sample, and their sum.
  void pointwise_to_weight(const Tensor& image, const Tensor& result, const Tensor& weight) const {
    const Tensor products = empty_tensor({g_.batch, g_.outputs, g_.channels},
                                         dtype_of_sums(weight.scalar_type()), weight.device());
    multiply(planes_of(result), planes_of(image).transpose(1, 2), 0, products);
    const Tensor sum = at::sum(products, IntArrayRef(int64_t{0}), false);
    at::copy_(weight, sum.view(weight.sizes()));
  }

  /// Whether the products of pointwise_to_weight are also no larger than the operands.
  bool are_quick_products(const Tensor& image, const Tensor& result) const {
    return is_quick_product(image, result) &&
           g_.batch * g_.outputs * g_.channels <= image.numel() + result.numel();
  }

  /// Whether an image is its own columns, and tensor cores can read it well if they are used: where
  /// the planes of an image begin at multiples of 16 bytes.
  bool is_quick_product(const Tensor& image, const Tensor& result) const {
    const int64_t plane_bytes = g_.input_plane() * static_cast<int64_t>(image.itemsize());
    return is_one_product(image, result) && (plane_bytes % 16 == 0 || !uses_tensor_cores(image));
  }

  /// Of sums to which something is added: rounded ones would be rounded again.
  static ScalarType dtype_of_sums(ScalarType dtype) {
    return c10::is_reduced_floating(dtype) ? kFloat : dtype;
  }

  static ScalarType dtype_before(const Tensor& bias, const Tensor& result) {
    return bias.defined() ? dtype_of_sums(result.scalar_type()) : result.scalar_type();
  }

  static void store(const Tensor& sums, const Tensor& bias, const Tensor& out) {
    if (!bias.defined()) return static_cast<void>(at::copy_(out, sums));
    at::add_out(out, sums, per_channel(bias, out));
  }

  static void add_bias(const Tensor& bias, const Tensor& out) {
    if (bias.defined()) at::add_(out, per_channel(bias, out));
  }

  /// A bias with the dimensions of what it is added to.
  static Tensor per_channel(const Tensor& bias, const Tensor& out) {
    DimVector sizes(out.dim(), 1);
    sizes[1] = bias.numel();
    return bias.reshape(sizes);
  }

  /// Whether an image is its own columns, and the planes of each sample follow one another.
  bool is_one_product(const Tensor& image, const Tensor& result) const {
    return g_.is_pointwise() && g_.groups == 1 && image.is_contiguous() && result.is_contiguous();
  }

  Tensor planes_of(const Tensor& tensor) const {
    return tensor.view({g_.batch, tensor.sizes()[1], g_.input_plane()});
  }

  Tensor empty_product(int64_t rows, int64_t samples, ScalarType dtype) const {
    return empty_tensor({g_.groups, rows, samples * g_.output_plane()}, dtype, weight_.device());
  }

  /// A product (groups, outputs, samples * positions) with the dimensions of results.
  Tensor samples_first(const Tensor& product, const Tensor& like) const {
    DimVector sizes(like.sizes());
    std::swap(sizes[0], sizes[1]);
    return product.view(sizes).transpose(0, 1);
  }

  Tensor samples_last(const Tensor& results) const {
    return results.transpose(0, 1).contiguous().view(
        {g_.groups, g_.group_outputs(), results.sizes()[0] * g_.output_plane()});
  }

  const char* name_;
  ConvolutionGeometry g_;
  Tensor weight_;
};

}  // namespace

void convolution_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                        bool transposed, IntArrayRef, int64_t groups, const Tensor& out0) {
  if (out0.numel() == 0) return;

  // Products are not defined for booleans; the result says whether any is true.
  if (out0.scalar_type() == kBool) {
    const Tensor counts = empty_tensor(out0.sizes(), kInt, out0.device());
    convolution_kernel(input.to(kInt), weight.to(kInt), bias.defined() ? bias.to(kInt) : bias,
                       stride, padding, dilation, transposed, {}, groups, counts);
    at::copy_(out0, counts);
    return;
  }

  const Tensor& image = transposed ? out0 : input;
  const Tensor& result = transposed ? input : out0;
  if (result.numel() == 0) {
    if (!bias.defined()) return static_cast<void>(at::zero_(out0));
    DimVector sizes(out0.dim(), 1);
    sizes[1] = bias.numel();
    at::copy_(out0, bias.view(sizes));
  } else {
    const Convolution convolution(kName, image.sizes(), result.sizes(), weight, stride, padding,
                                  dilation, groups);
    if (transposed) convolution.backward_to_image(result, bias, image);
    else convolution.forward(image, bias, result);
  }
}

void convolution_backward_kernel(const Tensor& grad_output, const Tensor& input,
                                 const Tensor& weight, bool, IntArrayRef stride,
                                 IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                 IntArrayRef, int64_t groups, const Tensor& out0,
                                 const Tensor& out1, const Tensor& out2) {
  const Tensor& image = transposed ? grad_output : input;
  const Tensor& result = transposed ? input : grad_output;
  const Convolution convolution(kBackwardName, image.sizes(), result.sizes(), weight, stride,
                                padding, dilation, groups);

  if (out0.numel() > 0) {
    if (transposed) convolution.forward(grad_output, {}, out0);
    else convolution.backward_to_image(grad_output, {}, out0);
  }
  if (out1.numel() > 0) {
    if (image.numel() == 0 || result.numel() == 0) at::zero_(out1);
    else convolution.backward_to_weight(image, result, out1);
  }
  if (out2.numel() == 0) return;

  DimVector others;
  for (int64_t d = 0; d < grad_output.dim(); ++d) {
    if (d != 1) others.push_back(d);
  }
  at::copy_(out2, at::sum(grad_output, IntArrayRef(others), false));
}

}  // namespace at::native::cuda
