// A program for given sizes.
#include "torch_py/csrc/compiler/program/Plan.h"

#include <algorithm>
#include <map>

#include "c10/util/Exception.h"
#include "torch_py/csrc/compiler/program/LastUses.h"

namespace torch::programs {

namespace {

/// Checks that slots of the arena have room for themselves while they are used.
class Arena {
 public:
  Arena(const Description& description, const Plan& plan)
      : description_(description), plan_(plan), last_uses_(description) {}

  void place(size_t step, Slot slot, int64_t offset) {
    const int64_t bytes = plan_.slots[slot].bytes;
    TORCH_CHECK_VALUE(offset >= 0 && offset % kArenaAlignment == 0, at(step), "the offset of slot ",
                      slot, " is ", offset, ", which is not a positive multiple of ",
                      kArenaAlignment);
    TORCH_CHECK_VALUE(bytes <= plan_.arena_bytes && offset <= plan_.arena_bytes - bytes, at(step),
                      "slot ", slot, " does not fit: it ends at byte ", offset + bytes,
                      " of an arena of ", plan_.arena_bytes, " bytes");
    if (bytes == 0) return;

    forget_before(step);
    check_free(step, slot, offset, offset + bytes);
    used_[offset] = {offset + bytes, last_uses_.of(slot), slot};
  }

 private:
  struct Block {
    int64_t end;
    size_t last_use;
    Slot slot;
  };

  void forget_before(size_t step) {
    std::erase_if(used_, [&](const auto& entry) { return entry.second.last_use < step; });
  }

  void check_free(size_t step, Slot slot, int64_t begin, int64_t end) const {
    auto next = used_.lower_bound(begin);
    if (next != used_.begin() && std::prev(next)->second.end > begin) --next;
    const bool overlaps = next != used_.end() && next->first < end;
    TORCH_CHECK_VALUE(!overlaps, at(step), "slot ", slot, " overlaps in the arena with slot ",
                      next->second.slot, ", which is used until step ",
                      description_.first_step + next->second.last_use);
  }

  std::string at(size_t step) const { return description_.at(step); }

  const Description& description_;
  const Plan& plan_;
  const LastUses last_uses_;
  std::map<int64_t, Block> used_;  // by first byte
};

class Planner {
 public:
  Planner(const Description& description, Plan& plan)
      : description_(description), plan_(plan), arena_(description, plan) {}

  void plan() {
    plan_.steps.resize(description_.steps.size());
    for (step_ = 0; step_ < description_.steps.size(); ++step_)
      std::visit(*this, description_.steps[step_]);
  }

  void operator()(const Allocate&) {}
  void operator()(const Drop&) {}
  void operator()(const CallExtern&) {}

  void operator()(const Place& step) {
    const int64_t offset = step.offset.of(plan_.values);
    arena_.place(step_, step.slot, offset);
    numbers().first = offset;
  }

  void operator()(const View& step) {
    const auto itemsize = static_cast<int64_t>(element_size(description_.slots[step.slot].dtype));
    const int64_t most = plan_.slots[step.of].bytes;
    const int64_t bytes = plan_.slots[step.slot].bytes;
    int64_t offset = 0;
    int64_t end = 0;
    const bool is_place =
        !__builtin_mul_overflow(step.offset.of(plan_.values), itemsize, &offset) &&
        !__builtin_add_overflow(offset, bytes, &end);

    const bool fits = is_place && offset >= 0 && end <= most;
    const bool may_reach_out = is_place && step.of < description_.inputs;
    TORCH_CHECK_VALUE(fits || may_reach_out, at(), "slot ", step.slot, " reaches from byte ",
                      offset, " to ", end, " of slot ", step.of, ", which has ", most);
    numbers().first = offset;
    numbers().second = fits ? 0 : end;
  }

  void operator()(const CallKernel& step) {
    numbers().first = step.extent.of(plan_.values);
    numbers().second = step.grain.of(plan_.values);
    TORCH_CHECK_VALUE(numbers().first >= 0 && numbers().second >= 1, at(), "kernel ", step.name,
                      " has extent ", numbers().first, " and grain ", numbers().second,
                      "; expected at least 0 and 1");
    for (const Integer& size : step.sizes) numbers().sizes.push_back(size.of(plan_.values));
  }

 private:
  std::string at() const { return description_.at(step_); }
  StepNumbers& numbers() { return plan_.steps[step_]; }

  const Description& description_;
  Plan& plan_;
  Arena arena_;
  size_t step_ = 0;
};

}  // namespace

Plan make_plan(const Description& description, std::vector<int64_t> symbols) {
  Plan plan;
  plan.symbols = std::move(symbols);
  plan.values = description.formulas.evaluate(plan.symbols);
  plan.arena_bytes = description.arena_bytes.of(plan.values);
  TORCH_CHECK_VALUE(plan.arena_bytes >= 0, "the arena has ", plan.arena_bytes, " bytes");

  for (size_t slot = 0; slot < description.slots.size(); ++slot) {
    try {
      plan.slots.push_back(geometry_of(description.slots[slot], plan.values));
    } catch (c10::Error& error) {
      error.set_message(c10::str("slot ", slot, ": ", error.message()));
      throw;
    }
    plan.most_elements = std::max(plan.most_elements, plan.slots.back().elements);
  }

  for (size_t i = 0; i < description.constants.size(); ++i) {
    const at::Tensor& constant = description.constants[i];
    const SlotFacts& facts = description.slots[description.inputs + i];
    const Geometry& geometry = plan.slots[description.inputs + i];
    TORCH_CHECK_VALUE(matches(constant, facts, geometry),
                      describe_mismatch(c10::str("constant ", description.inputs + i), constant,
                                        facts, geometry));
  }

  Planner(description, plan).plan();
  return plan;
}

}  // namespace torch::programs
