// Adding, or otherwise reducing, values that indices send to one element: in the order of the
// indices, so that two runs give the same bits.
#pragma once
#include <cstdint>

#include "aten/core/Tensor.h"
#include "aten/native/cuda/Geometry.h"
#include "aten/native/cuda/PerIndex.cuh"
#include "aten/native/cuda/Sort.h"
#include "aten/native/cuda/WideDivisor.h"

// Note [Ordered updates]
// An update sends one value, or a slice of values, to the element offset that is its key. Keys are
// sorted with the numbers of their updates, stably: updates of one element become neighbours, a
// run, in the order of the indices. Indices that are out of range have a key beyond all others, for
// which nothing is done.
//
// The sorted updates are divided into windows of 128. A thread per element of a slice applies a run
// inside of a window to its element. Of runs that cross windows, it combines the part in each
// window: a window has one part at most of a run that began before it, and one of a run that goes
// on behind it. These parts are updates of the same keys, for which the same is done again. So no
// thread goes through more than 128 updates, however many an element gets, and the order of the
// operations depends on the keys only.

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

/// What the updates are to be applied to.
struct UpdatePlan {
  Geometry<2> slice;      // of out and values, in elements
  Geometry<1> values_of;  // the offset of an update's first value
};

inline constexpr int64_t kUpdateWindow = 128;

/// The values of updates as they were given.
template <class T, class Op>
struct GivenValues {
  using acc_t = typename Op::acc_t;

  const T* values;
  const int64_t* order;
  Geometry<1> values_of;
  Op op;

  SIMT_DEVICE bool exists(int64_t) const { return true; }
  SIMT_DEVICE acc_t first(int64_t slot, int64_t, int64_t offset) const {
    return op.first(value(slot, offset));
  }
  SIMT_DEVICE acc_t next(acc_t before, int64_t slot, int64_t, int64_t offset) const {
    return op(before, value(slot, offset));
  }

 private:
  SIMT_DEVICE T value(int64_t slot, int64_t offset) const {
    int64_t from[1];
    values_of.find(order[slot], from);
    return values[offset + from[0]];
  }
};

/// Combined parts of runs: two for each window, of which not all exist.
template <class Op>
struct RunParts {
  using acc_t = typename Op::acc_t;

  acc_t* values;  // slice after slice
  int64_t* keys;
  bool* present;
  int64_t width;  // elements of a slice
  Op op;

  SIMT_DEVICE bool exists(int64_t slot) const { return present[slot]; }
  SIMT_DEVICE acc_t first(int64_t slot, int64_t element, int64_t) const {
    return values[slot * width + element];
  }
  SIMT_DEVICE acc_t next(acc_t before, int64_t slot, int64_t element, int64_t) const {
    return op.combine(before, values[slot * width + element]);
  }
  SIMT_DEVICE void put(int64_t slot, int64_t element, acc_t value) const {
    values[slot * width + element] = value;
    if (element == 0) present[slot] = true;
  }
};

/// Gives the parts of each window the keys of its first and its last update, so that they are in
/// order whether they exist or not.
struct PrepareParts {
  int64_t* part_keys;
  bool* present;
  const int64_t* keys;
  int64_t count;

  SIMT_DEVICE void operator()(int64_t slot) const {
    const int64_t begin = slot / 2 * kUpdateWindow;
    const int64_t end = begin + kUpdateWindow < count ? begin + kUpdateWindow : count;
    part_keys[slot] = keys[slot % 2 == 0 ? begin : end - 1];
    present[slot] = false;
  }
};

/// One round of Note [Ordered updates]; Op computes in acc_t.
template <class T, class Source, class Parts>
struct ApplyUpdates {
  Geometry<2> slice;
  WideDivisor width;  // elements of a slice
  T* out;
  const int64_t* keys;
  int64_t count;
  int64_t absent;
  Source source;
  Parts parts;  // of the next round

  SIMT_DEVICE void operator()(int64_t i) const {
    const int64_t slot = width.quotient(i);
    const int64_t element = i - slot * width.value();
    const int64_t key = keys[slot];
    const bool begins = slot == 0 || keys[slot - 1] != key;
    if (key == absent || !(begins || slot % kUpdateWindow == 0)) return;

    const int64_t window = slot / kUpdateWindow;
    const int64_t window_end = (window + 1) * kUpdateWindow;
    int64_t end = slot + 1;
    while (end < count && end < window_end && keys[end] == key) ++end;
    const bool ends = end == count || keys[end] != key;

    int64_t offsets[2];
    slice.find(element, offsets);
    if (begins && ends) return apply(slot, end, element, offsets[1], out[offsets[0] + key]);

    int64_t from = slot;
    while (from < end && !source.exists(from)) ++from;
    if (from == end) return;
    auto result = source.first(from, element, offsets[1]);
    result = combined(result, from + 1, end, element, offsets[1]);
    parts.put(2 * window + (begins ? 1 : 0), element, result);
  }

 private:
  using acc_t = typename Source::acc_t;

  SIMT_DEVICE acc_t combined(acc_t result, int64_t slot, int64_t end, int64_t element,
                             int64_t offset) const {
    for (; slot < end; ++slot) {
      if (source.exists(slot)) result = source.next(result, slot, element, offset);
    }
    return result;
  }

  SIMT_DEVICE void apply(int64_t slot, int64_t end, int64_t element, int64_t offset,
                         T& target) const {
    target = static_cast<T>(combined(static_cast<acc_t>(target), slot, end, element, offset));
  }
};

/// Memory for the parts that a round leaves to the next one.
template <class Op>
struct PartMemory {
  Tensor values;
  Tensor keys;
  Tensor present;

  PartMemory(int64_t count, int64_t width, c10::Device device)
      : values(empty_tensor({count * width * static_cast<int64_t>(sizeof(typename Op::acc_t))},
                            kByte, device)),
        keys(empty_tensor({count}, kLong, device)),
        present(empty_tensor({count}, kBool, device)) {}

  RunParts<Op> parts(int64_t width, const Op& op) const {
    return {static_cast<typename Op::acc_t*>(values.data()), keys.data_ptr<int64_t>(),
            present.data_ptr<bool>(), width, op};
  }
};

/// Applies `count` sorted updates, and in further rounds what they leave.
template <class T, class Op, class Source>
void apply_round(const char* name, const UpdatePlan& plan, const Tensor& out, const int64_t* keys,
                 int64_t count, int64_t absent, const Source& source, const Op& op) {
  const int64_t width = plan.slice.numel;
  const int64_t windows = (count + kUpdateWindow - 1) / kUpdateWindow;
  const int64_t left = windows > 1 ? 2 * windows : 0;  // a run in a single window is complete

  const PartMemory<Op> memory(left, width, out.device());
  const RunParts<Op> parts = memory.parts(width, op);
  per_index(name, left, PrepareParts{parts.keys, parts.present, keys, count});
  per_index(name, count * width,
            ApplyUpdates<T, Source, RunParts<Op>>{plan.slice, WideDivisor(width), out.data_ptr<T>(),
                                                  keys, count, absent, source, parts});
  if (left > 0) apply_round<T>(name, plan, out, parts.keys, left, absent, parts, op);
}

template <class T, class Op>
void apply_updates(const char* name, const OrderedUpdates& updates, const UpdatePlan& plan,
                   const Tensor& out, const Tensor& values, const Op& op) {
  if (updates.count() == 0 || plan.slice.numel == 0) return;
  const GivenValues<T, Op> given{values.data_ptr<T>(), updates.order.data_ptr<int64_t>(),
                                 plan.values_of, op};
  apply_round<T>(name, plan, out, updates.keys.data_ptr<int64_t>(), updates.count(), updates.absent,
                 given, op);
}

/// Elements between the first and the last of a tensor, both included.
inline int64_t span_of(const Tensor& tensor) {
  int64_t last = 0;
  for (int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.sizes()[d] - 1) * tensor.strides()[d];
  return tensor.numel() == 0 ? 0 : last + 1;
}

}  // namespace at::native::cuda
