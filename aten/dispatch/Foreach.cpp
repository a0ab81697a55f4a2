// Checks of the arguments of list operators, and the tensors and numbers that each call gets.
#include "aten/dispatch/Foreach.h"

#include "aten/ops/item.h"
#include "aten/ops/select.h"
#include "aten/ops/to.h"
#include "c10/dispatch/LocalState.h"
#include "c10/util/Exception.h"

namespace at {

void check_lists(const char* op_name, std::initializer_list<NamedLength> lists) {
  const NamedLength& first = *lists.begin();
  TORCH_CHECK(first.length > 0, op_name, ": Tensor list must have at least one tensor, but ",
              first.name, " is empty");
  for (const NamedLength& list : lists) {
    TORCH_CHECK(list.length == first.length, op_name, ": ", first.name, " has ", first.length,
                " elements, but ", list.name, " has ", list.length);
  }
}

void check_leaves(TensorList changed) {
  const c10::LocalState& state = c10::local_state();
  if (!state.grad_mode || state.inference_mode || state.below_autograd != 0) return;

  for (const Tensor& tensor : changed) {
    const c10::AutogradMetaInterface* meta =
        tensor.defined() ? tensor.unsafe_impl()->autograd_meta() : nullptr;
    TORCH_CHECK(meta == nullptr || !meta->requires_grad,
                "a leaf Variable that requires grad is being used in an in-place operation.");
  }
}

void check_single_number(const char* op_name, const char* name, const Tensor& tensor) {
  TORCH_CHECK(tensor.dim() == 0, op_name, ": ", name,
              " must be a tensor of 0 dimensions, but its sizes are ", tensor.sizes());
}

std::vector<Scalar> packed_numbers(const char* op_name, const char* name, const Tensor& tensor,
                                   size_t count) {
  TORCH_CHECK(tensor.dim() == 1, op_name, ": ", name,
              " must be a tensor of 1 dimension, but its sizes are ", tensor.sizes());
  TORCH_CHECK(static_cast<size_t>(tensor.size(0)) == count, op_name, ": ", name, " has ",
              tensor.size(0), " elements, but there are ", count, " tensors");

  // One copy, so that numbers on a device are waited for once.
  const Tensor host = tensor.is_cpu() ? tensor : at::to(tensor, kCPU);
  std::vector<Scalar> numbers;
  numbers.reserve(count);
  for (size_t i = 0; i < count; ++i)
    numbers.push_back(item(select(host, 0, static_cast<int64_t>(i))));
  return numbers;
}

}  // namespace at
