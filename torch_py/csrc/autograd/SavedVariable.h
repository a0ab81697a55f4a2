#pragma once
#include "torch_py/csrc/autograd/AutogradMeta.h"

namespace torch::autograd {

/// Pack and unpack of one saved tensor (torch.autograd.graph.saved_tensors_hooks); the bindings
/// subclass it.
struct TORCH_PY_API SavedVariableHooks {
  virtual ~SavedVariableHooks();
  virtual void pack(const at::Tensor& tensor) = 0;
  virtual at::Tensor unpack() = 0;
};

/// Hooks that apply to every tensor saved on this thread, while `push`ed. The factory makes the
/// hooks in force, on top of the bindings' own stack.
struct TORCH_PY_API DefaultSavedVariableHooks {
  using Factory = std::unique_ptr<SavedVariableHooks> (*)();
  static void set_factory(Factory factory);
  static void push();
  static void pop();
  static int depth();
  static void set_depth(int depth);  // carries the state to another thread
  static std::unique_ptr<SavedVariableHooks> make();
};

/// A tensor kept for backward.
///
/// An output of the saving node must not be kept as it is: it owns the node, which would own it.
/// Its memory is kept without history, and unpack() under grad mode joins it to the node again.
/// Either way the version at the time of saving is remembered, and a tensor that was changed in
/// place since is refused.
class TORCH_PY_API SavedVariable {
 public:
  SavedVariable() = default;
  /// An output is saved after set_history or rebase_history.
  SavedVariable(const at::Tensor& variable, bool is_output);

  /// `owner`: the node itself. Throws when the tensor was changed or released. What is shown to
  /// users (ctx.saved_tensors) is to be unpacked under AutoGradMode(true), so that outputs have
  /// their history whatever the mode.
  at::Tensor unpack(const Node* owner = nullptr) const;
  /// Releases the tensor.
  void reset();
  /// Packs the tensor that is saved already (grad_fn._raw_saved_self.register_hooks).
  void register_hooks(std::unique_ptr<SavedVariableHooks> hooks);
  bool is_defined() const { return was_saved_; }

 private:
  struct Packed {
    std::unique_ptr<SavedVariableHooks> hooks;
    Edge history;                // of a saved input
    bool requires_grad = false;  // leaf
  };
  void pack(std::unique_ptr<SavedVariableHooks> hooks);
  void check_version(const Node* owner) const;
  at::Tensor unpack_hooked(const Node* owner) const;
  at::Tensor join_to(const Node& owner, at::Tensor output) const;

  at::Tensor data_;
  std::unique_ptr<Packed> packed_;
  c10::weak_intrusive_ptr<Node>
      copy_slices_;  // of an output that is a view changed in place: the node around the owner
  uint32_t saved_version_ = 0;
  uint32_t output_nr_ = 0;
  bool is_output_ = false;  // kept without history
  bool was_saved_ = false;
};

TORCH_PY_API std::vector<SavedVariable> save_list(at::TensorList list);
TORCH_PY_API std::vector<at::Tensor> unpack_list(const std::vector<SavedVariable>& saved,
                                                 const Node* owner);
TORCH_PY_API void reset_list(std::vector<SavedVariable>& saved);

}  // namespace torch::autograd
