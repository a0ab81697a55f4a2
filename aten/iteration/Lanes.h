#pragma once
// Loops over the 1-d lanes of tensors along one dimension, as softmax, cumsum and sort need them.
#include <algorithm>
#include <initializer_list>

#include "aten/core/Tensor.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

/// The lanes along `dim` of tensors whose other dimensions agree. Threads share the lanes.
class LaneIterator {
 public:
  LaneIterator(int64_t dim, std::initializer_list<const Tensor*> tensors) {
    const Tensor& first = **tensors.begin();
    for (int64_t d = 0; d < first.dim(); ++d) {
      if (d != dim) sizes_.push_back(first.sizes()[d]);
    }
    for (const int64_t size : sizes_) lanes_ *= size;

    for (const Tensor* tensor : tensors) {
      const int64_t itemsize = static_cast<int64_t>(tensor->itemsize());
      DimVector strides;
      for (int64_t d = 0; d < tensor->dim(); ++d) {
        if (d != dim) strides.push_back(tensor->strides()[d] * itemsize);
      }
      operands_.push_back({static_cast<char*>(tensor->data()), strides});
    }
  }

  int64_t lanes() const { return lanes_; }

  /// Calls f(pointers) for each lane; pointers[k] is the first element of the lane in tensor k.
  /// `lane_cost` is the work for one lane, in elements.
  template <typename F>
  void for_each(int64_t lane_cost, const F& f) const {
    const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, lane_cost));
    parallel_for(0, lanes_, grain, [&](int64_t begin, int64_t end) {
      char* pointers[8];
      for (int64_t lane = begin; lane < end; ++lane) {
        find(lane, pointers);
        f(static_cast<char* const*>(pointers));
      }
    });
  }

  /// The same in groups of at most `most` lanes that are neighbours in the last of the other
  /// dimensions: f(pointers, width, steps), where lane w of tensor k begins w * steps[k] bytes
  /// after pointers[k]. Serves lanes whose elements are further apart than the lanes themselves.
  template <typename F>
  void for_each_group(int64_t lane_cost, int64_t most, const F& f) const {
    if (lanes_ == 0) return;

    const int64_t last = sizes_.empty() ? 1 : sizes_.back();
    const int64_t parts = (last + most - 1) / most;
    const int64_t group_cost = std::max<int64_t>(1, lane_cost * std::min(last, most));
    const int64_t grain = std::max<int64_t>(1, 32768 / group_cost);

    int64_t steps[8] = {};
    for (size_t k = 0; k < operands_.size(); ++k)
      steps[k] = sizes_.empty() ? 0 : operands_[k].strides.back();

    parallel_for(0, lanes_ / last * parts, grain, [&](int64_t begin, int64_t end) {
      char* pointers[8];
      for (int64_t group = begin; group < end; ++group) {
        const int64_t first = group % parts * most;
        find(group / parts * last + first, pointers);
        f(static_cast<char* const*>(pointers), std::min(most, last - first),
          static_cast<const int64_t*>(steps));
      }
    });
  }

 private:
  /// The first element of a lane in each tensor.
  void find(int64_t lane, char** pointers) const {
    for (size_t k = 0; k < operands_.size(); ++k) pointers[k] = operands_[k].data;
    for (size_t d = sizes_.size(); d-- > 0;) {
      const int64_t index = lane % sizes_[d];
      lane /= sizes_[d];
      for (size_t k = 0; k < operands_.size(); ++k) pointers[k] += index * operands_[k].strides[d];
    }
  }

  struct Operand {
    char* data;
    DimVector strides;
  };

  DimVector sizes_;
  SmallVector<Operand, 4> operands_;
  int64_t lanes_ = 1;
};

/// Stride of `dim` in elements; 1 for a 0-dim tensor, which counts as one lane of one element.
inline int64_t lane_stride(const Tensor& tensor, int64_t dim) {
  return tensor.dim() == 0 ? 1 : tensor.strides()[dim];
}
inline int64_t lane_size(const Tensor& tensor, int64_t dim) {
  return tensor.dim() == 0 ? 1 : tensor.sizes()[dim];
}

}  // namespace at::native
