// Whether the memory of tensors overlaps, and errors for calls that write to it.
#include "aten/iteration/MemoryOverlap.h"

#include <algorithm>

#include "aten/iteration/TensorIterator.h"
#include "c10/core/InferenceMode.h"

namespace at {

namespace {

/// Different storages share memory when both wrap one foreign buffer, as two calls of
/// torch.from_numpy(a) do.
bool share_memory(const StorageImpl* a, const StorageImpl* b) {
  if (a == nullptr || b == nullptr) return false;
  if (a == b) return true;
  const auto* a_begin = static_cast<const char*>(a->data.get());
  const auto* b_begin = static_cast<const char*>(b->data.get());
  return a_begin != nullptr && b_begin != nullptr && a_begin < b_begin + b->capacity &&
         b_begin < a_begin + a->capacity;
}

/// A multiple of `stride` between `low` and `high` times, in bytes: what a dimension of one of two
/// tensors adds to the distance of their elements.
struct Steps {
  int64_t stride;
  int64_t low;
  int64_t high;
};

/// Searches for two elements, one of each of two tensors, that share a byte.
class OverlapSearch {
 public:
  OverlapSearch(const Tensor& a, const Tensor& b)
      : a_itemsize_(static_cast<int64_t>(a.itemsize())),
        b_itemsize_(static_cast<int64_t>(b.itemsize())) {
    add(a, -1);
    add(b, 1);
    std::sort(steps_.begin(), steps_.end(),
              [](const Steps& x, const Steps& y) { return x.stride > y.stride; });
  }

  bool finds(int64_t distance, size_t first = 0) {
    if (first == steps_.size()) return distance > -b_itemsize_ && distance < a_itemsize_;
    if (++visited_ > kLimit) return true;

    // How far the smaller strides reach.
    int64_t low = 0;
    int64_t high = 0;
    for (size_t i = first + 1; i < steps_.size(); ++i) {
      low += steps_[i].low * steps_[i].stride;
      high += steps_[i].high * steps_[i].stride;
    }

    // With nested dimensions at most two multiples bring the distance within that reach.
    const Steps& step = steps_[first];
    const int64_t from = -b_itemsize_ + 1 - distance - high;
    const int64_t to = a_itemsize_ - 1 - distance - low;
    const int64_t least = std::max(step.low, -floor_quotient(-from, step.stride));
    const int64_t most = std::min(step.high, floor_quotient(to, step.stride));
    for (int64_t k = least; k <= most; ++k) {
      if (finds(distance + k * step.stride, first + 1)) return true;
    }
    return false;
  }

 private:
  static constexpr int kLimit = 1000;  // dimensions to look at before overlap is assumed

  static int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

  void add(const Tensor& tensor, int64_t sign) {
    for (int64_t d = 0; d < tensor.dim(); ++d) {
      const int64_t count = tensor.sizes()[d] - 1;
      const int64_t stride = tensor.strides()[d] * static_cast<int64_t>(tensor.itemsize());
      if (count == 0 || stride == 0) continue;

      const int64_t low = sign < 0 ? -count : 0;
      const int64_t high = sign < 0 ? 0 : count;
      const auto same = std::find_if(steps_.begin(), steps_.end(),
                                     [&](const Steps& step) { return step.stride == stride; });
      if (same == steps_.end()) {
        steps_.push_back({stride, low, high});
      } else {
        same->low += low;
        same->high += high;
      }
    }
  }

  int64_t a_itemsize_;
  int64_t b_itemsize_;
  SmallVector<Steps, 8> steps_;
  int visited_ = 0;
};

[[noreturn]] void refuse_overlap(const char* op_name) {
  TORCH_CHECK(false, op_name,
              ": unsupported operation: some elements of the input tensor and the written-to "
              "tensor refer to a single memory location. Please clone() the tensor before "
              "performing the operation.");
}

}  // namespace

bool has_internal_overlap(const Tensor& tensor) {
  if (tensor.is_non_overlapping_and_dense()) return false;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.strides()[d] == 0 && tensor.sizes()[d] > 1) return true;
  }
  return false;
}

Overlap memory_overlap(const Tensor& a, const Tensor& b) {
  if (a.is_same(b)) return Overlap::Full;
  if (a.numel() == 0 || b.numel() == 0) return Overlap::No;

  if (!share_memory(a.storage().get(), b.storage().get())) return Overlap::No;
  const bool same_storage = a.storage().get() == b.storage().get();

  const char* a_begin = static_cast<const char*>(a.data());
  const char* b_begin = static_cast<const char*>(b.data());
  if (!same_storage || !a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense()) {
    const bool same =
        same_storage && a_begin == b_begin && a.sizes() == b.sizes() && a.strides() == b.strides();
    if (same) return Overlap::Full;
    return OverlapSearch(a, b).finds(b_begin - a_begin) ? Overlap::Strided : Overlap::No;
  }

  const char* a_end = a_begin + a.numel() * static_cast<int64_t>(a.itemsize());
  const char* b_end = b_begin + b.numel() * static_cast<int64_t>(b.itemsize());
  if (a_begin == b_begin && a_end == b_end)
    return a.strides() == b.strides() ? Overlap::Full : Overlap::Partial;
  return a_begin < b_end && b_begin < a_end ? Overlap::Partial : Overlap::No;
}

void check_changeable(const Tensor& tensor) {
  // Counts nowhere: see Note [Inference mode].
  if (c10::is_inference(*tensor.unsafe_impl())) tensor.unsafe_impl()->bump_version();
}

void check_no_internal_overlap(const char* op_name, const Tensor& tensor) {
  TORCH_CHECK(!has_internal_overlap(tensor), op_name,
              ": unsupported operation: more than one element of the written-to tensor refers to a "
              "single memory location. Please clone() the tensor before performing the operation.");
}

void check_no_partial_overlap(const char* op_name, const Tensor& out, const Tensor& input) {
  if (memory_overlap(out, input) == Overlap::Partial) refuse_overlap(op_name);
}

bool write_reaches(const Tensor& out, IntArrayRef sizes, const Tensor& input) {
  if (out.sizes() == sizes) return memory_overlap(out, input) != Overlap::No;
  return share_memory(out.storage().get(), input.storage().get());
}

void check_no_overlap(const char* op_name, const Tensor& out,
                      std::initializer_list<TensorList> inputs, const Tensor& own) {
  for (const TensorList list : inputs) {
    for (const Tensor& input : list) {
      if (!input.defined()) continue;
      const Overlap overlap = memory_overlap(out, input);
      const bool is_own = overlap == Overlap::Full && input.is_same(own);
      if (overlap == Overlap::Partial || (overlap == Overlap::Full && !is_own))
        refuse_overlap(op_name);
    }
  }
}

Tensor readable_beside(const Tensor& out, const Tensor& input) {
  return memory_overlap(out, input) == Overlap::No ? input : input.clone();
}

}  // namespace at
