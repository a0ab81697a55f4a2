// The backward step of a compiled graph.
#include <algorithm>

#include "c10/core/InferenceMode.h"
#include "c10/util/Exception.h"
#include "torch_py/csrc/autograd/ChangedInPlace.h"
#include "torch_py/csrc/autograd/CustomFunction.h"
#include "torch_py/csrc/autograd/Engine.h"
#include "torch_py/csrc/compiler/program/TrainingGraph.h"

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

bool contains(const std::vector<size_t>& places, size_t place) {
  return std::find(places.begin(), places.end(), place) != places.end();
}

/// A tensor without memory, of the sizes and the version of another.
at::Tensor without_memory(const at::Tensor& tensor) {
  const c10::TensorImpl& of = *tensor.impl();
  auto impl = c10::make_intrusive<c10::TensorImpl>(c10::Storage(), of.dtype(), of.device(),
                                                   c10::DispatchKeySet());
  impl->set_sizes_contiguous(of.sizes());
  impl->share_version_with(of);
  return at::Tensor(std::move(impl));
}

const c10::TensorImpl* base_of(const at::Tensor& tensor) {
  const auto& base = tensor.impl()->base();
  return base ? base.get() : tensor.impl().get();
}

/// A tensor of the same memory and version, whose shape stays as it is. It requires gradients as
/// the other one does; whom they would be for does not matter, as they are refused.
at::Tensor with_own_shape(const at::Tensor& tensor) {
  at::Tensor own = autograd::detach(tensor);
  if (autograd::requires_grad(tensor)) autograd::set_requires_grad(own, true);
  return own;
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

// --- What a call leaves to it ---

/// How often the caller changes the shape of a tensor: of an input, or of a view of one that the
/// graph has made. Other inputs may share the version, but when they were kept is not known.
uint32_t CompiledNode::changes_of_shape(const at::Tensor& tensor, const Arguments& inputs) const {
  const bool is_input = std::any_of(inputs.begin(), inputs.end(), [&](const Argument& input) {
    return input.tensor != nullptr && input.tensor->is_same(tensor);
  });

  size_t count = 0;
  for (const Reshaped& reshaped : graph_->reshaped) {
    TORCH_CHECK(reshaped.position < inputs.size(), name(), ": the shape of input ",
                reshaped.position, " is to be changed, but there are ", inputs.size());
    const at::Tensor* input = inputs[reshaped.position].tensor;
    if (input == nullptr) continue;
    if (is_input ? tensor.is_same(*input) : base_of(tensor) == base_of(*input))
      count += reshaped.count;
  }
  return static_cast<uint32_t>(count);
}

void CompiledNode::save(const Item& item, const Arguments& inputs) {
  if (item.is_integer) {
    saved_.push_back({{}, item.integer, true, {}, {}});
    return;
  }
  if (!item.tensor.defined()) return void(saved_.emplace_back());
  const bool is_output = autograd::requires_grad(item.tensor) &&
                         autograd::grad_fn(item.tensor).get() == static_cast<Node*>(this);
  const uint32_t changes = changes_of_shape(item.tensor, inputs);
  const at::Tensor tensor = changes == 0 ? item.tensor : with_own_shape(item.tensor);
  saved_.push_back({autograd::SavedVariable(tensor, is_output), 0, false,
                    at::DimVector(tensor.sizes()), at::DimVector(tensor.strides())});
  saved_.back().tensor.allow_changes(changes);
}

void CompiledNode::note_watched(const Watch& watch, const at::Tensor& tensor,
                                const Arguments& inputs) {
  if (!tensor.defined() || c10::is_inference(*tensor.impl())) return;
  const auto writes = static_cast<uint32_t>(watch.writes) + changes_of_shape(tensor, inputs);
  watched_.push_back({watch, without_memory(tensor), tensor.version() + writes});
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

// --- Backward ---

/// Whether a part of backward runs in a pass with these gradients. Parts whose gradients lead
/// nowhere do, too, as in eager mode, and check what they have saved: inputs without an edge are
/// views that were made before their base required gradients.
bool CompiledNode::runs(const SavedUse& use, const variable_list& grads) const {
  return arrives(use.tangents, grads) &&
         std::any_of(use.gradients.begin(), use.gradients.end(),
                     [this](size_t edge) { return is_followed(edge); });
}

/// The places in `uses` of the parts that run. Throws if one has run before.
std::vector<size_t> CompiledNode::uses_of_pass(const variable_list& grads) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < graph_->uses.size(); ++i) {
    if (!runs(graph_->uses[i], grads)) continue;
    TORCH_CHECK(used_.empty() || !used_[i], autograd::kBackwardTwiceMessage);
    found.push_back(i);
  }
  return found;
}

/// For each saved value, whether one of these uses needs it.
std::vector<bool> CompiledNode::needed_by(const std::vector<size_t>& uses) const {
  std::vector<bool> needed(saved_.size(), graph_->uses.empty());
  for (size_t i = 0; i < graph_->uses.size(); ++i) {
    const bool is_used = contains(uses, i);
    for (const size_t place : graph_->uses[i].saved) {
      TORCH_CHECK(place < needed.size(), name(), ": uses name saved value ", place,
                  ", but there are ", needed.size());
      if (is_used) needed[place] = true;
    }
  }
  return needed;
}

/// A saved value that the pass does not need. Its elements may have changed, but backward is
/// compiled for its sizes and strides.
at::Tensor CompiledNode::unpack_unused(const Saved& saved) const {
  const at::Tensor tensor = saved.tensor.unpack_unchecked(this);
  const bool is_alike = !saved.tensor.is_changed() ||
                        (tensor.sizes() == saved.sizes && tensor.strides() == saved.strides);
  return is_alike ? tensor : saved.tensor.unpack(this);
}

Items CompiledNode::unpack_saved(const std::vector<size_t>& uses) const {
  const std::vector<bool> needed = needed_by(uses);
  Items items;
  for (size_t i = 0; i < saved_.size(); ++i) {
    const Saved& saved = saved_[i];
    if (saved.is_integer) {
      items.push_back({{}, saved.integer, true});
    } else {
      items.push_back({needed[i] ? saved.tensor.unpack(this) : unpack_unused(saved), 0, false});
    }
  }
  return items;
}

// --- What passes leave: Note [Passes through parts] ---

bool CompiledNode::reaches(size_t tangent, size_t gradient) const {
  return graph_->reached.empty() || contains(graph_->reached[gradient], tangent);
}

void CompiledNode::note_pass(const std::vector<size_t>& uses, const variable_list& grads) {
  used_.resize(graph_->uses.size());
  for (const size_t use : uses) used_[use] = true;

  done_.resize(graph_->tangents.size());
  for (size_t place = 0; place < done_.size(); ++place) {
    if (!grads[graph_->tangents[place]].defined()) continue;
    done_[place].resize(graph_->differentiated.size());
    for (size_t i = 0; i < graph_->differentiated.size(); ++i)
      if (is_followed(i)) done_[place][i] = true;
  }
}

/// The gradients that passes with this tangent have not computed yet.
std::vector<size_t> CompiledNode::gradients_left(size_t tangent) const {
  const bool has_come = !done_[tangent].empty();
  std::vector<size_t> left;
  for (size_t i = 0; i < graph_->differentiated.size(); ++i) {
    const bool is_done = has_come && done_[tangent][i];
    if (!is_done && reaches(tangent, i)) left.push_back(i);
  }
  return left;
}

/// Whether a pass with this tangent may come that runs nothing a second time.
bool CompiledNode::may_come_again(size_t tangent) const {
  const std::vector<size_t> left = gradients_left(tangent);
  if (left.empty()) return false;

  std::vector<bool> ran(graph_->differentiated.size());      // on the way to each gradient
  std::vector<bool> waiting(graph_->differentiated.size());  // for such a pass
  bool has_run = false;
  for (size_t i = 0; i < graph_->uses.size(); ++i) {
    const SavedUse& use = graph_->uses[i];
    if (!contains(use.tangents, tangent)) continue;
    has_run = has_run || used_[i];
    for (const size_t gradient : use.gradients) (used_[i] ? ran : waiting)[gradient] = true;
  }

  // Where a pass to all gradients is an error, those of a result that had none, such as logits
  // that are returned next to a loss, are not expected unless saved values wait for them.
  const bool waits = !done_[tangent].empty() || !has_run;
  return std::any_of(left.begin(), left.end(),
                     [&](size_t i) { return !ran[i] && (waits || waiting[i]); });
}

/// Whether the saved values are not needed any more.
bool CompiledNode::is_spent() const {
  if (graph_->uses.empty()) return true;
  for (size_t place = 0; place < graph_->tangents.size(); ++place)
    if (may_come_again(place)) return false;
  return true;
}

void CompiledNode::release_saved() {
  for (Saved& saved : saved_) saved.tensor.reset();
}

/// The graph for those tangents that have arrived. Null if backward takes all of them.
std::shared_ptr<const Graph> CompiledNode::partial_backward(const variable_list& grads) const {
  if (graph_->partial == nullptr) return nullptr;
  std::vector<size_t> arrived;
  for (size_t place = 0; place < graph_->tangents.size(); ++place)
    if (grads[graph_->tangents[place]].defined()) arrived.push_back(place);
  return arrived.size() == graph_->tangents.size() ? nullptr : graph_->partial->graph_for(arrived);
}

Items CompiledNode::tangents(const variable_list& grads, bool arrived_only) const {
  Items items;
  for (size_t place = 0; place < graph_->tangents.size(); ++place) {
    const at::Tensor& tangent = grads[graph_->tangents[place]];
    if (tangent.defined() || !arrived_only) items.push_back({fitted(tangent, place), 0, false});
  }
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

void CompiledNode::release_resources() {
  saved_.clear();
  watched_.clear();
  Node::release_resources();
}

/// The gradients that a pass computes: those that the arrived tangents reach, if one of them is
/// wanted.
std::vector<bool> CompiledNode::gradients_of_pass(const variable_list& grads) const {
  std::vector<bool> reached(graph_->differentiated.size());
  bool is_wanted = graph_->raises;
  for (size_t i = 0; i < reached.size(); ++i) {
    reached[i] = is_reached(i, grads);
    is_wanted = is_wanted || (reached[i] && is_followed(i));
  }
  return is_wanted ? reached : std::vector<bool>();
}

variable_list CompiledNode::apply(variable_list&& grads) {
  const std::vector<bool> reached = gradients_of_pass(grads);
  // Nothing runs, so that it does not matter whether the saved values are still there.
  if (reached.empty()) return variable_list(graph_->differentiated.size());

  const std::vector<size_t> uses = uses_of_pass(grads);
  check_watched(grads);
  const std::shared_ptr<const Graph> partial = partial_backward(grads);
  Items arguments = unpack_saved(uses);
  if (!autograd::Engine::keeps_graph()) {
    // Before backward runs, which may then release each of them after its last use.
    note_pass(uses, grads);
    if (is_spent()) release_saved();
  }

  Tensors sources;
  if (c10::GradMode::is_enabled()) {
    sources = tensors_among(arguments);
    for (const at::Tensor& grad : grads) sources.push_back(grad);
  }

  for (Item& tangent : tangents(grads, partial != nullptr)) arguments.push_back(std::move(tangent));

  // From here on the graph may release each of them after its last use.
  grads.clear();

  Items found;
  {
    const c10::NoGradGuard unrecorded;
    const Graph& backward = partial != nullptr ? *partial : *graph_->backward;
    found = backward.run(owned_arguments(arguments));
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
