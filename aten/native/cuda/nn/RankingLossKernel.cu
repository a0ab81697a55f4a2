// The labels of multilabel_margin_loss.
#include "aten/core/Tensor.h"
#include "aten/native/cuda/PerIndex.cuh"

namespace at::native::cuda {

namespace {

using c10::cuda::ReportKind;

/// Each warp goes through the labels of a row, up to the first -1.
struct MarginLabels {
  const int64_t* target;
  int64_t* labels;
  bool* counts;
  bool* is_label;
  int64_t classes;

  SIMT_DEVICE void operator()(int64_t i, simt::Reporter reporter) const {
    const int64_t row = i / 32;
    const unsigned lane = simt::lane();
    for (int64_t first = 0; first < classes; first += 32) {
      const int64_t j = first + lane;
      const int64_t label = j < classes ? target[row * classes + j] : -1;
      const bool is_valid = label >= 0 && label < classes;
      const unsigned ended = simt::ballot(simt::kFullMask, !is_valid);
      const unsigned count = ended == 0 ? 32 : simt::find_first_set(ended) - 1;

      if (lane < count) {
        labels[row * classes + j] = label;
        counts[row * classes + j] = true;
        is_label[row * classes + label] = true;
      } else if (lane == count && j < classes && label != -1) {
        simt::report(reporter, ReportKind::ElementRange, 0, label, classes);
      }
      if (ended != 0) return;
    }
  }
};

}  // namespace

void margin_labels_kernel(const Tensor& target, const Tensor& out0, const Tensor& out1,
                          const Tensor& out2) {
  const Tensor labels = target.contiguous();
  for (const Tensor& out : {out0, out1, out2}) out.zero_();
  if (labels.numel() == 0) return;

  per_index("multilabel_margin_loss", 32 * target.size(0),
            MarginLabels{labels.const_data_ptr<int64_t>(), out0.data_ptr<int64_t>(),
                         out1.data_ptr<bool>(), out2.data_ptr<bool>(), target.size(1)});
}

}  // namespace at::native::cuda
