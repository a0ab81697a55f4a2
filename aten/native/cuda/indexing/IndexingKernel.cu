// The kernels of index, index_put, index_select, index_add, gather and scatter.
#include <algorithm>

#include "aten/iteration/MemoryOverlap.h"
#include "aten/native/cuda/indexing/ElementUpdates.cuh"
#include "aten/native/functors/Accumulate.h"
#include "aten/native/shared/AdvancedIndexing.h"
#include "aten/native/shared/NumberBits.h"
#include "aten/ops/expand.h"
#include "aten/ops/to.h"

namespace at::native::cuda {

namespace {

constexpr int64_t kNothingAbsent = -1;

// --- The places that an advanced index names ---

/// Writes the offset of each place, of several indices that lie in dense memory.
struct PlaceOffsets {
  IndexSource indices[Geometry<1>::kMaxDims];
  int count;
  int64_t unit;    // bytes that offsets are counted in
  int64_t absent;  // the offset of a place that does not exist
  int64_t* out;

  SIMT_DEVICE void operator()(int64_t i, simt::Reporter reporter) const {
    int64_t total = 0;
    bool exists = true;
    for (int k = 0; k < count; ++k) {
      int64_t offset = 0;
      exists = indices[k].find(i, offset, reporter) && exists;
      total += offset;
    }
    out[i] = exists ? total / unit : absent;
  }
};

/// Dense indices on the device of self, each of the shape of the places.
std::vector<Tensor> dense_indices(const IndexPlan& plan) {
  std::vector<Tensor> result;
  for (const Tensor& index : plan.indices)
    result.push_back(
        at::expand(at::to(index, plan.source.device(), kLong), plan.index_sizes).contiguous());
  return result;
}

IndexSource source_of(const IndexPlan& plan, const std::vector<Tensor>& indices, size_t k) {
  IndexSource source;
  source.data = indices[k].data();
  source.extent = plan.extents[k];
  source.step = plan.steps[k];
  source.wraps = true;
  return source;
}

/// The offsets of all places in units of `unit` bytes.
Tensor place_offsets(const char* name, const IndexPlan& plan, const std::vector<Tensor>& indices,
                     int64_t unit, int64_t absent) {
  const Tensor result = empty_tensor({indices[0].numel()}, kLong, plan.source.device());
  PlaceOffsets places{};
  places.count = static_cast<int>(indices.size());
  places.unit = unit;
  places.absent = absent;
  places.out = result.data_ptr<int64_t>();
  TORCH_CHECK(indices.size() <= std::size(places.indices), name, ": more than ",
              std::size(places.indices), " indices");
  for (size_t k = 0; k < indices.size(); ++k) places.indices[k] = source_of(plan, indices, k);

  per_index(name, result.numel(), places);
  return result;
}

int64_t numel_of(IntArrayRef sizes) {
  int64_t result = 1;
  for (const int64_t size : sizes) result *= size;
  return result;
}

/// The loop over a result of the plan: the dimensions before the index, the number of the place,
/// and those after. `strides` are of the tensor that has the result's shape; those of the places
/// are left out where `place_stride` is false. In units of `unit` bytes.
template <int K>
Geometry<K> loop_over(const IndexPlan& plan, IntArrayRef strides, int64_t itemsize, int64_t unit,
                      bool result_first, bool place_stride) {
  GeometryBuilder<K> builder;
  const auto add = [&](int64_t size, int64_t result, int64_t indexed, int64_t place) {
    if constexpr (K == 3) {
      result_first ? builder.add(size, {result, indexed, place})
                   : builder.add(size, {indexed, result, place});
    } else {
      builder.add(size, {indexed, result, place, 0});
    }
  };

  size_t d = 0;
  for (size_t k = 0; k < plan.before_sizes.size(); ++k, ++d)
    add(plan.before_sizes[k], strides[d] * itemsize / unit, plan.before_strides[k] / unit, 0);

  // Places are numbered in the order of the index's dimensions.
  int64_t place = numel_of(plan.index_sizes);
  for (size_t k = 0; k < plan.index_sizes.size(); ++k, ++d) {
    place /= std::max<int64_t>(plan.index_sizes[k], 1);
    add(plan.index_sizes[k], place_stride ? strides[d] * itemsize / unit : 0, 0, place);
  }

  for (size_t k = 0; k < plan.after_sizes.size(); ++k, ++d)
    add(plan.after_sizes[k], strides[d] * itemsize / unit, plan.after_strides[k] / unit, 0);
  return result_first ? builder.sorted() : builder.build();
}

/// What the addresses of all places are multiples of, as the sum of its bits.
int64_t steps_of(const IndexPlan& plan) {
  int64_t all = 0;
  for (const int64_t step : plan.steps) all |= step;
  return all;
}

IndexSource known_offsets(const Tensor& offsets, int64_t step = 1) {
  IndexSource source;
  source.data = offsets.data();
  source.extent = IndexSource::kUnchecked;
  source.step = step;
  return source;
}

// --- Moving elements ---

// `steps`: what the offsets of indices are multiples of, as the sum of its bits.

void gather_elements(const char* name, Geometry<3> geometry, const Tensor& out, const Tensor& in,
                     const IndexSource& index, int64_t steps) {
  char* to = static_cast<char*>(out.data());
  const char* from = static_cast<const char*>(in.data());
  const int64_t bytes = widen(geometry, static_cast<int64_t>(in.itemsize()), to, from, steps);
  with_moved_type(bytes, [&](auto element) {
    using Loop = GatherElements<decltype(element)>;
    per_index(name, geometry.numel, Loop{geometry, to, from, index});
  });
}

void put_elements(const char* name, Geometry<4> geometry, const Tensor& out, const Tensor& in,
                  const IndexSource& index, int64_t steps, const LastWins& last, int64_t absent) {
  char* to = static_cast<char*>(out.data());
  const char* from = static_cast<const char*>(in.data());
  const auto itemsize = static_cast<int64_t>(in.itemsize());
  const int64_t bytes = last.owners != nullptr
                            ? itemsize
                            : widen(geometry, itemsize, to, from, steps | last.source_step);
  with_moved_type(bytes, [&](auto element) {
    using T = decltype(element);
    per_index(name, geometry.numel, PutElements<T>{geometry, to, from, index, last, absent, T(0)});
  });
}

// --- gather, scatter and index_select: one index for each element, or each slice ---

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

template <class T>
AddMultiple<T> multiple_of(const Scalar& factor) {
  using acc_t = typename AddMultiple<T>::acc_t;
  const auto value = factor.to<acc_t>();
  return {value, !(value == acc_t(1))};
}

void add_updates(const char* name, const OrderedUpdates& updates, const UpdatePlan& plan,
                 const Tensor& out, const Tensor& values, const Scalar& factor) {
  AT_DISPATCH_ALL_AND_BOOL(out.scalar_type(), name, [&] {
    apply_updates<scalar_t>(name, updates, plan, out, values, multiple_of<scalar_t>(factor));
  });
}

// --- index_put ---

/// Writes values in any order: no two of them go to the same place, or all are the same.
void put_unordered(const IndexPut& put, const std::vector<Tensor>& indices) {
  const IndexPlan& plan = put.plan;
  const auto itemsize = static_cast<int64_t>(plan.source.itemsize());
  const Geometry<4> loop = loop_over<4>(plan, put.values.strides(), itemsize, 1, false, true);

  if (indices.size() == 1)
    return put_elements("index_put_", loop, plan.source, put.values, source_of(plan, indices, 0),
                        plan.steps[0], {}, kNothingAbsent);

  const Tensor offsets = place_offsets("index_put_", plan, indices, 1, kNothingAbsent);
  put_elements("index_put_", loop, plan.source, put.values, known_offsets(offsets), steps_of(plan),
               {}, kNothingAbsent);
}

/// Of several values for one place, the last one is written.
void put_ordered(const IndexPut& put, const std::vector<Tensor>& indices) {
  const IndexPlan& plan = put.plan;
  const auto itemsize = static_cast<int64_t>(plan.source.itemsize());
  const int64_t absent = span_of(plan.source);
  const OrderedUpdates updates =
      ordered("index_put_", place_offsets("index_put_", plan, indices, itemsize, absent), absent);

  const Tensor values = put.values.contiguous();
  LastWins last;
  last.order = updates.order.data_ptr<int64_t>();
  last.count = updates.count();
  last.source_step = numel_of(plan.after_sizes) * itemsize;
  put_elements("index_put_", loop_over<4>(plan, values.strides(), itemsize, 1, false, false),
               plan.source, values, known_offsets(updates.keys, itemsize), steps_of(plan), last,
               absent * itemsize);
}

/// The plan of updates whose slices are those before and after the places.
void add_slices(const IndexPut& put, const std::vector<Tensor>& indices) {
  const IndexPlan& plan = put.plan;
  const auto itemsize = static_cast<int64_t>(plan.source.itemsize());
  const int64_t absent = span_of(plan.source);
  const OrderedUpdates updates =
      ordered("index_put_", place_offsets("index_put_", plan, indices, itemsize, absent), absent);

  const Tensor values = put.values.contiguous();
  const UpdatePlan slices{loop_over<3>(plan, values.strides(), itemsize, itemsize, false, false),
                          equal_steps(updates.count(), numel_of(plan.after_sizes))};
  add_updates("index_put_", updates, slices, plan.source, values, Scalar(1));
}

/// The same where elements of self share memory: each element is an update of its own.
void add_elements(const IndexPut& put, const std::vector<Tensor>& indices) {
  const IndexPlan& plan = put.plan;
  const auto itemsize = static_cast<int64_t>(plan.source.itemsize());
  const int64_t absent = span_of(plan.source);
  const Tensor offsets = place_offsets("index_put_", plan, indices, 1, absent * itemsize);
  const Tensor values = put.values.contiguous();

  const Geometry<3> loop = loop_over<3>(plan, values.strides(), itemsize, 1, false, true);
  const Tensor keys = empty_tensor({values.numel()}, kLong, values.device());
  GeometryBuilder<2> builder;
  for (int d = loop.dims; d-- > 0;)
    builder.add(loop.sizes[d], {loop.strides[2][d], loop.strides[0][d]});
  per_index("index_put_", keys.numel(),
            ElementKeys{builder.build(), known_offsets(offsets), itemsize, absent,
                        keys.data_ptr<int64_t>()});

  add_updates("index_put_", ordered("index_put_", keys, absent),
              {single_elements(keys.numel()), equal_steps(keys.numel(), 1)}, plan.source, values,
              Scalar(1));
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
                  along_dimension(positions, lane_size(self, d), lane_stride(self, d) * itemsize,
                                  ReportKind::IndexRange),
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
  places.indices[0] =
      along_dimension(positions, lane_size(out0, dim), lane_stride(out0, dim),
                      self.dim() > 1 ? ReportKind::ElementRange : ReportKind::IndexRange);
  places.count = 1;
  places.unit = 1;
  places.absent = absent;
  places.out = keys.data_ptr<int64_t>();
  per_index("index_add", count, places);

  GeometryBuilder<3> builder;
  for (int64_t d = 0; d < out0.dim(); ++d) {
    if (d == dim) {
      builder.add(count, {0, 0, 1});
    } else {
      builder.add(out0.sizes()[d], {out0.strides()[d], stride_or_zero(source, d), 0});
    }
  }
  add_updates("index_add", ordered("index_add", keys, absent),
              {builder.build(), equal_steps(count, stride_or_zero(source, dim))}, out0, source,
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
                  along_dimension(index, lane_size(self, d), lane_stride(self, d) * itemsize,
                                  ReportKind::ElementRange),
                  itemsize);
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

  const OrderedUpdates updates =
      element_updates("scatter_add", out0, wrap_dim(dim, self.dim()), index);
  AT_DISPATCH_ALL_AND_BOOL(out0.scalar_type(), "scatter_add", [&] {
    apply_elements<scalar_t>("scatter_add", updates, out0, index, src,
                             multiple_of<scalar_t>(Scalar(1)));
  });
}

}  // namespace at::native::cuda
