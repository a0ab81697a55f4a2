// Adding, or otherwise reducing, values that indices send to one element: in the order of the
// indices, so that two runs give the same bits.
#pragma once
#include <cstdint>

#include "aten/core/Tensor.h"
#include "aten/native/cuda/Geometry.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/Sort.h"

// Note [Ordered updates]
// An update sends one value, or a slice of values, to the element offset that is its key. Keys are
// sorted with the numbers of their updates, stably: updates of one element become neighbours, in
// the order of the indices. One thread per element of a slice goes through the neighbours. Indices
// that are out of range have a key beyond all others, for which nothing is done.

namespace at::native::cuda {

/// Sorted keys, and the number of the update each belongs to. Both are int64 tensors.
struct OrderedUpdates {
  Tensor keys;
  Tensor order;
  int64_t absent = 0;  // the key of what is out of range

  int64_t count() const { return keys.numel(); }
};

/// Sorts keys in [0, absent].
inline OrderedUpdates ordered(const char* name, const Tensor& keys, int64_t absent) {
  const int64_t count = keys.numel();
  OrderedUpdates result{empty_tensor({count}, kLong, keys.device()),
                        empty_tensor({count}, kLong, keys.device()), absent};
  sort_indices(name, keys.data_ptr<int64_t>(), count, absent + 1, result.keys.data_ptr<int64_t>(),
               result.order.data_ptr<int64_t>());
  return result;
}

/// Note [Ordered updates]. Op computes in acc_t: op(accumulated, value).
template <class T, class Op>
struct ApplyUpdates {
  Geometry<3> geometry;   // of out, values and the number of the sorted update; in elements
  Geometry<1> values_of;  // the offset of an update's first value
  T* out;
  const T* values;
  const int64_t* keys;
  const int64_t* order;
  int64_t count;
  int64_t absent;
  Op op;

  SIMT_DEVICE void operator()(int64_t i) const {
    int64_t offsets[3];
    geometry.find(i, offsets);
    int64_t slot = offsets[2];
    const int64_t key = keys[slot];
    if (key == absent || (slot > 0 && keys[slot - 1] == key)) return;

    T& target = out[offsets[0] + key];
    auto result = static_cast<typename Op::acc_t>(target);
    for (; slot < count && keys[slot] == key; ++slot) {
      int64_t from[1];
      values_of.find(order[slot], from);
      result = op(result, values[offsets[1] + from[0]]);
    }
    target = static_cast<T>(result);
  }
};

/// What the updates are to be applied to. `slice` has one dimension for the number of the update,
/// along which out and values have stride 0.
struct UpdatePlan {
  Geometry<3> slice;
  Geometry<1> values_of;
};

template <class T, class Op>
void apply_updates(const char* name, const OrderedUpdates& updates, const UpdatePlan& plan,
                   const Tensor& out, const Tensor& values, const Op& op) {
  per_index(name, plan.slice.numel,
            ApplyUpdates<T, Op>{plan.slice, plan.values_of, out.data_ptr<T>(), values.data_ptr<T>(),
                                updates.keys.data_ptr<int64_t>(), updates.order.data_ptr<int64_t>(),
                                updates.count(), updates.absent, op});
}

/// Elements between the first and the last of a tensor, both included.
inline int64_t span_of(const Tensor& tensor) {
  int64_t last = 0;
  for (int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.sizes()[d] - 1) * tensor.strides()[d];
  return tensor.numel() == 0 ? 0 : last + 1;
}

}  // namespace at::native::cuda
