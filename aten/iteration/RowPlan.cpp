// Plans rows: which dimensions are along a row, and how operands advance.
#include "aten/iteration/RowPlan.h"

#include <algorithm>
#include <bitset>
#include <numeric>

namespace at::native {

namespace {

using Mask = std::bitset<64>;

Mask row_dims(const char* op_name, int64_t rank, OptionalIntArrayRef dims) {
  TORCH_CHECK(rank <= 64, op_name, ": only tensors with up to 64 dims are supported, got ", rank);
  Mask along;
  if (!dims.has_value() || dims->empty()) return along.set();

  for (const int64_t dim : *dims) {
    const auto d = static_cast<size_t>(wrap_dim(dim, rank));
    TORCH_CHECK(!along[d], op_name, ": dim ", d, " appears multiple times in the list of dims");
    along.set(d);
  }
  return along;
}

DimVector common_sizes(std::initializer_list<const Tensor*> tensors) {
  DimVector sizes((*tensors.begin())->sizes());
  for (const Tensor* tensor : tensors) sizes = broadcast_sizes(sizes, tensor->sizes());
  return sizes;
}

ScalarType common_dtype(std::initializer_list<const Tensor*> tensors, ReductionDtype rule,
                        std::optional<ScalarType> dtype) {
  if (dtype.has_value()) return *dtype;
  ScalarType common = (*tensors.begin())->scalar_type();
  for (const Tensor* tensor : tensors)
    if (tensor->scalar_type() != common) common = promote_types(common, tensor->scalar_type());
  const bool widens = rule == ReductionDtype::IntToFloat && is_integral(common, true);
  return widens ? default_dtype() : common;
}

/// Of the result of what is computed in `common`.
ScalarType result_dtype(ScalarType common, ReductionDtype rule) {
  if (rule == ReductionDtype::Bool) return kBool;
  return rule == ReductionDtype::ComplexToReal ? c10::to_real(common) : common;
}

/// One dimension of all operands.
struct Dim {
  int64_t size;
  SmallVector<int64_t, 4> strides;
};

/// Sorts dimensions by the strides of the first input and merges those that form one run.
RowDims merged(std::vector<Dim> dims, size_t operands) {
  std::stable_sort(dims.begin(), dims.end(), [](const Dim& a, const Dim& b) {
    return std::abs(a.strides[1]) < std::abs(b.strides[1]);
  });

  RowDims found;
  found.strides.resize(operands);
  for (const Dim& dim : dims) {
    found.count *= dim.size;
    if (dim.size == 1) continue;

    bool continues = !found.sizes.empty();
    for (size_t k = 0; k < operands && continues; ++k)
      continues = found.strides[k].back() * found.sizes.back() == dim.strides[k];
    if (continues) {
      found.sizes.back() *= dim.size;
      continue;
    }

    found.sizes.push_back(dim.size);
    for (size_t k = 0; k < operands; ++k) found.strides[k].push_back(dim.strides[k]);
  }
  return found;
}

}  // namespace

RowPlan::RowPlan(const TensorIteratorBase& iter) {
  const auto operands = static_cast<size_t>(iter.ntensors());
  std::vector<Dim> along;
  std::vector<Dim> across;
  for (int d = 0; d < iter.dim(); ++d) {
    Dim dim{iter.shape()[d], {}};
    for (size_t k = 0; k < operands; ++k)
      dim.strides.push_back(iter.strides(static_cast<int>(k))[d]);
    (dim.strides[0] == 0 ? along : across).push_back(dim);
  }

  row = merged(std::move(along), operands);
  kept = merged(std::move(across), operands);
  for (size_t k = 0; k < operands; ++k) data.push_back(iter.data(static_cast<int>(k)));
  if (iter.is_meta()) kept.count = 0;  // Note [Calls without elements]
}

TensorSpec row_result(const char* op_name, std::initializer_list<const Tensor*> tensors,
                      OptionalIntArrayRef dims, ReductionDtype rule,
                      std::optional<ScalarType> dtype) {
  const DimVector sizes = common_sizes(tensors);
  row_dims(op_name, static_cast<int64_t>(sizes.size()), dims);
  const ScalarType common = common_dtype(tensors, rule, dtype);
  return {sizes, result_dtype(common, rule), (*tensors.begin())->device()};
}

RowOperands::RowOperands(const Tensor& result, std::initializer_list<const Tensor*> tensors,
                         OptionalIntArrayRef dims, ReductionDtype rule,
                         std::optional<ScalarType> dtype)
    : common_dtype_(at::native::common_dtype(tensors, rule, dtype)) {
  const IntArrayRef sizes = result.sizes();
  const auto rank = static_cast<int64_t>(sizes.size());
  const Mask mask = row_dims("", rank, dims);

  tensors_.push_back(result);
  for (const Tensor* tensor : tensors)
    tensors_.push_back(tensor->scalar_type() == common_dtype_ ? *tensor
                                                              : tensor->to(common_dtype_));

  std::vector<Dim> along;
  std::vector<Dim> across;
  for (int64_t d = 0; d < rank; ++d) {
    Dim dim{sizes[d], {}};
    for (const Tensor& tensor : tensors_) {
      // Missing dimensions and those of size 1 are repeated.
      const int64_t own = d - (rank - tensor.dim());
      const bool is_repeated = own < 0 || (tensor.sizes()[own] == 1 && sizes[d] != 1);
      const auto itemsize = static_cast<int64_t>(tensor.itemsize());
      dim.strides.push_back(is_repeated ? 0 : tensor.strides()[own] * itemsize);
    }
    (mask[static_cast<size_t>(d)] ? along : across).push_back(dim);
  }

  plan_.row = merged(std::move(along), tensors_.size());
  plan_.kept = merged(std::move(across), tensors_.size());
  for (const Tensor& tensor : tensors_) plan_.data.push_back(static_cast<char*>(tensor.data()));
}

}  // namespace at::native
