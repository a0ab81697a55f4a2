// What the rules of batches are made of, and the choice among them.
#include "aten/transforms/BatchedCall.h"

#include <string_view>
#include <unordered_map>

#include "aten/ops/expand.h"
#include "aten/ops/reshape.h"
#include "aten/ops/select.h"
#include "aten/ops/stack.h"
#include "aten/ops/zeros.h"
#include "c10/util/Exception.h"

namespace at::transforms {

BatchedCall::BatchedCall(const OperatorEntry& entry, Stack& stack, int level)
    : entry_(entry), stack_(stack), level_(level) {
  for (const Tensor& tensor : tensors())
    if (is_batched(tensor)) size_ = as_wrapped(tensor)->batch_size();

  for (size_t i = 0; i < stack_.size(); ++i) {
    if (!arguments()[i].is_written) continue;
    const auto add = [&](const Tensor& target) {
      TORCH_CHECK(
          is_batched(target),
          "vmap: inplace arithmetic(self, *extra_args) is not possible because "
          "there exists a Tensor `other` in extra_args that has more elements than `self`. This "
          "happened due to `other` being vmapped over but `self` not being vmapped over in ",
          entry_.schema().name, ". Please try to use out-of-place operators instead.");
      written_.push_back(target);
    };
    if (stack_[i].is<Tensor>()) add(stack_[i].get<Tensor>());
    if (stack_[i].is<Value::Tensors>())
      for (const Tensor& target : stack_[i].get<Value::Tensors>()) add(target);
  }
}

Tensor BatchedCall::members(const Tensor& tensor) const {
  if (is_batched(tensor)) return inside(tensor);
  DimVector sizes(tensor.sizes());
  sizes.insert(sizes.begin(), size_);
  return at::expand(tensor, sizes);
}

Tensor BatchedCall::aligned(const Tensor& tensor, int64_t rank) const {
  if (!is_batched(tensor)) return tensor;
  const Tensor& value = inside(tensor);
  if (tensor.dim() == rank) return value;

  DimVector sizes{size_};
  for (int64_t d = tensor.dim(); d < rank; ++d) sizes.push_back(1);
  for (const int64_t size : tensor.sizes()) sizes.push_back(size);
  return at::reshape(value, sizes);
}

std::vector<Tensor> BatchedCall::tensors() const {
  std::vector<Tensor> found;
  for (const Value& value : stack_) {
    if (value.is<Tensor>()) found.push_back(value.get<Tensor>());
    if (!value.is<Value::Tensors>()) continue;
    for (const Tensor& tensor : value.get<Value::Tensors>())
      if (tensor.defined()) found.push_back(tensor);
  }
  return found;
}

void BatchedCall::run() {
  entry_.call_boxed(stack_);
  for (const Tensor& target : written_) as_wrapped(target)->refresh_autograd_key();
  change_tensors([&](const Tensor& result) {
    for (const Tensor& target : written_)
      if (inside(target).is_same(result)) return target;
    return wrap_batch(result, level_);
  });
  // What the rule reshaped is still the argument.
  if (written_.size() == 1 && stack_.size() == 1 && stack_[0].is<Tensor>())
    stack_[0] = Value(written_[0]);
}

namespace {

std::unordered_map<const OperatorEntry*, Rule>& own_rules() {
  static std::unordered_map<const OperatorEntry*, Rule> rules;
  return rules;
}

bool has_tag(const OperatorEntry& entry, std::string_view tag) {
  std::string_view tags = entry.facts().tags;
  while (!tags.empty()) {
    const size_t end = std::min(tags.find(' '), tags.size());
    if (tags.substr(0, end) == tag) return true;
    tags.remove_prefix(std::min(end + 1, tags.size()));
  }
  return false;
}

Rule choose(const OperatorEntry& entry) {
  if (const auto own = own_rules().find(&entry); own != own_rules().end()) return own->second;
  const std::string_view structure = entry.facts().structure;
  if (has_tag(entry, "inplace_view")) return &inplace_view;
  if (structure == "pointwise" || has_tag(entry, "batch_in_front")) return &aligned;
  if (structure == "view" && has_dimensions(entry)) return &view;
  if (structure == "reduction" || has_tag(entry, "along_dim")) return &along_dimensions;
  return &one_by_one;
}

}  // namespace

Rule rule_of(const OperatorEntry& entry) {
  thread_local std::unordered_map<const OperatorEntry*, Rule> found;
  const auto [it, is_new] = found.try_emplace(&entry, nullptr);
  if (is_new) it->second = choose(entry);
  return it->second;
}

OwnRule::OwnRule(const OperatorEntry& entry, Rule rule) { own_rules()[&entry] = rule; }

bool is_random(const OperatorEntry& entry) {
  if (has_tag(entry, "nondeterministic_seeded")) return true;
  for (const SchemaValue& argument : entry.schema().arguments)
    if (argument.type == SchemaType::Generator) return true;
  return false;
}

void one_by_one(BatchedCall& call) {
  const Stack given = call.stack();
  const bool writes = call.entry().schema().is_mutable();
  // Without members, a call with zeros tells the shapes.
  const int64_t calls = call.size() == 0 && !writes ? 1 : call.size();

  std::vector<Stack> results;
  for (int64_t i = 0; i < calls; ++i) {
    call.stack() = given;
    call.change_tensors([&](const Tensor& tensor) {
      if (!call.is_batched(tensor)) return tensor;
      const Tensor& value = call.inside(tensor);
      return call.size() == 0
                 ? at::zeros(tensor.sizes(), value.scalar_type(), std::nullopt, value.device())
                 : at::select(value, 0, i);
    });
    call.entry().call_boxed(call.stack());
    results.push_back(std::move(call.stack()));
  }

  if (writes) {
    call.stack() = Stack();
    const auto& arguments = call.arguments();
    for (size_t i = 0; i < given.size() && !call.entry().schema().results.empty(); ++i)
      if (arguments[i].is_written) call.stack().push_back(given[i]);
    return;
  }

  const auto stacked = [&](auto&& tensor_of) {
    Value::Tensors parts;
    for (const Stack& result : results) {
      parts.push_back(tensor_of(result));
      TORCH_CHECK(parts.back().sizes() == parts[0].sizes(), "vmap: ", call.entry().schema().name,
                  " gives the members of a batch results of different sizes, ", parts[0].sizes(),
                  " and ", parts.back().sizes());
    }
    Tensor whole = at::stack(parts);
    if (call.size() == 0) whole = whole.narrow(0, 0, 0);
    return wrap_batch(std::move(whole), call.level());
  };
  Stack joined = results[0];
  for (size_t r = 0; r < joined.size(); ++r) {
    if (joined[r].is<Tensor>())
      joined[r] = Value(stacked([&](const Stack& result) { return result[r].get<Tensor>(); }));
    if (!joined[r].is<Value::Tensors>()) continue;
    auto& list = joined[r].get<Value::Tensors>();
    for (size_t k = 0; k < list.size(); ++k)
      list[k] = stacked([&](const Stack& result) { return result[r].get<Value::Tensors>()[k]; });
  }
  call.stack() = std::move(joined);
}

void call_batched(const OperatorEntry& entry, Stack& stack, int level) {
  BatchedCall call(entry, stack, level);
  const BelowLevel inside(level);
  is_random(entry) ? random_of_members(call) : rule_of(entry)(call);
}

}  // namespace at::transforms
