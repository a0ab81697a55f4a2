// Programs as people read them.
#include "torch_py/csrc/compiler/program/Steps.h"

#include "c10/util/Exception.h"

namespace torch::programs {

namespace {

/// Writes one line for each step.
class Writer {
 public:
  explicit Writer(const Description& description) : description_(description) {}

  std::string text() {
    heading();
    for (const Step& step : description_.steps) std::visit(*this, step);
    line("return " + outputs());
    return std::move(text_);
  }

  void operator()(const Allocate& step) {
    line(name(step.slot) + " = allocate " + facts(step.slot));
  }
  void operator()(const Place& step) {
    line(name(step.slot) + " = arena[" + number(step.offset) + "] " + facts(step.slot));
  }
  void operator()(const View& step) {
    const std::string offset = number(step.offset);
    line(name(step.slot) + " = view of " + name(step.of) +
         (offset == "0" ? "" : " from " + offset) + " " + facts(step.slot));
  }
  void operator()(const CallKernel& step) {
    std::string call = step.name + "(" + list(step.slots);
    for (const Integer& size : step.sizes) call += ", " + number(size);
    call += ") for " + number(step.extent) + " by " + number(step.grain);
    if (!step.written.empty()) call += ", changes " + list(step.written);
    line(call);
  }
  void operator()(const CallExtern& step) {
    std::string results;
    for (const CallExtern::TensorArgument& result : step.results)
      results += (results.empty() ? "" : ", ") + name(result.slot);
    line((results.empty() ? "" : results + " = ") + call_text(step));
    for (const CallExtern::TensorArgument& result : step.results)
      line("  # " + name(result.slot) + " " + facts(result.slot));
  }
  void operator()(const Drop& step) { line("drop " + name(step.slot)); }

 private:
  void line(const std::string& text) { text_ += "  " + text + "\n"; }

  void heading() {
    std::string inputs;
    for (Slot slot = 0; slot < description_.inputs; ++slot)
      inputs += (slot == 0 ? "" : ", ") + name(slot);
    text_ = description_.name + "(" + inputs + "):\n";

    for (Slot slot = 0; slot < description_.inputs; ++slot)
      line("# " + name(slot) + " " + facts(slot));
    for (auto slot = static_cast<Slot>(description_.inputs); slot < description_.fixed_slots();
         ++slot)
      line(name(slot) + " = constant " + facts(slot));
    for (size_t i = 0; i < description_.symbols.size(); ++i) {
      const auto& [input, dimension] = description_.symbols[i];
      const bool is_integer = dimension == Description::Symbol::kInteger;
      line("s" + std::to_string(i) + " = " + name(input) +
           (is_integer ? "" : ".size(" + std::to_string(dimension) + ")"));
    }
    if (number(description_.arena_bytes) != "0")
      line("arena = allocate " + number(description_.arena_bytes) + " bytes");
  }

  std::string name(Slot slot) const {
    return description_.names.empty() ? "t" + std::to_string(slot) : description_.names[slot];
  }
  std::string number(const Integer& integer) const { return description_.formulas.text(integer); }

  std::string list(const std::vector<Slot>& slots) const {
    std::string text;
    for (const Slot slot : slots) text += (text.empty() ? "" : ", ") + name(slot);
    return text;
  }

  std::string outputs() const {
    std::string text;
    for (const Output& output : description_.outputs) {
      const bool is_none = output.kind == Output::Kind::None;
      const std::string value = output.is_tensor() ? name(output.slot)
                                : is_none          ? "None"
                                                   : number(output.integer);
      text += (text.empty() ? "" : ", ") + value;
    }
    return text;
  }

  template <class Integers>
  std::string tuple(const Integers& integers) const {
    std::string text;
    for (const Integer& integer : integers) text += (text.empty() ? "" : ", ") + number(integer);
    return "(" + text + ")";
  }

  std::string facts(Slot slot) const {
    const SlotFacts& facts = description_.slots[slot];
    if (facts.is_integer) return "int";
    return c10::str(c10::dtype_name(facts.dtype), " ", tuple(facts.sizes), " strides ",
                    tuple(facts.strides), facts.device.is_cpu() ? "" : " on " + facts.device.str());
  }

  std::string call_text(const CallExtern& step) const {
    std::string text;
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      const std::string tensors = variables(step, i);
      if (tensors.empty()) continue;
      const bool is_operator = step.entry != nullptr;
      text += (text.empty() ? "" : ", ") +
              (is_operator ? step.entry->schema().arguments[i].name + "=" : "") + tensors;
    }
    return std::string(step.name()) + "(" + text + ")";
  }

  /// The tensors and formulas of an argument.
  std::string variables(const CallExtern& step, size_t argument) const {
    std::string text;
    for (const auto& [spot, slot] : step.tensors) {
      if (spot.position == argument) text += (text.empty() ? "" : " ") + name(slot);
    }
    for (const auto& [spot, integer] : step.integers) {
      if (spot.position == argument) text += (text.empty() ? "" : " ") + number(integer);
    }
    return text;
  }

  const Description& description_;
  std::string text_;
};

}  // namespace

std::string Description::text() const { return Writer(*this).text(); }

}  // namespace torch::programs
