// The ways in which index_put_ writes or adds values.
#pragma once
#include <vector>

#include "aten/native/cuda/indexing/ElementUpdates.cuh"
#include "aten/native/cuda/indexing/IndexPlaces.cuh"
#include "aten/native/functors/Accumulate.h"

namespace at::native::cuda {

template <class T>
AddMultiple<T> multiple_of(const Scalar& factor) {
  using acc_t = typename AddMultiple<T>::acc_t;
  const auto value = factor.to<acc_t>();
  return {value, !(value == acc_t(1))};
}

inline void add_updates(const char* name, const OrderedUpdates& updates, const UpdatePlan& plan,
                        const Tensor& out, const Tensor& values, const Scalar& factor) {
  AT_DISPATCH_ALL_AND_BOOL(out.scalar_type(), name, [&] {
    apply_updates<scalar_t>(name, updates, plan, out, values, multiple_of<scalar_t>(factor));
  });
}

/// Writes values in any order: no two of them go to the same place, or all are the same.
inline void put_unordered(const IndexPut& put, const std::vector<Tensor>& indices) {
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
inline void put_ordered(const IndexPut& put, const std::vector<Tensor>& indices) {
  const IndexPlan& plan = put.plan;
  const auto itemsize = static_cast<int64_t>(plan.source.itemsize());
  const int64_t absent = span_of(plan.source);
  const OrderedUpdates updates =
      ordered("index_put_", place_offsets("index_put_", plan, indices, itemsize, absent), absent);

  const Tensor values = put.values.contiguous();
  LastWins last;
  last.order = updates.order.data_ptr<int64_t>();
  last.count = updates.count();
  last.source_step = product_of(plan.after_sizes) * itemsize;
  put_elements("index_put_", loop_over<4>(plan, values.strides(), itemsize, 1, false, false),
               plan.source, values, known_offsets(updates.keys, itemsize), steps_of(plan), last,
               absent * itemsize);
}

/// The dimensions before and after the places, of self and of the values.
inline Geometry<2> slice_of(const IndexPlan& plan, IntArrayRef strides, int64_t itemsize) {
  GeometryBuilder<2> builder;
  for (size_t k = 0; k < plan.before_sizes.size(); ++k)
    builder.add(plan.before_sizes[k], {plan.before_strides[k] / itemsize, strides[k]});

  const size_t after = plan.before_sizes.size() + plan.index_sizes.size();
  for (size_t k = 0; k < plan.after_sizes.size(); ++k)
    builder.add(plan.after_sizes[k], {plan.after_strides[k] / itemsize, strides[after + k]});
  return builder.build();
}

/// Adds slices, whose dimensions are those before and after the places.
inline void add_slices(const IndexPut& put, const std::vector<Tensor>& indices) {
  const IndexPlan& plan = put.plan;
  const auto itemsize = static_cast<int64_t>(plan.source.itemsize());
  const int64_t absent = span_of(plan.source);
  const OrderedUpdates updates =
      ordered("index_put_", place_offsets("index_put_", plan, indices, itemsize, absent), absent);

  const Tensor values = put.values.contiguous();
  const UpdatePlan slices{slice_of(plan, values.strides(), itemsize),
                          equal_steps(updates.count(), product_of(plan.after_sizes))};
  add_updates("index_put_", updates, slices, plan.source, values, Scalar(1));
}

/// The same where elements of self share memory: each element is an update of its own.
inline void add_elements(const IndexPut& put, const std::vector<Tensor>& indices) {
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

  add_updates("index_put_", ordered("index_put_", keys, absent), {{}, equal_steps(keys.numel(), 1)},
              plan.source, values, Scalar(1));
}

}  // namespace at::native::cuda
