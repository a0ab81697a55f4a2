// The kernel of scatter_reduce: reduces the elements of src that an index sends to one place.
#include "aten/native/declarations/cpu/indexing/ScatterReduceKernel.h"
#include "aten/Dispatch.h"
#include "aten/iteration/Lanes.h"
#include "aten/native/functors/Accumulate.h"
#include "aten/native/shared/ScatterChecks.h"

namespace at::native {

namespace {

/// Checks all indices before the first element is written, so that a failure leaves self unchanged.
void check_positions(const Tensor& positions, int64_t dim, int64_t extent) {
  const Tensor dense = positions.contiguous();
  const int64_t* position = dense.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < dense.numel(); ++i) {
    TORCH_CHECK(position[i] >= 0 && position[i] < extent, "scatter(): index ", position[i],
                " is out of bounds for dimension ", dim, " with size ", extent);
  }
}

/// Computes target = reduce(target, element of src) for every index, lane by lane, in the order of
/// the indices.
template <typename T, typename Reduce>
void reduce_lanes(const Tensor& self, int64_t dim, const Tensor& positions, const Tensor& src,
                  const Reduce& reduce) {
  const int64_t count = lane_size(positions, dim);
  const int64_t self_stride = lane_stride(self, dim);
  const int64_t src_stride = lane_stride(src, dim);
  const int64_t index_stride = lane_stride(positions, dim);

  LaneIterator(dim, {&positions, &self, &src}).for_each(count, [&](char* const* data) {
    const auto* position = reinterpret_cast<const int64_t*>(data[0]);
    T* target = reinterpret_cast<T*>(data[1]);
    const T* source = reinterpret_cast<const T*>(data[2]);
    for (int64_t i = 0; i < count; ++i) {
      T& element = target[position[i * index_stride] * self_stride];
      element = static_cast<T>(reduce(element, source[i * src_stride]));
    }
  });
}

}  // namespace

void scatter_reduce_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           std::string_view reduce) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_scatter_sizes(self, d, index, src);
  if (index.numel() == 0) return;

  const Tensor positions = index.to(kLong);
  check_positions(positions, d, lane_size(self, d));

  if (reduce == "amax" || reduce == "amin") {
    AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), "scatter_reduce", [&] {
      reduce_lanes<scalar_t>(self, d, positions, src, TakeExtremum<scalar_t>{reduce == "amax"});
    });
    return;
  }

  AT_DISPATCH_ALL_AND_BOOL(self.scalar_type(), "scatter_reduce", [&] {
    if (reduce == "sum") {
      reduce_lanes<scalar_t>(self, d, positions, src,
                             [](scalar_t a, scalar_t b) { return vec::wrapping_sum(a, b); });
    } else {
      reduce_lanes<scalar_t>(self, d, positions, src, Multiply<scalar_t>());
    }
  });
}

}  // namespace at::native
