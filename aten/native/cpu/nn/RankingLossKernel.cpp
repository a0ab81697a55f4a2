// The labels of multilabel_margin_loss.
#include "aten/native/declarations/cpu/nn/RankingLossKernel.h"

namespace at::native {

/// Of the labels of each row up to the first -1: out0 holds the labels, out1 where one is, and out2
/// which classes are labels.
void margin_labels_kernel(const Tensor& target, const Tensor& out0, const Tensor& out1,
                          const Tensor& out2) {
  const int64_t classes = target.size(1);
  const Tensor labels = target.contiguous();
  for (const Tensor& out : {out0, out1, out2}) out.zero_();

  for (int64_t row = 0; row < target.size(0); ++row) {
    const int64_t* given = labels.const_data_ptr<int64_t>() + row * classes;
    for (int64_t j = 0; j < classes; ++j) {
      const int64_t label = given[j];
      TORCH_CHECK(label >= -1 && label < classes, "multilabel_margin_loss: label ", label,
                  " is out of range for ", classes, " classes");

      if (label < 0) break;

      out0.data_ptr<int64_t>()[row * classes + j] = label;
      out1.data_ptr<bool>()[row * classes + j] = true;
      out2.data_ptr<bool>()[row * classes + label] = true;
    }
  }
}

}  // namespace at::native
