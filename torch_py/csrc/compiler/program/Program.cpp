// Programs: what is prepared before they run.
#include "torch_py/csrc/compiler/program/Program.h"

#include <algorithm>

#include "aten/profiling/Recording.h"
#include "c10/util/Exception.h"
#include "torch_py/csrc/compiler/program/LastUses.h"
#include "torch_py/csrc/compiler/program/Run.h"

namespace torch::programs {

namespace {

/// How many plans a program with symbols keeps.
constexpr size_t kMostPlans = 16;

/// For a scope: operators run as they were recorded. Autograd has its own graph of the program,
/// automatic dtypes are in the graph, and modes saw the program when it was compiled.
class PlainCalls {
 public:
  PlainCalls() : previous_(c10::local_state()) {
    constexpr auto kUnseen = c10::DispatchKeySet(c10::DispatchKey::Python) |
                             c10::DispatchKey::Transform | c10::kAutocastKeys;
    c10::LocalState& state = c10::local_state();
    state.included = state.included - kUnseen;
    state.user_excluded = state.user_excluded | kUnseen;
    state.grad_mode = false;
    ++state.below_autograd;
    state.refresh();
  }
  ~PlainCalls() { c10::local_state() = previous_; }
  PlainCalls(const PlainCalls&) = delete;
  PlainCalls& operator=(const PlainCalls&) = delete;

 private:
  c10::LocalState previous_;
};

}  // namespace

Program::Program(Description description) : description_(std::move(description)) {
  check_description(description_);
  find_visible_slots();
  find_last_uses();
  if (description_.symbols.empty())
    only_plan_ = std::make_shared<Plan>(make_plan(description_, {}));
}

/// Decides which slots are tensors during a call. The others are addresses only.
void Program::find_visible_slots() {
  const size_t count = description_.slots.size();
  is_visible_.assign(count, false);
  views_argument_.assign(count, false);
  std::vector<bool> is_dropped(count, false);

  for (Step& step : description_.steps) {
    if (const auto* drop = std::get_if<Drop>(&step)) is_dropped[drop->slot] = true;
    if (const auto* view = std::get_if<View>(&step))
      views_argument_[view->slot] = view->of < description_.inputs || views_argument_[view->of];

    if (auto* call = std::get_if<CallKernel>(&step)) {
      // Changes of memory that the program made itself are nobody's concern.
      std::erase_if(call->written, [&](Slot slot) {
        return slot >= description_.inputs && !views_argument_[slot];
      });
      for (const Slot slot : call->written) is_visible_[slot] = true;
    }
    if (const auto* call = std::get_if<CallExtern>(&step)) {
      for (const CallExtern::TensorArgument& argument : call->tensors)
        is_visible_[argument.slot] = true;
    }
  }
  for (const Output& output : description_.outputs) {
    if (output.is_tensor()) is_visible_[output.slot] = true;
  }

  // A view that is a tensor is one of a tensor, and so is a view that outlives what it views.
  for (auto step = description_.steps.rbegin(); step != description_.steps.rend(); ++step) {
    const auto* view = std::get_if<View>(&*step);
    if (view == nullptr) continue;
    is_visible_[view->slot] = is_visible_[view->slot] || is_dropped[view->of];
    if (is_visible_[view->slot]) is_visible_[view->of] = true;
  }
}

void Program::find_last_uses() {
  const LastUses uses(description_);
  last_uses_.resize(description_.steps.size());
  for (Slot slot = 0; slot < description_.slots.size(); ++slot) {
    const Slot input = uses.root(slot);
    const bool is_used = uses.of(input) != LastUses::kNever;
    if (input < description_.inputs && is_used && !is_output(slot))
      last_uses_[uses.of(input)].push_back({input, slot});
  }
}

bool Program::is_output(Slot slot) const {
  return std::any_of(
      description_.outputs.begin(), description_.outputs.end(),
      [slot](const Output& output) { return output.is_tensor() && output.slot == slot; });
}

std::vector<int64_t> Program::symbols_of(const Arguments& arguments) const {
  std::vector<int64_t> symbols;
  symbols.reserve(description_.symbols.size());

  for (const auto& [input, dimension] : description_.symbols) {
    const Argument& argument = arguments[input];
    if (dimension == Description::Symbol::kInteger) {
      TORCH_CHECK(argument.tensor == nullptr, "input ", input, " is a tensor, expected an int");
      symbols.push_back(argument.integer);
      continue;
    }

    const bool has_size =
        argument.tensor != nullptr && argument.tensor->defined() &&
        argument.tensor->dim() == static_cast<int64_t>(description_.slots[input].sizes.size());
    TORCH_CHECK(has_size, "input ", input, " is not a tensor of ",
                description_.slots[input].sizes.size(), " dimensions");
    symbols.push_back(argument.tensor->sizes()[static_cast<size_t>(dimension)]);
  }
  return symbols;
}

std::shared_ptr<const Plan> Program::plan_for(std::vector<int64_t> symbols) const {
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(plans_.begin(), plans_.end(),
                                    [&](const auto& plan) { return plan->symbols == symbols; });
    if (known != plans_.end()) {
      std::rotate(plans_.begin(), known, known + 1);
      return plans_.front();
    }
  }

  auto plan = std::make_shared<const Plan>(make_plan(description_, std::move(symbols)));
  const std::lock_guard lock(mutex_);
  if (plans_.size() == kMostPlans) plans_.pop_back();
  plans_.insert(plans_.begin(), plan);
  return plan;
}

void Program::check_arguments(const Plan& plan, const Arguments& arguments) const {
  for (size_t i = 0; i < description_.inputs; ++i) {
    const SlotFacts& facts = description_.slots[i];
    const at::Tensor* tensor = arguments[i].tensor;
    if (facts.is_integer) {
      TORCH_CHECK(tensor == nullptr, "input ", i, " is a tensor, expected an int");
      continue;
    }
    TORCH_CHECK(tensor != nullptr, "input ", i, " is a number, expected a tensor");
    TORCH_CHECK(matches(*tensor, facts, plan.slots[i]),
                describe_mismatch(c10::str("input ", i), *tensor, facts, plan.slots[i]));
  }
}

Program::Prepared Program::prepare(const Arguments& arguments) const {
  TORCH_CHECK_TYPE(arguments.size() == description_.inputs, "the program takes ",
                   description_.inputs, " inputs, got ", arguments.size());
  Prepared prepared{only_plan_.get(), nullptr};
  if (C10_UNLIKELY(prepared.plan == nullptr)) {
    prepared.owner = plan_for(symbols_of(arguments));
    prepared.plan = prepared.owner.get();
  }
  check_arguments(*prepared.plan, arguments);
  return prepared;
}

Items Program::run(const Prepared& prepared, const Arguments& arguments) const {
  const at::profiling::Range range(description_.name.c_str(), at::profiling::Event::kNone);
  const PlainCalls plain;
  Run run(*this, *prepared.plan, arguments);
  run.steps();
  return run.results();
}

}  // namespace torch::programs
