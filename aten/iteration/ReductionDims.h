#pragma once
// The dimensions of a reduction, split into those that are kept and those that are reduced.
#include "aten/iteration/TensorIterator.h"

#ifndef CPU_CAPABILITY
#define CPU_CAPABILITY DEFAULT
#endif

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Sizes and byte strides of kept and of reduced dimensions, fastest dimension first.
struct ReductionDims {
  explicit ReductionDims(const TensorIteratorBase& iter) {
    for (int d = 0; d < iter.dim(); ++d) {
      const bool is_reduced = iter.strides(0)[d] == 0 && iter.shape()[d] != 1;
      if (is_reduced) {
        reduced_size.push_back(iter.shape()[d]);
        reduced_stride.push_back(iter.strides(1)[d]);
        reduced *= iter.shape()[d];
      } else {
        kept_size.push_back(iter.shape()[d]);
        kept_stride_out.push_back(iter.strides(0)[d]);
        kept_stride_in.push_back(iter.strides(1)[d]);
        kept *= iter.shape()[d];
      }
    }

    fastest_is_kept = iter.dim() > 1 && (iter.strides(0)[0] != 0 || iter.shape()[0] == 1);
  }

  DimVector kept_size;
  DimVector kept_stride_out;
  DimVector kept_stride_in;
  DimVector reduced_size;
  DimVector reduced_stride;
  int64_t kept = 1;     // number of results
  int64_t reduced = 1;  // number of elements per result
  bool fastest_is_kept = false;
};

/// Byte offset of element `index`, counted along `sizes` with the fastest dimension first.
inline int64_t offset_of(int64_t index, const DimVector& sizes, const DimVector& strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    offset += index % sizes[d] * strides[d];
    index /= sizes[d];
  }
  return offset;
}

/// Walks along the reduced dimensions in runs of the fastest of them: the elements, or rows, of a
/// run are equally far apart. There must be a reduced dimension.
class RowWalk {
 public:
  RowWalk(const ReductionDims& dims, const char* in, int64_t begin)
      : dims_(dims), address_(in + offset_of(begin, dims.reduced_size, dims.reduced_stride)) {
    for (const int64_t size : dims.reduced_size) {
      index_.push_back(begin % size);
      begin /= size;
    }
  }

  int64_t left() const { return dims_.reduced_size[0] - index_[0]; }
  const char* address() const { return address_; }

  /// Goes on by at most left() rows.
  void advance(int64_t rows) {
    index_[0] += rows;
    address_ += rows * dims_.reduced_stride[0];

    // Behind its last element, a dimension starts again and the next one goes on.
    for (size_t d = 0; index_[d] == dims_.reduced_size[d] && d + 1 < index_.size(); ++d) {
      address_ += dims_.reduced_stride[d + 1] - index_[d] * dims_.reduced_stride[d];
      index_[d] = 0;
      ++index_[d + 1];
    }
  }

 private:
  const ReductionDims& dims_;
  const char* address_;
  DimVector index_;
};

}  // namespace CPU_CAPABILITY
}  // namespace at::native
