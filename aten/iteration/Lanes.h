#pragma once
// Loops over the 1-d lanes of tensors along one dimension, as softmax, cumsum and sort need them.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "aten/core/Tensor.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

/// The lanes along `dim` of tensors whose other dimensions agree. Threads share the lanes. Of the
/// other dimensions, those of size 1 are left out, and those that continue each other are one.
class LaneIterator {
 public:
  LaneIterator(int64_t dim, std::initializer_list<const Tensor*> tensors) {
    for (const Tensor* tensor : tensors)
      operands_.push_back({static_cast<char*>(tensor->data()), {}});

    const Tensor& first = **tensors.begin();
    for (int64_t d = 0; d < first.dim(); ++d) {
      if (d != dim && first.sizes()[d] != 1) add_dimension(d, tensors);
    }
    if (sizes_.empty()) add_single_lane();
    for (const int64_t size : sizes_) lanes_ *= size;
  }

  int64_t lanes() const { return lanes_; }

  /// The number of lanes that follow each other in the last of the other dimensions.
  int64_t neighbours() const { return sizes_.back(); }

  /// The bytes from one lane of tensor k to the next in the last of the other dimensions.
  int64_t step(size_t k) const { return operands_[k].strides.back(); }

  /// Moves the longest of the other dimensions to the end, where groups are formed, unless that
  /// one is long enough.
  LaneIterator& group_along_longest() {
    constexpr int64_t kLongEnough = 16;
    if (sizes_.back() >= kLongEnough) return *this;

    const size_t longest = std::max_element(sizes_.begin(), sizes_.end()) - sizes_.begin();
    std::swap(sizes_[longest], sizes_.back());
    for (Operand& operand : operands_) std::swap(operand.strides[longest], operand.strides.back());
    return *this;
  }

  /// Calls f(pointers) for each lane; pointers[k] is the first element of the lane in tensor k.
  /// `lane_cost` is the work for one lane, in elements.
  template <typename F>
  void for_each(int64_t lane_cost, const F& f) const {
    const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, lane_cost));
    const int64_t last = sizes_.back();

    parallel_for(0, lanes_, grain, [&](int64_t begin, int64_t end) {
      char* pointers[8];
      while (begin < end) {
        find(begin, pointers);
        const int64_t run = std::min(last - begin % last, end - begin);
        for (int64_t lane = 0; lane < run; ++lane) {
          f(static_cast<char* const*>(pointers));
          for (size_t k = 0; k < operands_.size(); ++k) pointers[k] += step(k);
        }
        begin += run;
      }
    });
  }

  /// The same in groups of at most `most` lanes that are neighbours in the last of the other
  /// dimensions: f(pointers, width, steps), where lane w of tensor k begins w * steps[k] bytes
  /// after pointers[k]. Serves short lanes, and lanes whose elements are further apart than the
  /// lanes themselves.
  template <typename F>
  void for_each_group(int64_t lane_cost, int64_t most, const F& f) const {
    if (lanes_ == 0) return;

    const int64_t last = sizes_.back();
    const int64_t parts = (last + most - 1) / most;
    const int64_t group_cost = std::max<int64_t>(1, lane_cost * std::min(last, most));
    const int64_t grain = std::max<int64_t>(1, 32768 / group_cost);

    int64_t steps[8] = {};
    for (size_t k = 0; k < operands_.size(); ++k) steps[k] = step(k);

    parallel_for(0, lanes_ / last * parts, grain, [&](int64_t begin, int64_t end) {
      char* pointers[8];
      while (begin < end) {
        const int64_t part = begin % parts;
        const int64_t run = std::min(parts - part, end - begin);
        find(begin / parts * last + part * most, pointers);

        for (int64_t group = part; group < part + run; ++group) {
          f(static_cast<char* const*>(pointers), std::min(most, last - group * most),
            static_cast<const int64_t*>(steps));
          for (size_t k = 0; k < operands_.size(); ++k) pointers[k] += most * steps[k];
        }
        begin += run;
      }
    });
  }

 private:
  void add_dimension(int64_t d, std::initializer_list<const Tensor*> tensors) {
    const int64_t size = (*tensors.begin())->sizes()[d];
    DimVector strides;
    for (const Tensor* tensor : tensors)
      strides.push_back(tensor->strides()[d] * static_cast<int64_t>(tensor->itemsize()));

    bool continues = !sizes_.empty();
    for (size_t k = 0; continues && k < operands_.size(); ++k)
      continues = step(k) == size * strides[k];

    if (continues) {
      sizes_.back() *= size;
      for (size_t k = 0; k < operands_.size(); ++k) operands_[k].strides.back() = strides[k];
    } else {
      sizes_.push_back(size);
      for (size_t k = 0; k < operands_.size(); ++k) operands_[k].strides.push_back(strides[k]);
    }
  }

  /// The only lane of tensors without other dimensions.
  void add_single_lane() {
    sizes_.push_back(1);
    for (Operand& operand : operands_) operand.strides.push_back(0);
  }

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
