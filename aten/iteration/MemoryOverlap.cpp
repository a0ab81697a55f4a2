// Whether the memory of tensors overlaps, and errors for calls that write to it.
#include "aten/iteration/MemoryOverlap.h"

#include "aten/iteration/TensorIterator.h"

namespace at {

namespace {

/// Different storages share memory when both wrap one foreign buffer, as two calls of
/// torch.from_numpy(a) do.
bool share_memory(const StorageImpl& a, const StorageImpl& b) {
  const auto* a_begin = static_cast<const char*>(a.data.get());
  const auto* b_begin = static_cast<const char*>(b.data.get());
  return a_begin != nullptr && b_begin != nullptr && a_begin < b_begin + b.nbytes &&
         b_begin < a_begin + a.nbytes;
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

  const StorageImpl* a_storage = a.storage().get();
  const StorageImpl* b_storage = b.storage().get();
  if (a_storage != b_storage) {
    if (a_storage == nullptr || b_storage == nullptr) return Overlap::No;
    return share_memory(*a_storage, *b_storage) ? Overlap::Unknown : Overlap::No;
  }

  if (!a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense()) {
    const bool same = a.data() == b.data() && a.sizes() == b.sizes() && a.strides() == b.strides();
    return same ? Overlap::Full : Overlap::Unknown;
  }

  const char* a_begin = static_cast<const char*>(a.data());
  const char* b_begin = static_cast<const char*>(b.data());
  const char* a_end = a_begin + a.numel() * static_cast<int64_t>(a.itemsize());
  const char* b_end = b_begin + b.numel() * static_cast<int64_t>(b.itemsize());
  if (a_begin == b_begin && a_end == b_end)
    return a.strides() == b.strides() ? Overlap::Full : Overlap::Partial;
  return a_begin < b_end && b_begin < a_end ? Overlap::Partial : Overlap::No;
}

void check_no_internal_overlap(const char* op_name, const Tensor& tensor) {
  TORCH_CHECK(!has_internal_overlap(tensor), op_name,
              ": unsupported operation: more than one element of the written-to tensor refers to a "
              "single memory location. Please clone() the tensor before performing the operation.");
}

void check_no_partial_overlap(const char* op_name, const Tensor& out, const Tensor& input) {
  TORCH_CHECK(memory_overlap(out, input) != Overlap::Partial, op_name,
              ": unsupported operation: some elements of the input tensor and the written-to "
              "tensor refer to a single memory location. Please clone() the tensor before "
              "performing the operation.");
}

}  // namespace at
