// A call of a compiled graph, and its record for autograd.
#include "torch_py/csrc/compiler/program/TrainingGraph.h"

#include <algorithm>

#include "c10/core/InferenceMode.h"
#include "c10/util/Exception.h"
#include "torch_py/csrc/autograd/CustomFunction.h"

namespace torch::programs {

namespace {

using autograd::variable_list;
using Tensors = c10::SmallVector<at::Tensor, 16>;

bool is_tangent(const TrainingGraph& graph, size_t output) {
  return std::find(graph.tangents.begin(), graph.tangents.end(), output) != graph.tangents.end();
}

/// The outputs of forward, which must be tensors.
Tensors outputs_among(const Items& results, const TrainingGraph& graph) {
  TORCH_CHECK(results.size() >= graph.num_outputs, graph.name, ": forward returned ",
              results.size(), " results, of which ", graph.num_outputs, " should be outputs");
  Tensors outputs;
  for (size_t i = 0; i < graph.num_outputs; ++i) {
    TORCH_CHECK(!is_tangent(graph, i) || results[i].tensor.defined(), graph.name, ": output ", i,
                " of forward has a gradient but is not a tensor");
    outputs.push_back(results[i].tensor);
  }
  return outputs;
}

bool needs_record(const Arguments& inputs) {
  if (!c10::GradMode::is_enabled() || c10::local_state().inference_mode) return false;
  return std::any_of(inputs.begin(), inputs.end(), [](const Argument& input) {
    return input.tensor != nullptr && autograd::requires_grad(*input.tensor);
  });
}

/// The edges to the inputs that backward returns gradients of.
autograd::edge_list edges_of(const Arguments& inputs, const TrainingGraph& graph) {
  autograd::edge_list edges;
  for (const size_t position : graph.differentiated) {
    TORCH_CHECK(position < inputs.size(), graph.name, ": input ", position,
                " is to be differentiated, but there are ", inputs.size());
    const at::Tensor* tensor = inputs[position].tensor;
    edges.push_back(tensor != nullptr ? autograd::gradient_edge(*tensor) : autograd::Edge());
  }
  return edges;
}

/// The inputs that are also outputs.
Tensors returned_inputs(const Arguments& inputs, const Tensors& outputs) {
  Tensors returned;
  for (const at::Tensor& output : outputs) {
    for (const Argument& input : inputs) {
      const bool is_same = input.tensor != nullptr && input.tensor->is_same(output);
      if (is_same && output.defined()) returned.push_back(output);
    }
  }
  return returned;
}

bool is_view_of(const at::Tensor& view, const at::Tensor& tensor) {
  const auto& base = view.impl()->base();
  return base == tensor.impl() || base == tensor.impl()->base();
}

/// Another tensor of the same memory, whose changes count for both.
at::Tensor alias_of(const at::Tensor& tensor) {
  at::Tensor alias(tensor.impl()->shallow_copy());
  alias.unsafe_impl()->share_version_with(*tensor.impl());
  return alias;
}

/// An output that is a view of what the graph has computed, as a tensor that is not a view: the
/// program may change it in place, as nobody else has that memory.
at::Tensor without_hidden_base(const Arguments& inputs, const at::Tensor& output) {
  if (!output.defined() || !output.is_view()) return output;
  for (const Argument& input : inputs)
    if (input.tensor != nullptr && is_view_of(output, *input.tensor)) return output;

  return alias_of(output);
}

/// Outputs that have no gradient, as tensors of their own: the same value may be an output that has
/// one, such as a result that is also the new value of an argument.
Tensors separate_without_gradient(const TrainingGraph& graph, Tensors& outputs) {
  Tensors found;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_tangent(graph, i) || !outputs[i].defined()) continue;
    for (const size_t tangent : graph.tangents) {
      if (!outputs[i].is_same(outputs[tangent])) continue;
      outputs[i] = alias_of(outputs[i]);
      break;
    }
    found.push_back(outputs[i]);
  }
  return found;
}

/// Gives outputs their history and keeps what backward needs.
void record(const c10::intrusive_ptr<CompiledNode>& node, const TrainingGraph& graph,
            const Arguments& inputs, Items& results) {
  Tensors outputs = outputs_among(results, graph);
  for (at::Tensor& output : outputs) output = without_hidden_base(inputs, output);
  const Tensors without_gradient = separate_without_gradient(graph, outputs);

  for (const size_t tangent : graph.tangents) node->note_output(outputs[tangent]);
  const Tensors returned = returned_inputs(inputs, outputs);
  variable_list wrapped =
      autograd::wrap_outputs({returned, without_gradient, {}}, outputs, autograd::NodePtr(node));
  for (size_t i = 0; i < outputs.size(); ++i) results[i].tensor = std::move(wrapped[i]);
  for (size_t i = outputs.size(); i < results.size(); ++i) node->save(results[i], inputs);

  for (const Watch& watch : graph.watches) {
    if (!watch.is_input) {
      node->note_watched(watch, results[watch.position].tensor, inputs);
      continue;
    }
    TORCH_CHECK(watch.position < inputs.size(), graph.name, ": input ", watch.position,
                " is to be watched, but there are ", inputs.size());
    const at::Tensor* tensor = inputs[watch.position].tensor;
    if (tensor != nullptr) node->note_watched(watch, *tensor, inputs);
  }
}

}  // namespace

Items run_training_graph(const std::shared_ptr<const TrainingGraph>& graph,
                         const Arguments& inputs) {
  const bool is_recorded = needs_record(inputs);
  Items results;
  {
    const c10::NoGradGuard unrecorded;
    results = graph->forward->run(inputs);
  }

  if (is_recorded) {
    const auto node = c10::make_intrusive<CompiledNode>(graph);
    node->set_next_edges(edges_of(inputs, *graph));
    record(node, *graph, inputs, results);
  } else {
    outputs_among(results, *graph);
  }

  while (results.size() > graph->num_outputs) results.pop_back();
  return results;
}

}  // namespace torch::programs
