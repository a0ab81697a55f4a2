// One call of a program.
#include "torch_py/csrc/compiler/program/Run.h"

#include "aten/parallel/Parallel.h"
#include "aten/profiling/Recording.h"
#include "c10/cpu/CPUAllocator.h"
#include "c10/util/Exception.h"

namespace torch::programs {

namespace {

at::Tensor make_tensor(at::Storage storage, const SlotFacts& facts, const Geometry& geometry,
                       int64_t offset_in_bytes) {
  const auto itemsize = static_cast<int64_t>(element_size(facts.dtype));
  TORCH_CHECK(offset_in_bytes % itemsize == 0, "a view of ", c10::dtype_name(facts.dtype),
              " begins at byte ", offset_in_bytes, ", between two of its elements");

  const c10::DispatchKeySet keys(c10::dense_backend_key(facts.device.type));
  auto impl =
      c10::make_intrusive<c10::TensorImpl>(std::move(storage), facts.dtype, facts.device, keys);
  impl->set_sizes_and_strides(geometry.sizes, geometry.strides, offset_in_bytes / itemsize);
  return at::Tensor(std::move(impl));
}

at::Tensor allocate(const SlotFacts& facts, const Geometry& geometry) {
  if (!facts.device.is_cpu()) {
    return at::empty_strided_tensor(geometry.sizes, geometry.strides, facts.dtype, facts.device);
  }
  auto impl = c10::make_cpu_tensor(static_cast<size_t>(geometry.bytes), facts.dtype);
  impl->set_sizes_and_strides(geometry.sizes, geometry.strides);
  return at::Tensor(std::move(impl));
}

/// Memory that nobody may resize, as the program keeps its address.
at::Storage allocate_arena(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  return c10::make_intrusive<at::StorageImpl>(c10::cpu_allocator().allocate(size), size, nullptr);
}

}  // namespace

Run::Run(const Program& program, const Plan& plan, const Arguments& arguments)
    : program_(program),
      plan_(plan),
      arguments_(arguments),
      data_(program.description_.slots.size(), nullptr),
      tensors_(program.description_.slots.size()) {
  const Description& description = program.description_;
  for (Slot slot = 0; slot < description.inputs; ++slot) {
    if (arguments[slot].tensor == nullptr) continue;
    give(slot, *arguments[slot].tensor);
    owns_arguments_ = owns_arguments_ || arguments[slot].owned != nullptr;
  }
  for (size_t i = 0; i < description.constants.size(); ++i)
    give(static_cast<Slot>(description.inputs + i), description.constants[i]);

  if (plan.arena_bytes > 0) arena_ = allocate_arena(plan.arena_bytes);
}

void Run::steps() {
  numbers_ = plan_.steps.data();
  size_t number = 0;
  for (const Step& step : program_.description_.steps) {
    std::visit(*this, step);
    if (owns_arguments_) release_arguments(number);
    ++numbers_;
    ++number;
  }
}

Items Run::results() {
  Items results;
  for (const Output& output : program_.description_.outputs) {
    Item item;
    if (output.is_tensor()) item.tensor = tensors_[output.slot];
    item.is_integer = output.kind == Output::Kind::Integer;
    if (item.is_integer) item.integer = output.integer.of(plan_.values);
    results.push_back(std::move(item));
  }
  return results;
}

/// Gives up arguments that this call owns and that were used last in a step.
void Run::release_arguments(size_t step) {
  for (const auto& [input, slot] : program_.last_uses_[step]) {
    at::Tensor* const owned = arguments_[input].owned;
    if (owned == nullptr) continue;
    tensors_[slot].reset();
    if (slot == input) owned->reset();
  }
}

/// A tensor that lives longer than the call.
void Run::give(Slot slot, const at::Tensor& tensor) {
  data_[slot] = tensor.data();
  if (program_.is_visible_[slot]) tensors_[slot] = tensor;
}

void Run::take(Slot slot, at::Tensor tensor) {
  data_[slot] = tensor.data();
  tensors_[slot] = std::move(tensor);
}

// --- Memory ---

void Run::operator()(const Allocate& step) {
  take(step.slot, allocate(program_.description_.slots[step.slot], plan_.slots[step.slot]));
}

void Run::operator()(const Place& step) {
  data_[step.slot] = static_cast<char*>(arena_ ? arena_->data.get() : nullptr) + numbers_->first;
  if (program_.is_visible_[step.slot]) {
    if (!arena_) arena_ = allocate_arena(0);
    tensors_[step.slot] = make_tensor(arena_, program_.description_.slots[step.slot],
                                      plan_.slots[step.slot], numbers_->first);
  }
}

/// Views of an argument may look at memory around it, within its storage.
void Run::check_within_memory(const View& step) const {
  const at::Tensor& argument = *arguments_[step.of].tensor;
  const auto most = static_cast<int64_t>(argument.storage()->nbytes);
  const int64_t start = argument.storage_offset() * static_cast<int64_t>(argument.itemsize());
  const bool fits = numbers_->first >= -start && numbers_->second <= most - start;
  TORCH_CHECK(fits, "a view from byte ", numbers_->first, " to ", numbers_->second,
              " of an argument that begins at byte ", start,
              " is out of bounds for storage of size ", most);
}

void Run::operator()(const View& step) {
  const bool reaches_out = numbers_->first < 0 || numbers_->second != 0;
  if (C10_UNLIKELY(reaches_out)) check_within_memory(step);
  if (program_.is_visible_[step.slot]) {
    take(step.slot, view_of(step));
  } else {
    data_[step.slot] = static_cast<char*>(data_[step.of]) + numbers_->first;
  }
}

at::Tensor Run::view_of(const View& step) const {
  const at::Tensor& viewed = tensors_[step.of];
  const int64_t begin = viewed.storage_offset() * static_cast<int64_t>(viewed.itemsize());
  at::Tensor view = make_tensor(viewed.storage(), program_.description_.slots[step.slot],
                                plan_.slots[step.slot], begin + numbers_->first);

  // Callers see that it shares the memory of an argument of theirs.
  if (program_.views_argument_[step.slot]) view.unsafe_impl()->set_view_of(viewed.impl());
  return view;
}

void Run::operator()(const Drop& step) {
  data_[step.slot] = nullptr;
  tensors_[step.slot].reset();
}

// --- Calls ---

void Run::operator()(const CallKernel& step) {
  const at::profiling::Range range(step.name.c_str(), at::profiling::Event::kNone);

  kernel_arguments_.clear();
  for (const Slot slot : step.slots) kernel_arguments_.push_back(data_[slot]);

  const StepNumbers& numbers = *numbers_;
  void* const* const data = kernel_arguments_.data();
  const int64_t* const sizes = numbers.sizes.data();
  at::parallel_for(0, numbers.first, numbers.second,
                   [&](int64_t begin, int64_t end) { step.kernel(data, sizes, begin, end); });

  for (const Slot slot : step.written) tensors_[slot].unsafe_impl()->bump_version();
}

void Run::operator()(const CallExtern& step) {
  push_arguments(step);
  if (step.entry != nullptr) {
    step.entry->call_boxed(stack_);
  } else {
    step.function->call(stack_);
  }
  if (!step.results.empty()) take_results(step);
  stack_.clear();
}

void Run::push_arguments(const CallExtern& step) {
  stack_.assign(step.arguments.begin(), step.arguments.end());

  for (const auto& [spot, slot] : step.tensors) {
    at::Value& value = stack_[spot.position];
    if (spot.element == CallExtern::Spot::kWhole) {
      value = tensors_[slot];
    } else {
      value.get<at::Value::Tensors>()[static_cast<size_t>(spot.element)] = tensors_[slot];
    }
  }

  for (const auto& [spot, integer] : step.integers) {
    at::Value& value = stack_[spot.position];
    const int64_t number = integer.of(plan_.values);
    if (spot.element != CallExtern::Spot::kWhole) {
      value.get<at::DimVector>()[static_cast<size_t>(spot.element)] = number;
    } else if (value.is<at::Scalar>()) {
      value = at::Scalar(number);
    } else if (value.is<at::Tensor>()) {
      value = at::wrapped_scalar(number);
    } else {
      value = number;
    }
  }
}

void Run::take_results(const CallExtern& step) {
  for (const CallExtern::TensorArgument& result : step.results) take_result(step, result);
}

void Run::take_result(const CallExtern& step, const CallExtern::TensorArgument& result) {
  const auto& [spot, slot] = result;
  const bool is_element = spot.element != CallExtern::Spot::kWhole;
  at::Tensor tensor;

  if (spot.position < stack_.size()) {
    at::Value& value = stack_[spot.position];
    const auto element = static_cast<size_t>(spot.element);
    if (value.is<at::Value::Tensors>() && is_element) {
      auto& list = value.get<at::Value::Tensors>();
      if (element < list.size()) tensor = std::move(list[element]);
    } else if (value.is<at::Tensor>() && !is_element) {
      tensor = std::move(value.get<at::Tensor>());
    }
  }

  // See Note [Running programs].
  const bool is_in_arena = tensor.defined() && arena_ && tensor.storage().get() == arena_.get();
  if (C10_UNLIKELY(is_in_arena)) tensor = tensor.clone();

  const SlotFacts& facts = program_.description_.slots[slot];
  const Geometry& geometry = plan_.slots[slot];
  if (C10_UNLIKELY(!matches(tensor, facts, geometry))) {
    const std::string name =
        c10::str("result ", spot.position, " of ", step.name(), " (slot ", slot, ")");
    throw PredictionError(describe_mismatch(name, tensor, facts, geometry));
  }
  take(slot, std::move(tensor));
}

}  // namespace torch::programs
