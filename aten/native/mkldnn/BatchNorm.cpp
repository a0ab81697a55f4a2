// Batch normalization of tensors with the mkldnn layout; parameters and statistics have this or the
// strided layout.
#include "aten/native/declarations/mkldnn/BatchNorm.h"
#include "aten/native/declarations/nn/BatchNorm.h"
#include "aten/native/mkldnn/Elements.h"
#include "aten/ops/_batch_norm_apply.h"
#include "aten/ops/_batch_norm_apply_backward.h"
#include "aten/ops/_batch_norm_train.h"
#include "aten/ops/_batch_norm_train_backward.h"

namespace at::native {

Tensor batch_norm_mkldnn(const Tensor& input, const Tensor& weight, const Tensor& bias,
                         const Tensor& running_mean, const Tensor& running_var, bool training,
                         double momentum, double eps, bool cudnn_enabled) {
  return batch_norm(input, weight, bias, strided_elements(running_mean),
                    strided_elements(running_var), training, momentum, eps, cudnn_enabled);
}

Tensor batch_norm_apply_mkldnn(const Tensor& input, const Tensor& weight, const Tensor& bias,
                               const Tensor& mean, const Tensor& invstd) {
  return mkldnn_from(at::_batch_norm_apply(elements_of_mkldnn(input), strided_elements(weight),
                                           strided_elements(bias), strided_elements(mean),
                                           strided_elements(invstd)));
}

std::tuple<Tensor, Tensor, Tensor, Tensor>
batch_norm_train_mkldnn(const Tensor& input, const Tensor& weight, const Tensor& bias, double eps) {
  const auto [output, mean, invstd, variance] = at::_batch_norm_train(
      elements_of_mkldnn(input), strided_elements(weight), strided_elements(bias), eps);
  return {mkldnn_from(output), mean, invstd, variance};
}

std::tuple<Tensor, Tensor, Tensor>
batch_norm_apply_backward_mkldnn(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                 bool has_bias, const Tensor& mean, const Tensor& invstd) {
  const auto [grad_input, grad_weight, grad_bias] = at::_batch_norm_apply_backward(
      elements_of_mkldnn(grad), elements_wanting_grad(input), strided_elements(weight), has_bias,
      strided_elements(mean), strided_elements(invstd));
  return {mkldnn_from(grad_input), grad_weight, grad_bias};
}

std::tuple<Tensor, Tensor, Tensor>
batch_norm_train_backward_mkldnn(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                 const Tensor& bias, const Tensor& mean, const Tensor& invstd) {
  const auto [grad_input, grad_weight, grad_bias] = at::_batch_norm_train_backward(
      elements_of_mkldnn(grad), elements_wanting_grad(input), strided_elements(weight),
      strided_elements(bias), mean, invstd);
  return {mkldnn_from(grad_input), grad_weight, grad_bias};
}

}  // namespace at::native
