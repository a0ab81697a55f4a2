// Finds the nodes of a backward pass and keeps its intermediate gradients.
#include "torch_py/csrc/autograd/GraphTask.h"

#include <algorithm>
#include <bit>

#include "aten/ops/add.h"
#include "c10/core/DeviceGuard.h"
#include "torch_py/csrc/autograd/AccumulateGrad.h"
#include "torch_py/csrc/autograd/StandIns.h"

namespace torch::autograd {

namespace {

std::atomic<int64_t> passes{0};

/// sum += grad, in place where nobody else can see the sum.
void add_gradient(at::Tensor& sum, at::Tensor&& grad) {
  if (!grad.defined()) return;
  if (!sum.defined()) {
    sum = std::move(grad);
    return;
  }

  const bool in_place = !c10::GradMode::is_enabled() && !is_of_members(grad) &&
                        sum.scalar_type() == grad.scalar_type() && sum.sizes() == grad.sizes() &&
                        sum.is_non_overlapping_and_dense() && is_sole_owner(sum);
  if (in_place) at::add_(sum, grad);
  else sum = at::add(sum, grad);
}

}  // namespace

// --- NodeTable ---

size_t NodeTable::slot_of(const Node* node) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t mixed = (reinterpret_cast<uintptr_t>(node) >> 4) * 0x9E3779B97F4A7C15ULL;
  size_t slot = static_cast<size_t>(mixed >> (64 - std::countr_zero(slots_.size())));
  while (slots_[slot].node != nullptr && slots_[slot].node != node) slot = (slot + 1) & mask;
  return slot;
}

uint32_t NodeTable::find(const Node* node) const {
  if (slots_.empty()) return kAbsent;
  const Slot& slot = slots_[slot_of(node)];
  return slot.node == nullptr ? kAbsent : slot.index;
}

uint32_t NodeTable::insert(const Node* node, uint32_t index) {
  if (2 * (count_ + 1) > slots_.size()) grow();
  Slot& slot = slots_[slot_of(node)];
  if (slot.node != nullptr) return slot.index;
  slot = {node, index};
  ++count_;
  return index;
}

void NodeTable::grow() {
  std::vector<Slot> old(std::max<size_t>(32, 2 * slots_.size()));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.node != nullptr) slots_[slot_of(slot.node)] = slot;
  }
}

void NodeTable::clear() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  count_ = 0;
}

// --- GraphTask ---

std::unique_ptr<GraphTask::Storage>& GraphTask::spare_storage() {
  thread_local std::unique_ptr<Storage> spare;
  return spare;
}

GraphTask::GraphTask(bool keep_graph, bool create_graph, int depth)
    : keep_graph(keep_graph),
      create_graph(create_graph),
      depth(depth),
      number(passes.fetch_add(1, std::memory_order_relaxed)),
      local_state(c10::local_state()),
      storage_(std::move(spare_storage())) {
  if (!storage_) storage_ = std::make_unique<Storage>();
}

GraphTask::~GraphTask() {
  constexpr size_t kMostSlotsKept = 4096;
  if (storage_->table.capacity() > kMostSlotsKept) return;
  storage_->states.clear();
  storage_->stack.clear();
  storage_->table.clear();
  spare_storage() = std::move(storage_);
}

NodeState* GraphTask::find(const Node* node) {
  const uint32_t index = storage_->table.find(node);
  return index == NodeTable::kAbsent ? nullptr : &storage_->states[index];
}

uint32_t GraphTask::add_state(Node* node) {
  const auto next = static_cast<uint32_t>(storage_->states.size());
  const uint32_t index = storage_->table.insert(node, next);
  if (index == next) storage_->states.push_back({node});
  return index;
}

void GraphTask::discover(c10::ArrayRef<Edge> roots, c10::ArrayRef<Edge> inputs,
                         bool accumulate_grad) {
  if (!inputs.empty()) mark_inputs(inputs, accumulate_grad);
  for (const Edge& root : roots) {
    const uint32_t index = add_state(root.function.get());
    if ((state(index).roles & NodeState::kVisited) == 0) visit(index);
  }
}

void GraphTask::mark_inputs(c10::ArrayRef<Edge> inputs, bool accumulate_grad) {
  selective_ = true;
  captured.resize(inputs.size());
  min_topological_nr_ = ~uint64_t{0};

  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_valid()) continue;
    Node* node = inputs[i].function.get();
    min_topological_nr_ = std::min(min_topological_nr_, node->topological_nr());
    NodeState& input = state(add_state(node));
    input.roles |= NodeState::kReachesInput;

    if (!accumulate_grad) {
      captures_.push_back({inputs[i].input_nr, static_cast<uint32_t>(i), input.first_capture});
      input.first_capture = static_cast<int32_t>(captures_.size() - 1);
    } else if (dynamic_cast<AccumulateGrad*>(node) != nullptr) {
      input.roles |= NodeState::kApply;  // others have their .grad set by a hook
    }
  }
}

void GraphTask::visit(uint32_t root) {
  std::vector<Frame>& stack = storage_->stack;
  state(root).roles |= NodeState::kVisited;
  stack.push_back({root, 0});
  while (!stack.empty()) {
    Frame& frame = stack.back();

    const edge_list& edges = state(frame.state).node->next_edges();
    if (frame.edge < edges.size()) {
      const uint32_t parent = frame.state;
      visit_edge(parent, edges[frame.edge++]);
      continue;
    }
    // All edges are followed: whether the node leads to an input is known now.
    const bool reaches = (state(frame.state).roles & NodeState::kReachesInput) != 0;
    stack.pop_back();
    if (reaches && !stack.empty())
      state(stack.back().state).roles |= NodeState::kReachesInput | NodeState::kApply;
  }
}

void GraphTask::visit_edge(uint32_t parent, const Edge& edge) {
  if (!edge.is_valid() || (selective_ && edge.function->topological_nr() < min_topological_nr_))
    return;

  const uint32_t index = add_state(edge.function.get());
  NodeState& child = state(index);
  ++child.dependencies;
  if ((child.roles & NodeState::kVisited) == 0) {
    child.roles |= NodeState::kVisited;
    storage_->stack.push_back({index, 0});
  } else if ((child.roles & NodeState::kReachesInput) != 0) {
    state(parent).roles |= NodeState::kReachesInput | NodeState::kApply;
  }
}

uint64_t GraphTask::followed_edges(const Node& node) {
  uint64_t followed = 0;
  const size_t count = std::min<size_t>(node.num_outputs(), 64);
  for (size_t i = 0; i < count; ++i) {
    const NodeState* next = find(node.next_edge(i).function.get());
    if (next != nullptr && takes_part(*next)) followed |= uint64_t{1} << i;
  }
  return followed;
}

void GraphTask::capture(const NodeState& state, const variable_list& grads) {
  for (int32_t i = state.first_capture; i >= 0; i = captures_[static_cast<size_t>(i)].next) {
    const Capture& capture = captures_[static_cast<size_t>(i)];
    captured[capture.result] = grads[capture.input_nr];
  }
}

void GraphTask::receive(NodeState& state, uint32_t input_nr, at::Tensor&& grad) {
  const c10::Stream consumer = state.node->stream();
  if (C10_LIKELY(!is_on_device(consumer))) return accumulate(state, input_nr, std::move(grad));

  hand_over(grad, consumer);
  const c10::StreamGuard guard(consumer);
  accumulate(state, input_nr, std::move(grad));
}

void GraphTask::accumulate(NodeState& state, uint32_t input_nr, at::Tensor&& grad) {
  if (state.inputs.empty()) state.inputs.resize(state.node->num_inputs());
  TORCH_INTERNAL_ASSERT(input_nr < state.inputs.size(), state.node->name(), " has ",
                        state.inputs.size(), " inputs; gradient for number ", input_nr);
  add_gradient(state.inputs[input_nr], std::move(grad));
}

c10::SmallVector<uint32_t, 4> GraphTask::seed(c10::ArrayRef<Edge> roots, variable_list&& grads) {
  constexpr int32_t kSeeded = -1;
  const c10::AutoGradMode mode(create_graph);
  c10::SmallVector<uint32_t, 4> ready;

  for (size_t i = 0; i < roots.size(); ++i) {
    NodeState& root = *find(roots[i].function.get());
    receive(root, roots[i].input_nr, std::move(grads[i]));
    root.roles |= NodeState::kReached;
    // A root that another one leads to waits, like any node.
    if (root.dependencies != 0 || !takes_part(root)) continue;
    root.dependencies = kSeeded;
    ready.push_back(index_of(root));
  }

  return ready;
}

void GraphTask::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex);
  if (!error_) error_ = std::move(error);
  failed_.store(true, std::memory_order_release);
}

}  // namespace torch::autograd
