// The kernels of index, index_put, index_select, index_add, gather and scatter.
#include "aten/iteration/MemoryOverlap.h"
#include "aten/native/cuda/indexing/ElementSums.cuh"
#include "aten/native/cuda/indexing/IndexPut.cuh"
#include "aten/native/shared/NumberBits.h"
#include "aten/ops/to.h"

namespace at::native::cuda {

namespace {

/// The owners of a scatter: see LastWins.
struct ClaimElements {
  Geometry<3> geometry;  // of the result in bytes, the position along the dimension, the index
  IndexSource index;
  int32_t* owners;
  int64_t itemsize;

  SIMT_DEVICE void operator()(int64_t i, simt::Reporter) const {
    int64_t offsets[3];
    geometry.find(i, offsets);
    int64_t found = 0;
    // The loop that writes reports what is out of range.
    if (!index.find(offsets[2], found, simt::Reporter{})) return;
    simt::atomic_max(owners + (offsets[0] + found) / itemsize, static_cast<int32_t>(offsets[1]));
  }
};

Tensor claim_elements(const char* name, const Tensor& out, int64_t dim, const Tensor& positions,
                      const IndexSource& index) {
  const Tensor owners = empty_tensor({span_of(out)}, kInt, out.device());
  C10_CUDA_CHECK(cudaMemsetAsync(owners.data(), 0xFF,
                                 static_cast<size_t>(owners.numel()) * sizeof(int32_t),
                                 c10::cuda::current_stream()));

  const auto itemsize = static_cast<int64_t>(out.itemsize());
  GeometryBuilder<3> builder;
  for (int64_t d = 0; d < positions.dim(); ++d) {
    const bool along = d == dim;
    builder.add(positions.sizes()[d], {along ? 0 : stride_or_zero(out, d) * itemsize, along ? 1 : 0,
                                       positions.strides()[d]});
  }
  const Geometry<3> geometry = builder.build();
  per_index(name, geometry.numel,
            ClaimElements{geometry, index, owners.data_ptr<int32_t>(), itemsize});
  return owners;
}

/// The loop of a scatter, in bytes; without `src` one number is written.
Geometry<4> scatter_loop(const Tensor& out, int64_t dim, const Tensor& index, const Tensor* src) {
  const auto itemsize = static_cast<int64_t>(out.itemsize());
  GeometryBuilder<4> builder;
  for (int64_t d = 0; d < index.dim(); ++d) {
    const bool along = d == dim;
    builder.add(index.sizes()[d], {along ? 0 : stride_or_zero(out, d) * itemsize,
                                   src == nullptr ? 0 : stride_or_zero(*src, d) * itemsize,
                                   index.strides()[d], along ? 1 : 0});
  }
  return builder.build();
}

}  // namespace

Tensor index(const Tensor& self, TensorList indices) {
  const IndexPlan plan = plan_index(self, indices);
  const Tensor result = empty_strided_tensor(plan.result_sizes(), plan.result_strides(),
                                             self.scalar_type(), self.device());
  if (result.numel() == 0) return result;

  const auto itemsize = static_cast<int64_t>(self.itemsize());
  const std::vector<Tensor> dense = dense_indices(plan);
  const Geometry<3> loop = loop_over<3>(plan, result.strides(), itemsize, 1, true, true);
  if (dense.empty()) {
    result.copy_(self);
  } else if (dense.size() == 1) {
    gather_elements("index", loop, result, self, source_of(plan, dense, 0), plan.steps[0]);
  } else {
    const Tensor offsets = place_offsets("index", plan, dense, 1, 0);
    gather_elements("index", loop, result, self, known_offsets(offsets), steps_of(plan));
  }
  return result;
}

void index_put_(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  check_index_put(self, indices, values);
  const Tensor here = values.dim() == 0 ? at::to(values, self.device()) : values;
  const IndexPut put = plan_index_put(self, indices, here);
  if (put.values.numel() == 0) return;

  const std::vector<Tensor> dense = dense_indices(put.plan);
  TORCH_CHECK_INDEX(!dense.empty(), "index_put_(): expected at least one index");
  if (accumulate) {
    has_internal_overlap(self) ? add_elements(put, dense) : add_slices(put, dense);
  } else if (here.numel() == 1 || dense[0].numel() == 1) {
    put_unordered(put, dense);
  } else {
    put_ordered(put, dense);
  }
}

void index_select_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out0) {
  if (out0.numel() == 0) return;

  const Tensor positions = index.contiguous();
  const int64_t d = wrap_dim(dim, self.dim());
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  GeometryBuilder<3> builder;
  for (int64_t k = 0; k < self.dim(); ++k) {
    const bool along = k == d;
    builder.add(out0.sizes()[k], {out0.strides()[k] * itemsize,
                                  along ? 0 : self.strides()[k] * itemsize, along ? 1 : 0});
  }

  gather_elements("index_select", builder.sorted(), out0, self,
                  along_dimension(self, d, positions, itemsize, ReportKind::IndexRange),
                  lane_stride(self, d) * itemsize);
}

void index_add_kernel(const Tensor& self, int64_t dimension, const Tensor& index,
                      const Tensor& source, const Scalar& alpha, const Tensor& out0) {
  if (!out0.is_same(self)) out0.copy_(self);
  if (source.numel() == 0) return;

  const int64_t dim = wrap_dim(dimension, self.dim());
  const Tensor positions = index.contiguous();
  const int64_t count = positions.numel();
  const int64_t absent = span_of(out0);

  // As on the CPU, vectors raise IndexError and tensors of more dimensions RuntimeError.
  const Tensor keys = empty_tensor({count}, kLong, self.device());
  PlaceOffsets places{};
  places.indices[0] = along_dimension(
      out0, dim, positions, 1, self.dim() > 1 ? ReportKind::ElementRange : ReportKind::IndexRange);
  places.count = 1;
  places.unit = 1;
  places.absent = absent;
  places.out = keys.data_ptr<int64_t>();
  per_index("index_add", count, places);

  GeometryBuilder<2> slice;
  for (int64_t d = 0; d < out0.dim(); ++d) {
    if (d != dim) slice.add(out0.sizes()[d], {out0.strides()[d], stride_or_zero(source, d)});
  }
  add_updates("index_add", ordered("index_add", keys, absent),
              {slice.build(), equal_steps(count, stride_or_zero(source, dim))}, out0, source,
              alpha);
}

void gather_kernel(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/,
                   const Tensor& out0) {
  if (out0.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  GeometryBuilder<3> builder;
  for (int64_t k = 0; k < index.dim(); ++k)
    builder.add(index.sizes()[k],
                {stride_or_zero(out0, k) * itemsize,
                 k == d ? 0 : stride_or_zero(self, k) * itemsize, index.strides()[k]});

  gather_elements("gather", builder.sorted(), out0, self,
                  along_dimension(self, d, index, itemsize, ReportKind::ElementRange), itemsize);
}

void scatter_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                    const Tensor& out0) {
  if (!out0.is_same(self)) out0.copy_(self);
  if (index.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  const IndexSource source = scatter_index(out0, d, index);
  const auto itemsize = static_cast<int64_t>(out0.itemsize());
  Tensor owners;
  LastWins last;
  if (lane_size(index, d) > 1) {
    TORCH_CHECK(lane_size(index, d) <= INT32_MAX, "scatter(): more than 2^31 indices along dim");
    owners = claim_elements("scatter", out0, d, index, source);
    last.owners = owners.data_ptr<int32_t>();
    last.itemsize = itemsize;
  }
  put_elements("scatter", scatter_loop(out0, d, index, &src), out0, src, source, itemsize, last,
               kNothingAbsent);
}

void scatter_value_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                          const Tensor& out0) {
  if (!out0.is_same(self)) out0.copy_(self);
  if (index.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  const Geometry<4> loop = scatter_loop(out0, d, index, nullptr);
  with_bits_of(value, self.scalar_type(), [&](auto fill) {
    using T = decltype(fill);
    per_index("scatter", loop.numel,
              PutElements<T>{loop,
                             static_cast<char*>(out0.data()),
                             nullptr,
                             scatter_index(out0, d, index),
                             {},
                             kNothingAbsent,
                             fill});
  });
}

void scatter_add_kernel(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                        const Tensor& out0) {
  if (!out0.is_same(self)) out0.copy_(self);
  if (index.numel() == 0) return;

  const int64_t d = wrap_dim(dim, self.dim());
  if (adds_in_any_order(out0.scalar_type()))
    return add_elements_in_any_order("scatter_add", out0, d, index, src);

  const OrderedUpdates updates = element_updates("scatter_add", out0, d, index);
  AT_DISPATCH_ALL_AND_BOOL(out0.scalar_type(), "scatter_add", [&] {
    apply_elements<scalar_t>("scatter_add", updates, out0, index, src,
                             multiple_of<scalar_t>(Scalar(1)));
  });
}

}  // namespace at::native::cuda
