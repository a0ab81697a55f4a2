// A call with members of a batch among its arguments.
#pragma once
#include "aten/core/Value.h"
#include "aten/transforms/Levels.h"
#include "c10/dispatch/OperatorEntry.h"

namespace at::transforms {

/// One call that has arrived at the level of a vmap. Rules replace the arguments on the stack by
/// ones that describe all members at once, and run it.
class BatchedCall {
 public:
  BatchedCall(const OperatorEntry& entry, Stack& stack, int level);

  const OperatorEntry& entry() const { return entry_; }
  Stack& stack() { return stack_; }
  int level() const { return level_; }
  int64_t size() const { return size_; }
  const std::vector<SchemaValue>& arguments() const { return entry_.schema().arguments; }

  bool is_batched(const Tensor& tensor) const { return level_of(tensor) == level_; }
  bool is_batched(const Value& value) const {
    return value.is<Tensor>() && is_batched(value.get<Tensor>());
  }
  /// The members of a batch, in the first dimension.
  const Tensor& inside(const Tensor& tensor) const { return as_wrapped(tensor)->value(); }
  /// The same for any tensor: what the members share is expanded.
  Tensor members(const Tensor& tensor) const;
  /// With dimensions of size one after the batch, so that members broadcast as if alone. Tensors
  /// that the members share stay as they are.
  Tensor aligned(const Tensor& tensor, int64_t rank) const;

  /// Calls `change` with each tensor among the arguments, and puts what it returns in its place.
  template <class Change>
  void change_tensors(Change&& change) {
    for (Value& value : stack_) {
      if (value.is<Tensor>()) value = Value(change(value.get<Tensor>()));
      if (!value.is<Value::Tensors>()) continue;
      for (Tensor& tensor : value.get<Value::Tensors>())
        if (tensor.defined()) tensor = change(tensor);
    }
  }
  /// The tensors among the arguments.
  std::vector<Tensor> tensors() const;

  /// Calls the operator with the arguments on the stack, and leaves results that are batches. A
  /// result that is an argument, changed in place, becomes the batch that was given.
  void run();
  /// Leaves one result.
  void finish(Tensor members) { stack_.assign(1, Value(wrap_batch(std::move(members), level_))); }

 private:
  const OperatorEntry& entry_;
  Stack& stack_;
  int level_;
  int64_t size_ = 0;
  std::vector<Tensor> written_;  // the batches that the operator changes
};

using Rule = void (*)(BatchedCall&);

/// Calls the operator for one member after another, and stacks the results.
void one_by_one(BatchedCall& call);
/// Members broadcast as if alone: pointwise operators, and all whose leading dimensions are a
/// batch.
void aligned(BatchedCall& call);
/// Operators along dimensions, and views that name dimensions.
void along_dimensions(BatchedCall& call);
void view(BatchedCall& call);
/// Whether the operator has arguments that name dimensions, which `view` shifts.
bool has_dimensions(const OperatorEntry& entry);
void inplace_view(BatchedCall& call);

/// Counts the dimensions that arguments name after the batch; `rank` is that of a member. Without a
/// named dimension, reductions take all of them; of other operators the answer is false.
bool shift_dimensions(BatchedCall& call, int64_t rank);

/// Declares the rule of an operator that no structure describes; next to the rule.
struct OwnRule {
  OwnRule(const OperatorEntry& entry, Rule rule);
};

/// The rule that the entry's structure and tags, or its own, declare.
Rule rule_of(const OperatorEntry& entry);

/// Whether the operator draws random numbers.
bool is_random(const OperatorEntry& entry);
/// A random operator with members of the batch of `level` among its arguments.
void random_of_members(BatchedCall& call);
/// A random operator inside of the batch of `level` without members of it among its arguments.
void random_of_no_member(const OperatorEntry& entry, Stack& stack, int level);

/// A call at the level of a vmap.
void call_batched(const OperatorEntry& entry, Stack& stack, int level);

}  // namespace at::transforms
