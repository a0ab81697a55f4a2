// Nodes: the steps of the backward pass, and the edges that make them a graph.
#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "c10/core/Stream.h"
#include "torch_py/csrc/autograd/Hooks.h"

struct _object;  // PyObject, only carried

namespace torch::autograd {

/// A value that a node has saved, for inspection. Types that nobody inspects become an empty value.
struct SavedValue {
  template <class T>
  SavedValue(const T&) {}
  SavedValue() = default;
  SavedValue(at::Tensor tensor) : value(std::move(tensor)) {}
  SavedValue(std::vector<at::Tensor> tensors) : value(std::move(tensors)) {}
  SavedValue(bool flag) : value(flag) {}
  SavedValue(int64_t number) : value(number) {}
  SavedValue(double number) : value(number) {}
  SavedValue(const c10::Scalar& number) : value(number) {}
  SavedValue(const c10::DimVector& numbers) : value(numbers) {}
  SavedValue(c10::ScalarType dtype) : value(dtype) {}
  SavedValue(const std::string& text) : value(text) {}
  template <class T>
  SavedValue(const std::optional<T>& optional) {
    if (optional) *this = SavedValue(*optional);
  }

  std::variant<std::monostate, at::Tensor, std::vector<at::Tensor>, bool, int64_t, double,
               c10::Scalar, c10::DimVector, c10::ScalarType, std::string>
      value;
};

class Node;
using NodePtr = c10::intrusive_ptr<Node>;

/// "Output `input_nr` of the forward operator", seen backwards: gradient number `input_nr` of
/// `function`.
struct Edge {
  NodePtr function;  // null if no gradient is needed
  uint32_t input_nr = 0;

  bool is_valid() const { return function.defined(); }
  friend bool operator==(const Edge& a, const Edge& b) {
    return a.function == b.function && a.input_nr == b.input_nr;
  }
};
using edge_list = c10::SmallVector<Edge, 2>;

/// Geometry and type that a gradient must have: those of the forward output that it belongs to.
struct TORCH_PY_API InputMetadata {
  /// For an output that takes no gradient (undefined, or of integral type).
  InputMetadata() = default;
  explicit InputMetadata(const at::Tensor& output)
      : sizes(output.sizes()),
        dtype(output.scalar_type()),
        device(output.device()),
        layout(output.layout()) {}
  InputMetadata(c10::IntArrayRef sizes, c10::ScalarType dtype, c10::Device device)
      : sizes(sizes), dtype(dtype), device(device) {}

  bool is_defined() const { return dtype != c10::ScalarType::Undefined; }
  bool matches(const at::Tensor& grad) const {
    return grad.scalar_type() == dtype && grad.device() == device && grad.layout() == layout &&
           grad.sizes() == c10::IntArrayRef(sizes);
  }
  /// A gradient of zeros.
  at::Tensor zeros() const;

  c10::SmallVector<int64_t, 4> sizes;
  c10::ScalarType dtype = c10::ScalarType::Undefined;  // Undefined: takes no gradient
  c10::Device device;
  c10::Layout layout = c10::Layout::Strided;
};

/// A step of the backward pass: takes the gradients of the forward operator's outputs and returns
/// those of its inputs, one per next edge. Nodes are reference counted. Edges point from outputs to
/// inputs, so the graph is acyclic and is freed with the last output.
///
/// Note [Long graphs]
/// A chain of a million nodes must not be freed by recursion. ~Node hands its edges to the
/// outermost release in progress on this thread, which drops them in a loop. Members of derived
/// classes go first; the saved tensors among them may hold the nodes that made them, but the edges
/// still hold the same nodes, so this cannot recurse deeply.
class TORCH_PY_API Node : public c10::intrusive_ptr_target {
 public:
  Node();
  ~Node() override;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// The name in Python, "AddBackward0".
  virtual const char* name() const = 0;
  /// `grads` has num_inputs() elements, the result num_outputs(); undefined ones are zero.
  virtual variable_list apply(variable_list&& grads) = 0;
  /// Whether it stands for several nodes of a program. Those whose gradient does not arrive would
  /// not run, so that hooks of its inputs are called with gradients only.
  virtual bool is_several_steps() const { return false; }
  /// Drops saved tensors; called after apply unless the graph is retained.
  virtual void release_variables() {}

  /// The names of the values that the node keeps from the forward call (grad_fn._saved_self).
  virtual std::vector<const char*> saved_names() const { return {}; }
  /// The value of one of them. Throws if it was released.
  virtual SavedValue saved_value(std::string_view) const { return {}; }

  // --- Edges: to the nodes that computed the forward inputs ---

  void set_next_edges(edge_list&& edges);
  void add_next_edge(Edge edge);
  const edge_list& next_edges() const { return next_edges_; }
  const Edge& next_edge(size_t index) const { return next_edges_[index]; }
  size_t num_outputs() const { return next_edges_.size(); }
  /// Whether the gradient for an edge is wanted: it leads somewhere, and the pass that runs the
  /// node follows it (FollowedEdges).
  bool should_compute_output(size_t edge) const {
    return next_edges_[edge].is_valid() && is_followed(edge);
  }

  // --- Inputs: gradients of the forward outputs ---

  /// Declares the next forward output; returns its number.
  uint32_t add_input_metadata(InputMetadata output);
  uint32_t add_input_metadata(const at::Tensor& output) {
    return add_input_metadata(InputMetadata(output));
  }
  uint32_t add_undefined_input() { return add_input_metadata(InputMetadata()); }
  const InputMetadata& input_metadata(size_t index) const { return input_metadata_[index]; }
  size_t num_inputs() const { return input_metadata_.size(); }
  /// The device whose thread runs this node: that of the first input that is not on the CPU.
  c10::Device device() const;
  /// The stream of the forward call, of the device above: Note [Streams of a backward pass].
  c10::Stream stream() const { return stream_; }

  // --- Order ---

  /// Among nodes that are ready, those made later on a thread run earlier.
  uint64_t sequence_nr() const { return sequence_nr_; }
  /// The longest path to a node without edges; a node reaches only nodes with a smaller number.
  uint64_t topological_nr() const { return topological_nr_; }

  // --- Hooks ---

  /// Null for a node without any.
  const NodeHooks* hooks() const { return hooks_.get(); }
  NodeHooks& mutable_hooks() {
    if (!hooks_) hooks_ = std::make_unique<NodeHooks>();
    return *hooks_;
  }
  void add_tensor_hook(uint32_t input_nr, std::shared_ptr<TensorHook> hook);
  void add_pre_hook(std::shared_ptr<FunctionPreHook> hook) {
    mutable_hooks().pre_hooks.push_back(std::move(hook));
  }
  void add_post_hook(std::shared_ptr<FunctionPostHook> hook) {
    mutable_hooks().post_hooks.push_back(std::move(hook));
  }

  /// The Python object of this node while it has one. The bindings own the object and clear this.
  std::atomic<_object*> pyobj{nullptr};

 protected:
  explicit Node(uint64_t sequence_nr);
  void release_resources() override;
  /// Whether the pass that runs the node follows an edge (FollowedEdges).
  bool is_followed(size_t edge) const;

 private:
  void release_edges() noexcept;
  /// Keeps topological_nr_ above that of every child.
  void note_child(const Edge& edge) {
    if (edge.function && edge.function->topological_nr_ >= topological_nr_)
      topological_nr_ = edge.function->topological_nr_ + 1;
  }

  uint64_t sequence_nr_;         // order of creation on the thread
  uint64_t topological_nr_ = 0;  // above that of every node that this one reaches
  edge_list next_edges_;         // one per forward input
  c10::SmallVector<InputMetadata, 1> input_metadata_;  // one per forward output
  c10::Stream stream_;                // of the device "cpu" until an output is on another device
  std::unique_ptr<NodeHooks> hooks_;  // null for most nodes
};

/// Held while a pass to given inputs runs a node: the edges that it follows, bit by bit. Of edges
/// beyond the 64th, and of other nodes, all are followed.
class TORCH_PY_API FollowedEdges {
 public:
  FollowedEdges(const Node* node, uint64_t edges);
  ~FollowedEdges();
  FollowedEdges(const FollowedEdges&) = delete;
  FollowedEdges& operator=(const FollowedEdges&) = delete;

 private:
  friend class Node;
  const Node* node_;
  uint64_t edges_;
  const FollowedEdges* previous_;
};

/// The operator's name in error messages: "Add" for AddBackward0.
TORCH_PY_API std::string operator_name(const Node& node);

/// Whether gradients can flow through values of this type.
constexpr bool is_differentiable(c10::ScalarType dtype) {
  return c10::is_floating(dtype) || c10::is_complex(dtype);
}

/// The error for saved tensors that have been released.
TORCH_PY_API extern const char* const kBackwardTwiceMessage;

}  // namespace torch::autograd
