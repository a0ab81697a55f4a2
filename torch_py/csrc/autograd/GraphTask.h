// The state of one backward pass.
#pragma once
#include <atomic>
#include <exception>
#include <functional>

#include "torch_py/csrc/autograd/ReadyQueue.h"
#include "torch_py/csrc/autograd/Streams.h"

namespace torch::autograd {

/// What a backward pass knows about a node.
struct NodeState {
  enum Role : uint8_t {
    kVisited = 1,
    kReachesInput = 2,  // of a selective pass: on a path to an input
    kApply = 4,    // of a selective pass: its outputs are needed; else only hooks and captures run
    kReached = 8,  // a root, or one to which a node leads that has run: Node::is_several_steps
  };

  Node* node;                  // kept alive by the roots
  int32_t dependencies = 0;    // edges into it that have not delivered yet
  int32_t first_capture = -1;  // head of a list in GraphTask::captures_; -1 for none
  uint8_t roles = 0;
  variable_list inputs{};  // sums of the gradients so far; empty until the first arrives
};

/// Maps nodes to the index of their state, by open addressing: it is asked once per edge.
class NodeTable {
 public:
  static constexpr uint32_t kAbsent = ~uint32_t{0};

  uint32_t find(const Node* node) const;
  /// Returns the index of a known node; otherwise inserts `index` and returns it.
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

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t count_ = 0;
};

/// One backward pass.
class GraphTask {
 public:
  GraphTask(bool keep_graph, bool create_graph, int depth);
  ~GraphTask();
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  /// Finds all nodes that take part and counts their dependencies. With `inputs`, only nodes that
  /// lead to them take part. Their gradients are captured or, with accumulate_grad, added by the
  /// accumulators among them.
  void discover(c10::ArrayRef<Edge> roots, c10::ArrayRef<Edge> inputs, bool accumulate_grad);
  /// The state of a node; null if it does not take part.
  NodeState* find(const Node* node);
  NodeState& state(uint32_t index) { return storage_->states[index]; }
  uint32_t index_of(const NodeState& state) const {
    return static_cast<uint32_t>(&state - storage_->states.data());
  }

  /// Whether the pass computes gradients of given inputs only.
  bool selective() const { return selective_; }
  bool takes_part(const NodeState& state) const {
    return !selective_ || (state.roles & NodeState::kReachesInput) != 0;
  }
  bool applies(const NodeState& state) const {
    return !selective_ || (state.roles & NodeState::kApply) != 0;
  }
  /// The edges of a node that lead to nodes that take part, bit by bit: see FollowedEdges.
  uint64_t followed_edges(const Node& node);
  /// Stores gradients that are part of the result.
  void capture(const NodeState& state, const variable_list& grads);
  /// Adds a gradient, which the calling thread's current stream computes, to input `input_nr` of a
  /// node.
  void receive(NodeState& state, uint32_t input_nr, at::Tensor&& grad);

  void add_stream(c10::Stream stream) {
    const std::lock_guard lock(mutex);
    streams_.add(stream);
  }
  /// Lets the calling thread's current streams wait for those of the pass.
  void join_streams() const { streams_.join(); }

  /// Puts the gradients in at the roots; returns the roots that can start.
  c10::SmallVector<uint32_t, 4> seed(c10::ArrayRef<Edge> roots, variable_list&& grads);

  /// Records a failure. The first one is reported; nodes that still wait are dropped.
  void fail(std::exception_ptr error);
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  std::exception_ptr error() const { return error_; }

  const bool keep_graph;
  const bool create_graph;
  const int depth;       // of nested passes, from 1
  const int64_t number;  // unique within the process
  ReadyQueue* owner_queue = nullptr;
  uint64_t outstanding = 0;           // nodes scheduled or running; guarded by owner_queue
  std::mutex mutex;                   // guards states while nodes run
  variable_list captured;             // the result of a selective pass
  const c10::LocalState local_state;  // of the owner; device threads take it over
  std::mutex callbacks_mutex;  // separate, because Python queues callbacks while holding the GIL
  std::vector<std::function<void()>> final_callbacks;

 private:
  /// A step of the depth-first search.
  struct Frame {
    uint32_t state;
    uint32_t edge;  // the next one to follow
  };
  /// "Gradient input_nr of a node is element `result` of the result."
  struct Capture {
    uint32_t input_nr;
    uint32_t result;
    int32_t next;  // capture of the same node; -1 at the end
  };
  /// Memory that the next pass on this thread reuses.
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

  static void accumulate(NodeState& state, uint32_t input_nr, at::Tensor&& grad);

  std::unique_ptr<Storage> storage_;
  StreamsOfPass streams_;  // guarded by mutex
  std::vector<Capture> captures_;
  bool selective_ = false;
  uint64_t min_topological_nr_ = 0;  // nodes below it cannot reach any input
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace torch::autograd
