// The fallback of the Transform key: each call goes to the rules of the highest level of its
// tensors.
#include "aten/transforms/Transforms.h"

#include <algorithm>
#include <utility>

#include "aten/transforms/BatchedCall.h"
#include "aten/transforms/Levels.h"

namespace at::transforms {

namespace {

const BoxedKernel* forward_mode_kernel = nullptr;

/// The tensor of the highest level.
const Wrapped* innermost(const Stack& stack) {
  const Wrapped* found = nullptr;
  const auto see = [&](const Tensor& tensor) {
    const Wrapped* wrapped = as_wrapped(tensor);
    if (wrapped != nullptr && (found == nullptr || wrapped->level() > found->level()))
      found = wrapped;
  };
  for (const Value& value : stack) {
    if (value.is<Tensor>()) see(value.get<Tensor>());
    if (!value.is<Value::Tensors>()) continue;
    for (const Tensor& tensor : value.get<Value::Tensors>()) see(tensor);
  }
  return found;
}

class TransformFallback final : public BoxedKernel {
 public:
  void call(const OperatorEntry& entry, DispatchKeySet keys, Stack& stack) const override {
    const Wrapped* wrapped = innermost(stack);
    const int level = wrapped == nullptr ? 0 : wrapped->level();
    if (const int batch = innermost_batch(level); batch != 0 && is_random(entry))
      return random_of_no_member(entry, stack, batch);

    if (level == 0) return entry.redispatch_boxed(keys - DispatchKey::Transform, stack);
    if (wrapped->kind() == Wrapped::Kind::Batch) return call_batched(entry, stack, level);
    const BelowLevel inside(level);
    forward_mode_kernel->call(entry, keys, stack);
  }
};

class WithBatchRule final : public BoxedKernel {
 public:
  explicit WithBatchRule(std::shared_ptr<const BoxedKernel> rule) : rule_(std::move(rule)) {}

  void call(const OperatorEntry& entry, DispatchKeySet keys, Stack& stack) const override {
    const Wrapped* wrapped = innermost(stack);
    if (wrapped == nullptr || wrapped->kind() != Wrapped::Kind::Batch) {
      return Dispatcher::singleton().fallback(DispatchKey::Transform)->call(entry, keys, stack);
    }
    const BelowLevel inside(wrapped->level());
    rule_->call(entry, keys, stack);
  }

 private:
  std::shared_ptr<const BoxedKernel> rule_;
};

}  // namespace

void install(const BoxedKernel* forward_mode) {
  forward_mode_kernel = forward_mode;
  static const TransformFallback fallback;
  Dispatcher::singleton().set_fallback(DispatchKey::Transform, &fallback);
}

std::shared_ptr<const BoxedKernel> with_batch_rule(std::shared_ptr<const BoxedKernel> rule) {
  return std::make_shared<WithBatchRule>(std::move(rule));
}

}  // namespace at::transforms
