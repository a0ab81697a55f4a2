// Saving tensors for backward, packing them by hooks, and unpacking them with a version check.
#include "torch_py/csrc/autograd/SavedVariable.h"

#include "c10/core/InferenceMode.h"
#include "torch_py/csrc/autograd/AnomalyMode.h"
#include "torch_py/csrc/autograd/ChangedInPlace.h"
#include "torch_py/csrc/autograd/View.h"

namespace torch::autograd {

namespace {

DefaultSavedVariableHooks::Factory default_factory = nullptr;
__attribute__((tls_model("initial-exec"))) constinit thread_local int default_depth = 0;
}  // namespace

SavedVariableHooks::~SavedVariableHooks() = default;

// --- Hooks for everything saved on a thread ---

void DefaultSavedVariableHooks::set_factory(Factory factory) { default_factory = factory; }
void DefaultSavedVariableHooks::push() { ++default_depth; }
void DefaultSavedVariableHooks::pop() { --default_depth; }
int DefaultSavedVariableHooks::depth() { return default_depth; }
void DefaultSavedVariableHooks::set_depth(int depth) { default_depth = depth; }

std::unique_ptr<SavedVariableHooks> DefaultSavedVariableHooks::make() {
  return default_depth == 0 || default_factory == nullptr ? nullptr : default_factory();
}

// --- Saving ---

SavedVariable::SavedVariable(const at::Tensor& variable, bool is_output) {
  if (!variable.defined()) return;
  TORCH_CHECK(!c10::is_inference(*variable.unsafe_impl()),
              "Inference tensors cannot be saved for backward. Please do not use Tensors created "
              "in inference mode in computation tracked by autograd. To work around this, you can "
              "make a clone to get a normal tensor and use it in autograd, or use "
              "`torch.no_grad()` instead of `torch.inference_mode()`.");

  was_saved_ = true;
  saved_version_ = variable.version();

  // A result that does not need a gradient does not own a node.
  is_output_ = is_output && requires_grad(variable);
  if (is_output_) {
    if (const AutogradMeta* meta = autograd_meta(variable)) output_nr_ = meta->output_nr;
    if (variable.is_view()) copy_slices_ = grad_fn(at::Tensor(variable.impl()->base()));
    data_ = detach(variable);
  } else {
    data_ = variable;
  }

  if (C10_UNLIKELY(DefaultSavedVariableHooks::depth() != 0)) {
    if (auto hooks = DefaultSavedVariableHooks::make()) pack(std::move(hooks));
  }
}

void SavedVariable::register_hooks(std::unique_ptr<SavedVariableHooks> hooks) {
  TORCH_CHECK(was_saved_, "Calling register_hooks on a saved tensor with value None is forbidden");
  TORCH_CHECK(!packed_, "Calling register_hooks on a saved tensor whose hooks have already been "
                        "set. Hint: only one pair of hooks is allowed at a time.");
  TORCH_CHECK(data_.defined(), kBackwardTwiceMessage);
  check_version(nullptr);
  pack(std::move(hooks));
}

void SavedVariable::pack(std::unique_ptr<SavedVariableHooks> hooks) {
  auto packed = std::make_unique<Packed>();
  if (!is_output_) {
    packed->history = gradient_edge(data_);
    packed->requires_grad = requires_grad(data_) && is_leaf(data_);
  }

  {
    const c10::NoGradGuard no_grad;
    // The packed value must not keep the graph alive: a leaf is passed as it is, everything else
    // without history.
    const uint32_t version = data_.version();
    hooks->pack(is_output_ || is_leaf(data_) ? data_ : detach(data_));
    TORCH_CHECK(data_.version() == version,
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook can not be modified by in-place operations as this can lead to "
                "unexpected side-effects.");
  }

  packed->hooks = std::move(hooks);
  packed_ = std::move(packed);
  data_.reset();
}

void SavedVariable::reset() {
  data_.reset();
  packed_.reset();
  copy_slices_.reset();
}

// --- Unpacking ---

void refuse_changed(const at::Tensor& tensor, uint32_t expected, const std::string& origin) {
  std::string message = "one of the variables needed for gradient computation has been modified by "
                        "an inplace operation: [torch.";
  if (!tensor.is_cpu()) message += c10::device_type_name(tensor.device().type) + ".";
  message +=
      c10::str(c10::scalar_type_name(tensor.scalar_type()), "Tensor ", tensor.sizes(), "]", origin,
               " is at version ", tensor.version(), "; expected version ", expected, " instead.");
  message += AnomalyMode::is_enabled()
                 ? " Hint: the backtrace further above shows the operation that failed to compute "
                   "its gradient. The variable in question was changed in there or anywhere later."
                 : " Hint: enable anomaly detection to find the operation that failed to compute "
                   "its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).";

  TORCH_THROW(Error, message);
}

void SavedVariable::check_version(const Node* owner) const {
  if (C10_LIKELY(!is_changed())) return;

  std::string origin;
  const NodePtr history = is_output_ ? NodePtr() : grad_fn(data_);
  if (const Node* node = is_output_ ? owner : history.get()) {
    origin = c10::str(", which is output ", is_output_ ? output_nr_ : output_nr(data_), " of ",
                      operator_name(*node), ",");
  }
  refuse_changed(data_, saved_version_, origin);
}

at::Tensor SavedVariable::unpack(const Node* owner) const {
  check_version(owner);
  return unpack_unchecked(owner);
}

at::Tensor SavedVariable::unpack_unchecked(const Node* owner) const {
  if (C10_UNLIKELY(packed_ != nullptr)) return unpack_hooked(owner);
  if (!data_.defined()) {
    TORCH_CHECK(!was_saved_, kBackwardTwiceMessage);
    return {};
  }

  // Without grad mode, nothing computed from an output gets a history, so the output does not need
  // its own.
  if (!is_output_ || owner == nullptr || !c10::GradMode::is_enabled()) return data_;
  return join_to(*owner, detach(data_));
}

at::Tensor SavedVariable::join_to(const Node& owner, at::Tensor output) const {
  // The owner of a view changed in place works inside of CopySlices. As a node of its own it would
  // run, and be released, twice.
  const NodePtr around = copy_slices_.lock();

  if (NodePtr view = around ? view_of_copy_slices(around) : NodePtr()) {
    set_gradient_edge(output, {std::move(view), 0});
  } else {
    set_gradient_edge(output, {NodePtr::reclaim_copy(const_cast<Node*>(&owner)), output_nr_});
  }

  return output;
}

at::Tensor SavedVariable::unpack_hooked(const Node* owner) const {
  const at::Tensor unpacked = packed_->hooks->unpack();
  TORCH_CHECK(unpacked.defined(),
              "the unpack hook of a saved tensor returned nothing; expected a Tensor");

  at::Tensor result = detach(unpacked);
  if (is_output_) {
    if (owner != nullptr) join_to(*owner, result);
  } else if (packed_->requires_grad) {
    set_requires_grad(result, true);
    // Gradients go to the original leaf.
    autograd_meta(result)->grad_accumulator = packed_->history.function;
  } else if (packed_->history.is_valid()) {
    set_gradient_edge(result, packed_->history);
  }

  return result;
}

std::vector<SavedVariable> save_list(at::TensorList list) {
  std::vector<SavedVariable> saved;
  saved.reserve(list.size());
  for (const at::Tensor& tensor : list) saved.emplace_back(tensor, /*is_output=*/false);
  return saved;
}

std::vector<at::Tensor> unpack_list(const std::vector<SavedVariable>& saved, const Node* owner) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(saved.size());
  for (const SavedVariable& variable : saved) tensors.push_back(variable.unpack(owner));
  return tensors;
}

void reset_list(std::vector<SavedVariable>& saved) {
  for (SavedVariable& variable : saved) variable.reset();
}

}  // namespace torch::autograd
