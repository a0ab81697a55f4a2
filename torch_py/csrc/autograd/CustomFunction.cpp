// History for the outputs of custom autograd Functions.
#include "torch_py/csrc/autograd/CustomFunction.h"

#include <algorithm>

#include "aten/ops/alias.h"
#include "torch_py/csrc/autograd/StandIns.h"

namespace torch::autograd {

namespace {

bool contains(at::TensorList list, const at::Tensor& tensor) {
  return std::any_of(list.begin(), list.end(),
                     [&](const at::Tensor& element) { return element.is_same(tensor); });
}

at::Tensor alias_of(const at::Tensor& tensor) {
  if (C10_UNLIKELY(stands_for_others(tensor))) {
    const c10::AutoDispatchBelowAutograd below;
    return at::alias(tensor);
  }
  auto impl = tensor.unsafe_impl()->shallow_copy();
  impl->set_view_of(tensor.impl());
  return at::Tensor(std::move(impl));
}

void check_dirty(const CustomForward& forward, at::TensorList outputs) {
  for (const at::Tensor& tensor : forward.dirty) {
    TORCH_CHECK(
        contains(outputs, tensor),
        "Some elements marked as dirty during the forward method were not returned as "
        "output. The inputs that are modified inplace must all be outputs of the Function.");
  }
}

/// An output that is not differentiable must not show an input's history.
at::Tensor without_history(const CustomForward& forward, const at::Tensor& output) {
  if (!requires_grad(output)) return output;
  if (contains(forward.inputs, output) && !contains(forward.dirty, output)) return detach(output);
  if (!output.is_view()) {
    detach_(output);
    return output;
  }
  return detach(output);
}

size_t index_in(at::TensorList list, const at::Tensor& tensor) {
  return static_cast<size_t>(
      std::find_if(list.begin(), list.end(),
                   [&](const at::Tensor& element) { return element.is_same(tensor); }) -
      list.begin());
}

/// Modified inputs: checks that the change is allowed and makes the node their new history.
void set_history_of_dirty(const CustomForward& forward, const at::Tensor& output,
                          const NodePtr& node, size_t output_count) {
  const bool is_view = output.is_view();
  const at::Tensor base(output.impl()->base());

  TORCH_CHECK(
      !is_view || !requires_grad(output) || !is_leaf(base) ||
          output.unsafe_impl()->view_origin() == c10::ViewOrigin::NoGradMode,
      "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  TORCH_CHECK(!requires_grad(output) || !is_leaf(output),
              "a leaf Variable that requires grad has been used in an in-place operation.");
  TORCH_CHECK(!is_view || output_count == 1,
              "If your Function modifies inplace an input that is a view of another Tensor, your "
              "Function cannot return more than one Tensor. This is not supported by the current "
              "autograd engine. You should either make sure the input is not a view (using "
              ".clone() for example) or make your Function only return one Tensor (potentially "
              "splitting it into two Functions: one doing the inplace that returns a single Tensor "
              "and a second one that does the other operations).");

  check_inplace(output, /*requires_grad=*/true, "custom Function");
  const size_t edge = index_in(forward.inputs, output);
  TORCH_CHECK(!is_view || edge < forward.inputs.size(),
              "mark_dirty: expected an input of the Function, got a view that is not one");
  rebase_history(output, node, edge);
}

at::Tensor with_history(const CustomForward& forward, const at::Tensor& output, const NodePtr& node,
                        size_t output_count) {
  if (contains(forward.dirty, output)) {
    set_history_of_dirty(forward, output, node, output_count);
    return output;
  }

  const at::Tensor result = contains(forward.inputs, output) ? alias_of(output) : output;
  if (result.is_view()) {
    result.unsafe_impl()->set_view_origin(output_count > 1 ? c10::ViewOrigin::MultiOutput
                                                           : c10::ViewOrigin::CustomFunction);
  }
  set_history(result, node);
  return result;
}

}  // namespace

variable_list wrap_outputs(const CustomForward& forward, at::TensorList outputs,
                           const NodePtr& node) {
  check_dirty(forward, outputs);
  // Forward may have changed them in ways that no version counter saw, such as .data or NumPy.
  for (const at::Tensor& tensor : forward.dirty) tensor.unsafe_impl()->bump_version();

  const c10::AutoGradMode record(true);

  variable_list results;
  results.reserve(outputs.size());

  for (const at::Tensor& output : outputs) {
    const bool differentiable = node && output.defined() &&
                                is_differentiable(output.scalar_type()) &&
                                !contains(forward.non_differentiable, output);
    if (differentiable) {
      results.push_back(with_history(forward, output, node, outputs.size()));
      continue;
    }
    if (node) node->add_undefined_input();
    results.push_back(output.defined() ? without_history(forward, output) : output);
  }

  return results;
}

}  // namespace torch::autograd
