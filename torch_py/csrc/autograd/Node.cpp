// Nodes of the graph: creation, edges, release without recursion.
#include "torch_py/csrc/autograd/Node.h"

#include <cctype>
#include <utility>

#include "aten/ops/to_mkldnn.h"
#include "aten/ops/zeros.h"
#include "aten/profiling/Recording.h"
#include "c10/core/DeviceHooks.h"
#include "torch_py/csrc/autograd/AnomalyMode.h"
#include "torch_py/csrc/autograd/StandIns.h"
#include "torch_py/csrc/autograd/Streams.h"

namespace torch::autograd {

TensorHook::~TensorHook() = default;
FunctionPreHook::~FunctionPreHook() = default;
FunctionPostHook::~FunctionPostHook() = default;
PostAccumulateGradHook::~PostAccumulateGradHook() = default;
AnomalyMetadata::~AnomalyMetadata() = default;

const char* const kBackwardTwiceMessage =
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward.";

namespace {

using PendingNodes = c10::SmallVector<NodePtr, 16>;

__attribute__((tls_model("initial-exec"))) constinit thread_local uint64_t next_sequence_nr = 0;

// The release in progress on this thread: see Note [Long graphs].
__attribute__((tls_model("initial-exec"))) constinit thread_local PendingNodes* pending_nodes =
    nullptr;

// Of the node that the thread runs; null in passes to all leaves.
__attribute__((tls_model(
    "initial-exec"))) constinit thread_local const FollowedEdges* followed_edges = nullptr;

// A recorded call is linked to the node that it makes by the number that the node will get.
[[maybe_unused]] const bool is_linked = [] {
  at::profiling::set_sequence_source([] { return static_cast<int64_t>(next_sequence_nr); });
  return true;
}();

}  // namespace

at::Tensor InputMetadata::zeros() const {
  const at::Tensor result = calls_are_seen()
                                ? at::zeros(sizes, dtype, std::nullopt, device, std::nullopt)
                                : at::empty_tensor(sizes, dtype, device).zero_();
  return layout == c10::Layout::Mkldnn ? at::to_mkldnn(result) : result;
}

Node::Node() : Node(next_sequence_nr++) {
  if (C10_UNLIKELY(AnomalyMode::is_enabled()))
    mutable_hooks().anomaly = AnomalyMode::record_creation(*this);
}

Node::Node(uint64_t sequence_nr) : sequence_nr_(sequence_nr) {}

Node::~Node() { release_edges(); }

FollowedEdges::FollowedEdges(const Node* node, uint64_t edges)
    : node_(node), edges_(edges), previous_(std::exchange(followed_edges, this)) {}

FollowedEdges::~FollowedEdges() { followed_edges = previous_; }

bool Node::is_followed(size_t edge) const {
  const FollowedEdges* const followed = followed_edges;
  if (C10_LIKELY(followed == nullptr) || followed->node_ != this || edge >= 64) return true;
  return (followed->edges_ >> edge & 1) != 0;
}

void Node::release_resources() {
  release_variables();
  hooks_.reset();
  release_edges();
}

void Node::release_edges() noexcept {
  if (next_edges_.empty()) return;

  // The outermost release drops the edges of all inner ones: see Note [Long graphs].
  PendingNodes own;
  const bool outermost = pending_nodes == nullptr;
  if (outermost) pending_nodes = &own;

  for (Edge& edge : next_edges_) {
    if (edge.function) pending_nodes->push_back(std::move(edge.function));
  }
  next_edges_.clear();

  if (!outermost) return;

  while (!own.empty()) {
    // Dropping the node appends its edges to `own`.
    const NodePtr node = std::move(own.back());
    own.pop_back();
  }
  pending_nodes = nullptr;
}

void Node::set_next_edges(edge_list&& edges) {
  next_edges_ = std::move(edges);
  for (const Edge& edge : next_edges_) note_child(edge);
}

void Node::add_next_edge(Edge edge) {
  note_child(edge);
  next_edges_.push_back(std::move(edge));
}

uint32_t Node::add_input_metadata(InputMetadata output) {
  // A tensor that stands for one on an absent device has no stream.
  const c10::Device device = output.device;
  if (C10_UNLIKELY(c10::is_accelerator(device)) && !is_on_device(stream_) && is_present(device))
    stream_ = current_stream_of(output.device);
  input_metadata_.push_back(std::move(output));
  return static_cast<uint32_t>(input_metadata_.size() - 1);
}

c10::Device Node::device() const {
  for (const InputMetadata& input : input_metadata_) {
    if (input.is_defined() && !input.device.is_cpu() && !input.device.is_meta())
      return input.device;
  }
  return c10::kCPU;
}

void Node::add_tensor_hook(uint32_t input_nr, std::shared_ptr<TensorHook> hook) {
  mutable_hooks().tensor_hooks.push_back({input_nr, std::move(hook)});
}

std::string operator_name(const Node& node) {
  std::string name = node.name();

  // Without "Backward" and the number after it.
  size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1]))) --end;
  constexpr std::string_view suffix = "Backward";

  if (std::string_view(name).substr(0, end).ends_with(suffix)) name.resize(end - suffix.size());
  return name;
}

}  // namespace torch::autograd
