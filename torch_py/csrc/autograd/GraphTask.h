#pragma once
#include <atomic>
#include <exception>
#include <functional>

#include "torch_py/csrc/autograd/ReadyQueue.h"

namespace torch::autograd {

/// What a backward pass knows of a node.
struct NodeState {
  enum Role : uint8_t {
    kVisited = 1,
    kReachesInput =
        2,  // on a path to what gradients are asked of; all nodes when nothing in particular is
    kApply = 4,  // its outputs are needed, so it must run; else only hooks and captures do
  };
  Node* node;                  // kept alive by the roots
  int32_t dependencies = 0;    // edges into it that have not delivered yet
  int32_t first_capture = -1;  // list in GraphTask::captures
  uint8_t roles = 0;
  variable_list inputs{};  // sums so far
};

/// Index of a node's state; open addressing, because it is looked up for every edge.
class NodeTable {
 public:
  static constexpr uint32_t kAbsent = ~uint32_t{0};

  uint32_t find(const Node* node) const;
  /// The index found, or `index` after inserting it.
  uint32_t insert(const Node* node, uint32_t index);
  void clear();
  size_t capacity() const { return slots_.size(); }

 private:
  struct Slot {
    const Node* node = nullptr;
    uint32_t index = 0;
  };
  size_t slot_of(const Node* node) const;
  void grow();
  std::vector<Slot> slots_;
  size_t count_ = 0;
};

/// One backward pass.
class GraphTask {
 public:
  GraphTask(bool keep_graph, bool create_graph, int depth);
  ~GraphTask();
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  /// Finds all nodes that take part and counts their dependencies. With `inputs`, only what leads
  /// to them takes part, and their gradients are captured, or for accumulate_grad added by the
  /// accumulators among them.
  void discover(c10::ArrayRef<Edge> roots, c10::ArrayRef<Edge> inputs, bool accumulate_grad);
  /// Null for a node that does not take part.
  NodeState* find(const Node* node);
  NodeState& state(uint32_t index) { return storage_->states[index]; }
  uint32_t index_of(const NodeState& state) const {
    return static_cast<uint32_t>(&state - storage_->states.data());
  }
  bool selective() const { return selective_; }
  bool takes_part(const NodeState& state) const {
    return !selective_ || (state.roles & NodeState::kReachesInput) != 0;
  }
  bool applies(const NodeState& state) const {
    return !selective_ || (state.roles & NodeState::kApply) != 0;
  }
  void capture(const NodeState& state, const variable_list& grads);
  /// One gradient more for input `input_nr` of a node.
  static void accumulate(NodeState& state, uint32_t input_nr, at::Tensor&& grad);

  /// Puts the gradients in at the roots; returns those that can start.
  c10::SmallVector<uint32_t, 4> seed(c10::ArrayRef<Edge> roots, variable_list&& grads);

  /// The first failure is the one reported; nodes still waiting are then dropped.
  void fail(std::exception_ptr error);
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  std::exception_ptr error() const { return error_; }

  const bool keep_graph;
  const bool create_graph;
  const int depth;
  const int64_t number;  // different for every pass of the process
  ReadyQueue* owner_queue = nullptr;
  uint64_t outstanding = 0;  // guarded by owner_queue
  std::mutex mutex;          // guards states while nodes run
  variable_list captured;
  const c10::LocalState local_state;  // of the owner; device threads take it over
  std::mutex callbacks_mutex;  // one of its own: callbacks are queued by Python, under the GIL
  std::vector<std::function<void()>> final_callbacks;

 private:
  struct Frame {
    uint32_t state;
    uint32_t edge;
  };
  struct Capture {
    uint32_t input_nr;
    uint32_t result;
    int32_t next;
  };
  // Memory of one pass is used again by the next on the thread.
  struct Storage {
    std::vector<NodeState> states;
    std::vector<Frame> stack;
    NodeTable table;
  };
  static std::unique_ptr<Storage>& spare_storage();

  uint32_t add_state(Node* node);
  void mark_inputs(c10::ArrayRef<Edge> inputs, bool accumulate_grad);
  void visit(uint32_t root);
  void visit_edge(uint32_t parent, const Edge& edge);

  std::unique_ptr<Storage> storage_;
  std::vector<Capture> captures_;
  bool selective_ = false;
  uint64_t min_topological_nr_ = 0;  // nodes below it cannot reach any input
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace torch::autograd
