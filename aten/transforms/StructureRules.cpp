// The rules of structures: what an entry of native_functions.yaml says is enough.
#include <algorithm>
#include <string_view>

#include "aten/ops/alias.h"
#include "aten/ops/to.h"
#include "aten/transforms/BatchedCall.h"

namespace at::transforms {

namespace {

/// Bool, integers, floating point, complex.
int kind(ScalarType dtype) {
  if (is_complex(dtype)) return 3;
  if (is_floating(dtype)) return 2;
  return dtype == kBool ? 0 : 1;
}

/// The dtype that the tensors with dimensions have together; none if they are all alike, or none
/// has dimensions.
std::optional<ScalarType> dtype_with_dims(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> with_dims;
  bool is_mixed = false;
  for (const Tensor& tensor : tensors) {
    is_mixed = is_mixed || tensor.scalar_type() != tensors[0].scalar_type();
    if (tensor.dim() > 0) with_dims.push_back(tensor);
  }
  if (!is_mixed || with_dims.empty()) return std::nullopt;
  return result_type(with_dims);
}

int64_t highest_rank(const BatchedCall& call) {
  int64_t rank = 0;
  for (const Tensor& tensor : call.tensors()) rank = std::max(rank, tensor.dim());
  return rank;
}

bool names_dimensions(const SchemaValue& argument) {
  return argument.type == SchemaType::Int && std::string_view(argument.name).starts_with("dim");
}

}  // namespace

bool has_dimensions(const OperatorEntry& entry) {
  const auto& arguments = entry.schema().arguments;
  return std::any_of(arguments.begin(), arguments.end(), names_dimensions);
}

void aligned(BatchedCall& call) {
  const int64_t rank = highest_rank(call);
  const bool promotes = std::string_view(call.entry().facts().structure) == "pointwise";
  const auto common = promotes ? dtype_with_dims(call.tensors()) : std::nullopt;

  // Tensors without dimensions weigh less in type promotion; in a batch they have one.
  call.change_tensors([&](const Tensor& tensor) {
    Tensor value = call.aligned(tensor, rank);
    const bool weighs_less = tensor.dim() == 0 && call.is_batched(tensor);
    if (common && weighs_less && kind(value.scalar_type()) <= kind(*common))
      value = value.to(*common);
    return value;
  });
  call.run();
}

// --- Dimensions ---

bool shift_dimensions(BatchedCall& call, int64_t rank) {
  const bool reduces = std::string_view(call.entry().facts().structure) == "reduction";
  for (size_t i = 0; i < call.stack().size(); ++i) {
    if (!names_dimensions(call.arguments()[i])) continue;
    Value& value = call.stack()[i];

    if (value.is<int64_t>()) {
      value = Value(wrap_dim(value.get<int64_t>(), rank) + 1);
      continue;
    }
    if (value.is<DimVector>() && !value.get<DimVector>().empty()) {
      for (int64_t& dim : value.get<DimVector>()) dim = wrap_dim(dim, rank) + 1;
      continue;
    }
    if (!reduces) return false;
    DimVector all;
    for (int64_t dim = 1; dim <= rank; ++dim) all.push_back(dim);
    value = Value(all);
  }
  return true;
}

void along_dimensions(BatchedCall& call) {
  const std::vector<Tensor> tensors = call.tensors();
  const int64_t rank = highest_rank(call);
  const bool of_scalars = rank == 0;
  for (const Tensor& tensor : tensors)
    if (tensor.dim() != rank) return one_by_one(call);

  const Stack given = call.stack();
  if (!shift_dimensions(call, std::max<int64_t>(rank, 1))) {
    call.stack() = given;
    return one_by_one(call);
  }

  call.change_tensors([&](const Tensor& tensor) {
    const Tensor members = call.members(tensor);
    return of_scalars ? members.unsqueeze(-1) : members;
  });
  call.run();
  if (!of_scalars) return;
  call.change_tensors(
      [](const Tensor& result) { return result.dim() == 0 ? result : result.squeeze(-1); });
}

void view(BatchedCall& call) {
  const std::string_view name = call.entry().schema().name;
  const int64_t rank = highest_rank(call);
  const bool adds_one = name.starts_with("unsqueeze");

  // The dimension that PyTorch lets one name of a tensor without any.
  if (rank == 0 && !adds_one) {
    const auto names =
        std::any_of(call.arguments().begin(), call.arguments().end(), names_dimensions);
    const bool keeps = name.starts_with("squeeze") || name.starts_with("transpose");
    if (names && keeps) return call.finish(at::alias(call.members(call.tensors()[0])));
    if (names) return one_by_one(call);
  }

  const Stack given = call.stack();
  if (!shift_dimensions(call, rank + adds_one)) call.stack() = given;
  call.change_tensors([&](const Tensor& tensor) { return call.members(tensor); });
  call.run();
}

void inplace_view(BatchedCall& call) {
  // The tensor inside may be one that the program holds.
  const Tensor target = call.tensors()[0];
  const Tensor value = at::alias(call.inside(target));
  const bool adds_one = std::string_view(call.entry().schema().name).starts_with("unsqueeze");
  if (target.dim() == 0 && !adds_one) return call.stack().assign(1, Value(target));

  shift_dimensions(call, target.dim() + adds_one);
  call.stack()[0] = Value(value);
  call.entry().call_boxed(call.stack());
  as_wrapped(target)->set_value(value);
  call.stack().assign(1, Value(target));
}

}  // namespace at::transforms
