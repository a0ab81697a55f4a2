// Tensors that nodes keep for backward.
#pragma once
#include "torch_py/csrc/autograd/AutogradMeta.h"

namespace torch::autograd {

/// Packs and unpacks one saved tensor (torch.autograd.graph.saved_tensors_hooks). The bindings
/// subclass it.
struct TORCH_PY_API SavedVariableHooks {
  virtual ~SavedVariableHooks();
  virtual void pack(const at::Tensor& tensor) = 0;
  virtual at::Tensor unpack() = 0;
};

/// Hooks that apply to every tensor saved on this thread while `depth()` is not zero. The bindings
/// keep the stack of hooks; the factory makes those in force.
struct TORCH_PY_API DefaultSavedVariableHooks {
  using Factory = std::unique_ptr<SavedVariableHooks> (*)();
  static void set_factory(Factory factory);
  static void push();
  static void pop();
  static int depth();
  static void set_depth(int depth);  // carries the state to another thread
  /// Null if no hooks are in force.
  static std::unique_ptr<SavedVariableHooks> make();
};

/// A tensor kept for backward.
///
/// An output of the saving node must not be kept as it is: it owns the node, which would own it.
/// Its memory is kept without history, and unpack() under grad mode connects it to the node again.
/// In either case the version at the time of saving is remembered, and unpacking a tensor that was
/// changed in place since is an error.
class TORCH_PY_API SavedVariable {
 public:
  SavedVariable() = default;
  /// An output must be saved after set_history or rebase_history.
  SavedVariable(const at::Tensor& variable, bool is_output);

  /// `owner` is the node that saved the tensor. Throws if the tensor was changed or released.
  /// Unpack tensors that users will see (ctx.saved_tensors) under AutoGradMode(true), so that
  /// outputs have their history in every mode.
  at::Tensor unpack(const Node* owner = nullptr) const;
  /// Like unpack(), for a caller that does not depend on the values: they may have changed.
  at::Tensor unpack_unchecked(const Node* owner = nullptr) const;
  /// Whether the tensor was changed in place since; false if hooks keep it.
  bool is_changed() const { return data_.defined() && data_.version() != saved_version_; }
  /// Allows this many changes in place, which leave the elements as they are.
  void allow_changes(uint32_t count) { saved_version_ += count; }
  /// Releases the tensor.
  void reset();
  /// Packs a tensor that is saved already (grad_fn._raw_saved_self.register_hooks).
  void register_hooks(std::unique_ptr<SavedVariableHooks> hooks);
  /// Whether a defined tensor was saved, also after it was released.
  bool is_defined() const { return was_saved_; }

 private:
  struct Packed {
    std::unique_ptr<SavedVariableHooks> hooks;
    Edge history;                // of a saved input
    bool requires_grad = false;  // the saved input was a leaf that requires grad
  };

  void pack(std::unique_ptr<SavedVariableHooks> hooks);
  void check_version(const Node* owner) const;
  at::Tensor unpack_hooked(const Node* owner) const;
  at::Tensor join_to(const Node& owner, at::Tensor output) const;

  at::Tensor data_;                 // undefined if packed or released
  std::unique_ptr<Packed> packed_;  // null unless hooks have packed the tensor
  // For an output that is a view changed in place: the node around the owner.
  c10::weak_intrusive_ptr<Node> copy_slices_;
  uint32_t saved_version_ = 0;
  uint32_t output_nr_ = 0;  // of an output: its number at the owner
  bool is_output_ = false;  // kept without history
  bool was_saved_ = false;
};

TORCH_PY_API std::vector<SavedVariable> save_list(at::TensorList list);
TORCH_PY_API std::vector<at::Tensor> unpack_list(const std::vector<SavedVariable>& saved,
                                                 const Node* owner);
TORCH_PY_API void reset_list(std::vector<SavedVariable>& saved);

}  // namespace torch::autograd
