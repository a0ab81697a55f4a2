// Random operators inside of vmap: whether they may be called, and whose numbers the members get.
//
// Numbers are drawn for the whole batch at once where an operator is told a size, or fills a
// tensor: PyTorch's numbers for the same seed.
#include <mutex>
#include <string_view>

#include "aten/ops/copy.h"
#include "aten/ops/select.h"
#include "aten/ops/stack.h"
#include "aten/transforms/BatchedCall.h"
#include "c10/core/DeviceHooks.h"
#include "c10/core/Generator.h"
#include "c10/util/Exception.h"

namespace at::transforms {

namespace {

void check_allowed(const OperatorEntry& entry, int level) {
  TORCH_CHECK(level_at(level).randomness != Randomness::Error,
              "vmap: called random operation while in randomness error mode. Please either use the "
              "'same' or 'different' randomness flags on vmap or perform the randomness operation "
              "out of vmap (",
              entry.schema().name, ")");
}

Generator& generator_of(const OperatorEntry& entry, const Stack& stack) {
  for (size_t i = 0; i < stack.size(); ++i)
    if (stack[i].is<Generator*>() && stack[i].get<Generator*>() != nullptr)
      return *stack[i].get<Generator*>();
  return default_cpu_generator();
}

/// The numbers that one member would get, for all of them.
void same_for_members(BatchedCall& call) {
  const bool writes = call.arguments()[0].is_written;
  const Stack given = call.stack();
  for (const Tensor& tensor : call.tensors()) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !c10::is_accelerator(tensor.device()), "vmap: ", call.entry().schema().name,
        " with randomness='same' draws again for each member, which generators on ",
        tensor.is_cuda() ? "CUDA" : c10::device_type_name(tensor.device().type),
        " cannot do; use 'different'");
  }
  Generator& generator = generator_of(call.entry(), given);
  std::vector<Tensor> results;

  const MT19937 engine = generator.engine;
  const std::optional<double> next_normal = generator.next_normal;
  for (int64_t i = 0; i < call.size(); ++i) {
    {
      const std::lock_guard lock(generator.mutex);
      generator.engine = engine;
      generator.next_normal = next_normal;
    }
    call.stack() = given;
    call.change_tensors([&](const Tensor& tensor) {
      return call.is_batched(tensor) ? at::select(call.inside(tensor), 0, i) : tensor;
    });
    call.entry().call_boxed(call.stack());
    if (!writes) results.push_back(call.stack()[0].get<Tensor>());
  }
  if (writes) return call.stack().assign(1, given[0]);
  TORCH_CHECK(!results.empty(), "vmap: ", call.entry().schema().name,
              " is applied member by member, and the batch has none");
  call.finish(at::stack(results));
}

}  // namespace

void random_of_members(BatchedCall& call) {
  // A tensor may outlive its vmap, and nobody says any more how to draw.
  const int level = call.level();
  if (level > current_level() || !level_at(level).is_batch()) return one_by_one(call);
  check_allowed(call.entry(), level);
  if (level_at(level).randomness == Randomness::Same) return same_for_members(call);

  rule_of(call.entry())(call);
}

void random_of_no_member(const OperatorEntry& entry, Stack& stack, int level) {
  const OperatorSchema& schema = entry.schema();
  check_allowed(entry, level);
  const BelowLevel outside(level);
  if (level_at(level).randomness == Randomness::Same) return entry.call_boxed(stack);

  TORCH_CHECK(!schema.is_mutable(),
              "vmap: Cannot ask for different inplace randomness on an unbatched tensor (",
              schema.name,
              "): make it a member of the batch, or use the operator that makes a new tensor");
  const int64_t size = level_at(level).batch_size;
  const int position = schema.position("size");
  if (position >= 0) {
    DimVector& sizes = stack[static_cast<size_t>(position)].get<DimVector>();
    sizes.insert(sizes.begin(), size);
    entry.call_boxed(stack);
    stack[0] = Value(wrap_batch(stack[0].get<Tensor>(), level));
    return;
  }

  TORCH_CHECK(size > 0, "vmap: ", schema.name,
              " is applied member by member, and the batch has none");
  const Stack given = stack;
  std::vector<Stack> results;
  for (int64_t i = 0; i < size; ++i) {
    stack = given;
    entry.call_boxed(stack);
    results.push_back(std::move(stack));
  }
  stack = Stack();
  for (size_t r = 0; r < results[0].size(); ++r) {
    Value::Tensors parts;
    for (const Stack& result : results) parts.push_back(result[r].get<Tensor>());
    stack.emplace_back(wrap_batch(at::stack(parts), level));
  }
}

}  // namespace at::transforms
