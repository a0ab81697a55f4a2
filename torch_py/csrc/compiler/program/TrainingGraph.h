// A compiled graph and its gradient, as one step of autograd.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "torch_py/csrc/autograd/SavedVariable.h"
#include "torch_py/csrc/compiler/program/Program.h"

namespace torch::programs {

/// Runs a graph. The bindings subclass it.
class Graph {
 public:
  virtual ~Graph() = default;
  /// Owned arguments may be released as soon as they are not needed.
  virtual Items run(const Arguments& arguments) const = 0;
};

/// Makes graphs for passes of backward at which only some tangents arrive.
class GraphsOfTangents {
 public:
  virtual ~GraphsOfTangents() = default;
  /// The graph for the tangents at these places in TrainingGraph::tangents; it takes the saved
  /// values, and then these tangents. May be null: all of backward runs then, with zeros.
  virtual std::shared_ptr<const Graph> graph_for(const std::vector<size_t>& arrived) const = 0;
};

/// A part of backward that uses saved values. It runs when the gradient of one of some outputs
/// arrives and one of some gradients is wanted.
struct SavedUse {
  std::vector<size_t> saved;      // places among what forward saves
  std::vector<size_t> tangents;   // places in TrainingGraph::tangents
  std::vector<size_t> gradients;  // places in TrainingGraph::differentiated
};

/// An input or output that the program itself would need in backward. The compiler computes its
/// value anew, or keeps another tensor with it.
struct Watch {
  bool is_input = false;
  size_t position = 0;
  size_t writes = 0;             // how often the caller changes it after forward, by the program
  std::vector<size_t> tangents;  // places in TrainingGraph::tangents, one of which has to arrive
};

/// An input whose shape the caller changes in place after forward, by the program.
struct Reshaped {
  size_t position = 0;
  size_t count = 0;  // of changes
};

/// The forward and the backward graph of a training step.
///
/// Forward takes the inputs and returns `num_outputs` outputs for the caller and then what backward
/// needs. Backward takes the latter and the gradients of the outputs `tangents`, and returns those
/// of the inputs `differentiated`.
struct TrainingGraph {
  std::string name = "CompiledFunctionBackward";  // of the node
  std::shared_ptr<const Graph> forward;
  std::shared_ptr<const Graph> backward;
  size_t num_outputs = 0;
  std::vector<size_t> tangents;
  std::vector<size_t> differentiated;
  // For each gradient the places in `tangents` that it depends on: without any of them it is
  // undefined. Empty if nothing is known.
  std::vector<std::vector<size_t>> reached;
  // What saved values are used for. A second pass through the same use is an error. Empty if
  // nothing is known: any pass uses all of them.
  std::vector<SavedUse> uses;
  // What must not be changed in place before backward.
  std::vector<Watch> watches;
  // What is saved of these inputs, or of their memory, is what the program has kept afterwards.
  std::vector<Reshaped> reshaped;
  // Whether backward gets zeros, rather than an undefined tensor, for an output without gradient.
  bool materializes = true;
  // Whether backward is an error, also where its gradients lead to no leaf.
  bool raises = false;
  // What runs instead of backward if some outputs have no gradient. May be null.
  std::shared_ptr<const GraphsOfTangents> partial;
};

/// The backward step of a training graph.
///
/// Note [Passes through parts]
/// Every pass reads all saved values. It needs some of them only for gradients that have not
/// arrived: backward takes zeros for these, and a graph for the other gradients ignores them. Saved
/// values are therefore kept until no further pass can come. One through a use that has run already
/// is an error, as eager mode has released what it needs; what is left are results and gradients
/// that other uses connect.
class CompiledNode final : public autograd::Node {
 public:
  explicit CompiledNode(std::shared_ptr<const TrainingGraph> graph) : graph_(std::move(graph)) {}

  const char* name() const override { return graph_->name.c_str(); }
  bool is_several_steps() const override { return true; }
  autograd::variable_list apply(autograd::variable_list&& grads) override;

  /// Call after the outputs have their history.
  void save(const Item& item, const Arguments& inputs);
  /// Makes further changes of a tensor an error in backward. `watch` belongs to the graph.
  void note_watched(const Watch& watch, const at::Tensor& tensor, const Arguments& inputs);
  /// Notes how an output lies in memory, as backward expects its gradient.
  void note_output(const at::Tensor& output);

 protected:
  void release_resources() override;

 private:
  struct Saved {
    autograd::SavedVariable tensor;
    int64_t integer = 0;
    bool is_integer = false;
    at::DimVector sizes;
    at::DimVector strides;
  };

  /// The version of a tensor, and what it should be.
  struct Watched {
    const Watch& watch;
    at::Tensor witness;  // shares the version with the tensor, but not the memory
    uint32_t version = 0;
  };

  uint32_t changes_of_shape(const at::Tensor& tensor, const Arguments& inputs) const;
  void check_watched(const autograd::variable_list& grads) const;
  bool arrives(const std::vector<size_t>& tangents, const autograd::variable_list& grads) const;
  bool runs(const SavedUse& use, const autograd::variable_list& grads) const;
  std::vector<size_t> uses_of_pass(const autograd::variable_list& grads) const;
  std::vector<bool> needed_by(const std::vector<size_t>& uses) const;
  at::Tensor unpack_unused(const Saved& saved) const;
  Items unpack_saved(const std::vector<size_t>& uses) const;
  bool reaches(size_t tangent, size_t gradient) const;
  void note_pass(const std::vector<size_t>& uses, const autograd::variable_list& grads);
  std::vector<size_t> gradients_left(size_t tangent) const;
  bool may_come_again(size_t tangent) const;
  bool is_spent() const;
  void release_saved();
  std::shared_ptr<const Graph> partial_backward(const autograd::variable_list& grads) const;
  Items tangents(const autograd::variable_list& grads, bool arrived_only) const;
  at::Tensor fitted(const at::Tensor& tangent, size_t place) const;
  bool is_reached(size_t gradient, const autograd::variable_list& grads) const;
  std::vector<bool> gradients_of_pass(const autograd::variable_list& grads) const;
  void refuse_second_derivatives(const autograd::variable_list& results,
                                 at::TensorList sources) const;

  std::shared_ptr<const TrainingGraph> graph_;
  std::vector<Saved> saved_;
  std::vector<Watched> watched_;
  std::vector<at::DimVector> strides_;  // of the gradient of each of graph_->tangents

  // What passes that did not retain the graph have done.
  std::vector<bool> used_;               // for each of graph_->uses
  std::vector<std::vector<bool>> done_;  // for each tangent: the gradients; empty before it came
};

/// Runs forward and records the call if grad mode is on and an input requires
/// grad. Returns the outputs for the caller.
Items run_training_graph(const std::shared_ptr<const TrainingGraph>& graph,
                         const Arguments& inputs);

}  // namespace torch::programs
