// Runs operators on dual tensors.
#include "torch_py/csrc/autograd/ForwardMode.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "aten/core/Value.h"
#include "aten/ops/alias.h"
#include "aten/ops/clone.h"
#include "aten/ops/copy.h"
#include "aten/ops/detach.h"
#include "aten/ops/empty_strided.h"
#include "aten/ops/expand.h"
#include "aten/ops/zeros_like.h"
#include "aten/transforms/Levels.h"
#include "torch_py/csrc/autograd/Backward.h"

namespace torch::autograd {

namespace {

using at::Stack;
using at::Tensor;
using at::Value;
using at::transforms::as_wrapped;
using at::transforms::level_of;
using at::transforms::wrap_dual;
using at::transforms::Wrapped;
using c10::AutoGradMode;
using c10::DimVector;
using c10::DispatchKey;
using c10::GradMode;
using c10::IntArrayRef;

bool has_gradient(const Tensor& tensor) { return is_differentiable(tensor.scalar_type()); }

/// The tensors among arguments or results; valid until the stack changes.
std::vector<Tensor*> tensors_of(Stack& stack) {
  std::vector<Tensor*> found;
  for (Value& value : stack) {
    if (value.is<Tensor>()) found.push_back(&value.get<Tensor>());
    if (!value.is<Value::Tensors>()) continue;
    for (Tensor& tensor : value.get<Value::Tensors>())
      if (tensor.defined()) found.push_back(&tensor);
  }
  return found;
}

/// Calls `visit` with the plain tensors inside of one that may be wrapped.
template <class Visit>
void for_each_plain(const Tensor& tensor, const Visit& visit) {
  const Wrapped* wrapped = as_wrapped(tensor);
  if (wrapped == nullptr) return visit(tensor);
  for_each_plain(wrapped->value(), visit);
  if (wrapped->tangent().defined()) for_each_plain(wrapped->tangent(), visit);
}

bool has_graph(const Tensor& tensor) {
  bool found = false;
  for_each_plain(tensor, [&](const Tensor& plain) { found = found || requires_grad(plain); });
  return found;
}

bool share_memory(const Tensor& left, const Tensor& right) {
  bool found = false;
  for_each_plain(left, [&](const Tensor& a) {
    for_each_plain(
        right, [&](const Tensor& b) { found = found || a.storage().get() == b.storage().get(); });
  });
  return found;
}

/// A dual tensor of the level, or null.
Wrapped* dual_at(const Tensor& tensor, int level) {
  Wrapped* wrapped = as_wrapped(tensor);
  return wrapped != nullptr && wrapped->level() == level ? wrapped : nullptr;
}

void wrap_results(Stack& results, const std::vector<Tensor>& tangents, int level) {
  const std::vector<Tensor*> outputs = tensors_of(results);
  for (size_t i = 0; i < outputs.size(); ++i) {
    // Those without a tangent may get one when they are written to.
    if (has_gradient(*outputs[i])) *outputs[i] = wrap_dual(*outputs[i], tangents[i], level);
  }
}

// --- Views ---

/// The tangent, laid out as the value, so that both have the same views. It is one of zeros if
/// there was none.
Tensor tangent_in_memory(Wrapped& dual) {
  const Tensor& value = dual.value();
  Tensor tangent = dual.tangent().defined() ? dual.tangent() : at::zeros_like(value);
  if (tangent.strides() != value.strides() && level_of(tangent) == 0) {
    const Tensor laid_out = at::empty_strided(value.sizes(), value.strides(), tangent.scalar_type(),
                                              std::nullopt, tangent.device());
    tangent = at::copy_(laid_out, tangent);
  }
  dual.set_tangent(tangent);
  return tangent;
}

/// A view of the value and one of the tangent; both can be written to.
void view(const c10::OperatorEntry& entry, Stack& stack, int level) {
  Stack of_tangent = stack;
  const std::vector<Tensor*> values = tensors_of(stack);
  const std::vector<Tensor*> tangents = tensors_of(of_tangent);
  bool is_source = true;
  for (size_t i = 0; i < values.size(); ++i) {
    Wrapped* dual = dual_at(*values[i], level);
    if (dual == nullptr) continue;
    const Tensor inside = dual->value();
    *tangents[i] = is_source ? tangent_in_memory(*dual) : inside;
    *values[i] = inside;
    is_source = false;
  }

  entry.call_boxed(stack);
  entry.call_boxed(of_tangent);
  std::vector<Tensor> moved;
  for (const Tensor* tensor : tensors_of(of_tangent)) moved.push_back(*tensor);
  wrap_results(stack, moved, level);
}

// --- Operators with tangents ---

/// An argument with a tangent.
struct Moving {
  Tensor source;  // an alias of the value, which the result is differentiated by
  Tensor direction;
};

/// An alias to differentiate by, connected to the graph of `tensor`.
Tensor differentiable_alias(const Tensor& tensor) {
  if (requires_grad(tensor)) return at::alias(tensor);
  Tensor alias = at::detach(tensor);
  set_requires_grad(alias, true);
  return alias;
}

variable_list gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& weights, bool create_graph) {
  return run_backward(outputs, weights, /*keep_graph=*/true, create_graph, inputs,
                      /*allow_unused=*/true, /*accumulate_grad=*/false);
}

class DualCall {
 public:
  DualCall(const c10::OperatorEntry& entry, Stack& stack, int level);

  /// Whether no value and no argument is a tensor that a transform, or Python code, handles.
  bool is_plain() const { return is_plain_; }
  bool moves() const { return moves_; }
  void run_without_tangents();
  void run();

 private:
  /// The size that arguments of an elementwise operator broadcast to; none if they do not have one
  /// real dtype.
  std::optional<DimVector> common_sizes() const;
  std::vector<Tensor> diagonal_product(const Tensor& output) const;
  std::vector<Tensor> transposed_twice(const std::vector<Tensor>& outputs) const;
  Tensor finished(Tensor tangent) const;

  const c10::OperatorEntry& entry_;
  Stack& stack_;
  int level_;
  std::vector<Tensor> values_;    // of all tensors among the arguments
  std::vector<Tensor> tangents_;  // undefined: zero
  std::vector<Moving> moving_;
  bool is_plain_ = true;
  bool moves_ = false;
  bool is_connected_ = false;  // to a graph around the transform
};

DualCall::DualCall(const c10::OperatorEntry& entry, Stack& stack, int level)
    : entry_(entry), stack_(stack), level_(level) {
  bool any_graph = false;
  for (const Tensor* tensor : tensors_of(stack)) {
    const Wrapped* dual = dual_at(*tensor, level);
    values_.push_back(dual == nullptr ? *tensor : dual->value());
    tangents_.push_back(dual == nullptr ? Tensor() : dual->tangent());
    const c10::DispatchKeySet keys = values_.back().key_set();
    is_plain_ = is_plain_ && !keys.has(DispatchKey::Transform) && !keys.has(DispatchKey::Python);
    moves_ = moves_ || tangents_.back().defined();
    any_graph = any_graph || has_graph(values_.back()) ||
                (tangents_.back().defined() && has_graph(tangents_.back()));
  }
  is_connected_ = any_graph && GradMode::is_enabled();
}

void DualCall::run_without_tangents() {
  const std::vector<Tensor*> arguments = tensors_of(stack_);
  for (size_t i = 0; i < arguments.size(); ++i) *arguments[i] = values_[i];
  entry_.call_boxed(stack_);
  wrap_results(stack_, std::vector<Tensor>(tensors_of(stack_).size()), level_);
}

std::optional<DimVector> DualCall::common_sizes() const {
  if (std::string_view(entry_.facts().structure) != "pointwise") return std::nullopt;
  DimVector sizes;
  const Tensor* first = nullptr;
  for (const Tensor& value : values_) {
    sizes = at::broadcast_sizes(sizes, value.sizes());
    if (!has_gradient(value)) continue;
    if (first == nullptr) first = &value;
    if (value.is_complex() || value.scalar_type() != first->scalar_type()) return std::nullopt;
  }
  return sizes;
}

/// The gradient of an elementwise operator, weighted by the direction.
std::vector<Tensor> DualCall::diagonal_product(const Tensor& output) const {
  const AutoGradMode recording(is_connected_);
  Tensor total;
  for (const Moving& each : moving_) {
    const Tensor term = gradients({output}, {each.source}, {each.direction}, is_connected_)[0];
    if (!term.defined()) continue;
    total = total.defined() ? total + term : term;
  }
  return {total};
}

std::vector<Tensor> DualCall::transposed_twice(const std::vector<Tensor>& outputs) const {
  std::vector<Tensor> weights, sources;
  for (const Tensor& output : outputs) {
    weights.push_back(at::detach(at::zeros_like(output)));
    set_requires_grad(weights.back(), true);
  }
  for (const Moving& each : moving_) sources.push_back(each.source);
  const variable_list found = gradients(outputs, sources, weights, true);

  std::vector<Tensor> products, directions;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!requires_grad(found[i])) continue;
    products.push_back(found[i]);
    directions.push_back(moving_[i].direction);
  }
  if (products.empty()) return std::vector<Tensor>(outputs.size());
  return gradients(products, weights, directions, is_connected_);
}

/// In memory of its own: the engine passes tensors on, and results may be written to.
Tensor DualCall::finished(Tensor tangent) const {
  if (!tangent.defined()) return tangent;
  const auto shares = [&](const Moving& each) { return share_memory(tangent, each.direction); };
  if (std::any_of(moving_.begin(), moving_.end(), shares)) tangent = at::clone(tangent);
  return is_connected_ ? tangent : at::detach(tangent);
}

void DualCall::run() {
  const std::optional<DimVector> sizes = common_sizes();
  const std::vector<Tensor*> arguments = tensors_of(stack_);
  const AutoGradMode recording(true);

  for (size_t i = 0; i < arguments.size(); ++i) {
    *arguments[i] = values_[i];
    if (!tangents_[i].defined() || !has_gradient(values_[i])) continue;
    const bool broadcasts = sizes && values_[i].sizes() != IntArrayRef(*sizes);
    const Tensor value = broadcasts ? at::expand(values_[i], *sizes) : values_[i];
    moving_.push_back({differentiable_alias(value),
                       broadcasts ? at::expand(tangents_[i], *sizes) : tangents_[i]});
    *arguments[i] = moving_.back().source;
  }
  entry_.call_boxed(stack_);

  const std::vector<Tensor*> outputs = tensors_of(stack_);
  std::vector<Tensor> kept;
  for (const Tensor* output : outputs)
    if (requires_grad(*output)) kept.push_back(*output);

  std::vector<Tensor> found;
  const bool is_elementwise = sizes && outputs.size() == 1 && kept.size() == 1 &&
                              kept[0].sizes() == IntArrayRef(*sizes) &&
                              kept[0].scalar_type() == moving_[0].source.scalar_type();
  if (is_elementwise) found = diagonal_product(kept[0]);
  else if (!kept.empty()) found = transposed_twice(kept);

  std::vector<Tensor> moved;
  size_t next = 0;
  for (Tensor* output : outputs) {
    moved.push_back(requires_grad(*output) ? finished(found[next++]) : Tensor());
    if (!is_connected_ && has_gradient(*output)) *output = at::detach(*output);
  }
  wrap_results(stack_, moved, level_);
}

}  // namespace

void ForwardMode::call(const c10::OperatorEntry& entry, c10::DispatchKeySet keys,
                       Stack& stack) const {
  if (entry.schema().is_mutable()) return others_->call(entry, keys, stack);
  int level = 0;
  for (const Tensor* tensor : tensors_of(stack)) level = std::max(level, level_of(*tensor));
  if (std::string_view(entry.facts().structure) == "view") return view(entry, stack, level);

  DualCall call(entry, stack, level);
  if (!call.moves()) return call.run_without_tangents();
  call.is_plain() ? call.run() : others_->call(entry, keys, stack);
}

}  // namespace torch::autograd
