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
  // Whether backward gets zeros, rather than an undefined tensor, for an output without gradient.
  bool materializes = true;
};

/// The backward step of a training graph.
class CompiledNode final : public autograd::Node {
 public:
  explicit CompiledNode(std::shared_ptr<const TrainingGraph> graph) : graph_(std::move(graph)) {}

  const char* name() const override { return graph_->name.c_str(); }
  autograd::variable_list apply(autograd::variable_list&& grads) override;
  void release_variables() override;

  /// Call after the outputs have their history.
  void save(const Item& item);
  /// Notes how an output lies in memory, as backward expects its gradient.
  void note_output(const at::Tensor& output);

 private:
  struct Saved {
    autograd::SavedVariable tensor;
    int64_t integer;
    bool is_integer;
  };

  Items unpack_saved() const;
  Items tangents(const autograd::variable_list& grads) const;
  at::Tensor fitted(const at::Tensor& tangent, size_t place) const;
  bool is_reached(size_t gradient, const autograd::variable_list& grads) const;
  void refuse_second_derivatives(const autograd::variable_list& results,
                                 at::TensorList sources) const;

  std::shared_ptr<const TrainingGraph> graph_;
  std::vector<Saved> saved_;
  std::vector<at::DimVector> strides_;  // of the gradient of each of graph_->tangents
};

/// Runs forward and records the call if grad mode is on and an input requires
/// grad. Returns the outputs for the caller.
Items run_training_graph(const std::shared_ptr<const TrainingGraph>& graph,
                         const Arguments& inputs);

}  // namespace torch::programs
