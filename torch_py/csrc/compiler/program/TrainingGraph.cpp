// A compiled graph and its gradient, as one step of autograd.
#include "torch_py/csrc/compiler/program/TrainingGraph.h"

#include <algorithm>

#include "c10/core/InferenceMode.h"
#include "c10/util/Exception.h"
#include "torch_py/csrc/autograd/ChangedInPlace.h"
#include "torch_py/csrc/autograd/CustomFunction.h"
#include "torch_py/csrc/autograd/Engine.h"

namespace torch::programs {

namespace {

using autograd::variable_list;
using Tensors = c10::SmallVector<at::Tensor, 16>;

at::DimVector strides_of_gradient(const at::Tensor& output) {
  if (output.is_non_overlapping_and_dense()) return at::DimVector(output.strides());
  return at::strides_in_order_of(output);
}

/// Whether the strides of a tensor are as wanted where they matter.
bool has_strides(const at::Tensor& tensor, at::IntArrayRef strides) {
  if (tensor.strides() == strides || tensor.numel() == 0) return true;
  for (size_t i = 0; i < strides.size(); ++i) {
    if (tensor.strides()[i] != strides[i] && tensor.sizes()[i] != 1) return false;
  }
  return true;
}

Tensors tensors_among(const Items& items) {
  Tensors tensors;
  for (const Item& item : items) tensors.push_back(item.tensor);
  return tensors;
}

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
  for (size_t i = outputs.size(); i < results.size(); ++i) node->save(results[i]);

  for (const Watch& watch : graph.watches) {
    if (!watch.is_input) {
      node->note_watched(watch, results[watch.position].tensor);
      continue;
    }
    TORCH_CHECK(watch.position < inputs.size(), graph.name, ": input ", watch.position,
                " is to be watched, but there are ", inputs.size());
    const at::Tensor* tensor = inputs[watch.position].tensor;
    if (tensor != nullptr) node->note_watched(watch, *tensor);
  }
}

Arguments owned_arguments(Items& items) {
  Arguments arguments;
  for (Item& item : items) {
    if (item.is_integer) {
      arguments.push_back({nullptr, item.integer, nullptr});
    } else {
      arguments.push_back({&item.tensor, 0, &item.tensor});
    }
  }
  return arguments;
}

/// Stands in the graph of gradients of a compiled graph, which cannot be differentiated again.
class SecondDerivative final : public autograd::Node {
 public:
  explicit SecondDerivative(std::string name) : name_(std::move(name)) {}

  const char* name() const override { return name_.c_str(); }
  variable_list apply(variable_list&&) override {
    TORCH_THROW(Error,
                "torch.compile with aot_autograd does not currently support double backward: the "
                "backward of a compiled graph was itself differentiated. Run the part whose second "
                "derivative is needed without torch.compile, for example under "
                "torch.compiler.disable, or drop create_graph=True.");
  }

 private:
  std::string name_;
};

}  // namespace

// --- Forward ---

void CompiledNode::save(const Item& item) {
  if (item.is_integer) {
    saved_.push_back({{}, item.integer, true, nullptr});
    return;
  }
  const bool is_output = autograd::requires_grad(item.tensor) &&
                         autograd::grad_fn(item.tensor).get() == static_cast<Node*>(this);
  saved_.push_back({autograd::SavedVariable(item.tensor, is_output), 0, false, nullptr});
}

void CompiledNode::note_watched(const Watch& watch, const at::Tensor& tensor) {
  if (!tensor.defined() || c10::is_inference(*tensor.impl())) return;
  // A single element, for the sizes that messages show.
  const at::DimVector strides(tensor.dim(), 0);
  const at::Tensor witness =
      at::empty_strided_tensor(tensor.sizes(), strides, tensor.scalar_type(), tensor.device());
  witness.unsafe_impl()->share_version_with(*tensor.impl());
  watched_.push_back({watch, witness, tensor.version() + static_cast<uint32_t>(watch.writes)});
}

void CompiledNode::check_watched(const variable_list& grads) const {
  for (const Watched& watched : watched_) {
    const bool is_changed = watched.witness.version() != watched.version;
    if (is_changed && arrives(watched.watch.tangents, grads))
      autograd::refuse_changed(watched.witness, watched.version, {});
  }
}

/// Whether one of some tangents is there.
bool CompiledNode::arrives(const std::vector<size_t>& tangents, const variable_list& grads) const {
  return std::any_of(tangents.begin(), tangents.end(),
                     [&](size_t place) { return grads[graph_->tangents[place]].defined(); });
}

void CompiledNode::note_output(const at::Tensor& output) {
  strides_.push_back(strides_of_gradient(output));
}

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

// --- Backward ---

Items CompiledNode::unpack_saved() const {
  Items items;
  for (const Saved& saved : saved_) {
    if (saved.is_integer) {
      items.push_back({{}, saved.integer, true});
    } else if (saved.released != nullptr) {
      items.push_back({stand_in(*saved.released), 0, false});
    } else {
      items.push_back({saved.tensor.unpack(this), 0, false});
    }
  }
  return items;
}

/// Any numbers in the place of a released tensor, of which only parts that do not run use it: zero
/// gradients multiply them. 0 is a valid index, and no function has a pole at 0.5.
at::Tensor CompiledNode::stand_in(const Geometry& released) {
  const at::Tensor made =
      at::empty_strided_tensor(released.sizes, released.strides, released.dtype, released.device);
  return made.fill_(c10::is_integral(released.dtype, true) ? 0.0 : 0.5);
}

/// Whether a part of backward runs in a pass with these gradients.
bool CompiledNode::runs(const SavedUse& use, const variable_list& grads) const {
  return arrives(use.tangents, grads) &&
         std::any_of(use.gradients.begin(), use.gradients.end(),
                     [this](size_t edge) { return should_compute_output(edge); });
}

/// The places in `uses` of the parts that run. Throws if values that they need were released.
std::vector<size_t> CompiledNode::uses_of_pass(const variable_list& grads) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < graph_->uses.size(); ++i) {
    if (!runs(graph_->uses[i], grads)) continue;
    TORCH_CHECK(used_.empty() || !used_[i], autograd::kBackwardTwiceMessage);
    found.push_back(i);
  }
  return found;
}

/// For each saved value, whether parts that have not run yet use it.
std::vector<bool> CompiledNode::still_needed() const {
  std::vector<bool> needed(saved_.size());
  for (size_t i = 0; i < graph_->uses.size(); ++i) {
    if (used_[i]) continue;
    for (const size_t place : graph_->uses[i].saved) {
      TORCH_CHECK(place < needed.size(), name(), ": uses name saved value ", place,
                  ", but there are ", needed.size());
      needed[place] = true;
    }
  }
  return needed;
}

/// Releases what only these uses needed. `unpacked` has the saved values.
void CompiledNode::release_after(const std::vector<size_t>& uses, const Items& unpacked) {
  if (graph_->uses.empty()) return release_variables();
  used_.resize(graph_->uses.size());
  for (const size_t use : uses) used_[use] = true;

  const std::vector<bool> needed = still_needed();
  for (size_t i = 0; i < saved_.size(); ++i) {
    const at::Tensor& tensor = unpacked[i].tensor;
    if (needed[i] || saved_[i].released != nullptr || !tensor.defined()) continue;
    saved_[i].released.reset(new Geometry{at::DimVector(tensor.sizes()),
                                          at::DimVector(tensor.strides()), tensor.scalar_type(),
                                          tensor.device()});
    saved_[i].tensor.reset();
  }
}

Items CompiledNode::tangents(const variable_list& grads) const {
  Items items;
  for (size_t place = 0; place < graph_->tangents.size(); ++place)
    items.push_back({fitted(grads[graph_->tangents[place]], place), 0, false});
  return items;
}

/// A gradient that lies in memory as backward expects it.
at::Tensor CompiledNode::fitted(const at::Tensor& tangent, size_t place) const {
  if (!tangent.defined() && !graph_->materializes) return {};
  if (tangent.defined() && has_strides(tangent, strides_[place])) return tangent;

  const autograd::InputMetadata& output = input_metadata(graph_->tangents[place]);
  at::Tensor made =
      at::empty_strided_tensor(output.sizes, strides_[place], output.dtype, output.device);
  if (!tangent.defined()) return made.zero_();

  const c10::NoGradGuard unrecorded;
  made.copy_(tangent);
  return made;
}

bool CompiledNode::is_reached(size_t gradient, const variable_list& grads) const {
  if (graph_->reached.empty()) return true;
  return arrives(graph_->reached[gradient], grads);
}

/// Makes second derivatives an error: gradients of `sources`, which backward has used.
void CompiledNode::refuse_second_derivatives(const variable_list& results,
                                             at::TensorList sources) const {
  if (!autograd::compute_requires_grad(sources)) return;
  const auto node = c10::make_intrusive<SecondDerivative>(graph_->name + "Backward");
  node->set_next_edges(autograd::collect_next_edges(sources));
  for (const at::Tensor& result : results) autograd::set_history(result, autograd::NodePtr(node));
}

void CompiledNode::release_variables() {
  if (!graph_->uses.empty()) return;
  for (Saved& saved : saved_) saved.tensor.reset();
}

void CompiledNode::release_resources() {
  saved_.clear();
  watched_.clear();
  Node::release_resources();
}

variable_list CompiledNode::apply(variable_list&& grads) {
  const std::vector<size_t> uses = uses_of_pass(grads);
  check_watched(grads);
  Items arguments = unpack_saved();
  if (!autograd::Engine::keeps_graph()) release_after(uses, arguments);

  Tensors sources;
  if (c10::GradMode::is_enabled()) {
    sources = tensors_among(arguments);
    for (const at::Tensor& grad : grads) sources.push_back(grad);
  }

  for (Item& tangent : tangents(grads)) arguments.push_back(std::move(tangent));
  std::vector<bool> reached(graph_->differentiated.size());
  for (size_t i = 0; i < reached.size(); ++i) reached[i] = is_reached(i, grads);

  // From here on the graph may release each of them after its last use.
  grads.clear();

  Items found;
  {
    const c10::NoGradGuard unrecorded;
    found = graph_->backward->run(owned_arguments(arguments));
  }
  TORCH_CHECK(found.size() == reached.size(), name(), ": backward returned ", found.size(),
              " gradients, expected ", reached.size());

  variable_list results;
  for (size_t i = 0; i < reached.size(); ++i)
    results.push_back(reached[i] ? std::move(found[i].tensor) : at::Tensor());
  refuse_second_derivatives(results, at::TensorList(sources));
  return results;
}

}  // namespace torch::programs
