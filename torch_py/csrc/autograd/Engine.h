// The engine that runs backward passes.
#pragma once
#include <functional>

#include "torch_py/csrc/autograd/Node.h"

namespace torch::autograd {

class GraphTask;
class ReadyQueue;
struct NodeState;

/// Runs backward passes.
///
/// Note [Threads of the engine]
/// Nodes of CPU (and meta) tensors run on the thread that called execute(). Those of any other
/// device run on one thread per device, which starts when first needed. A node that starts a
/// backward pass of its own runs it immediately on the same thread or, when passes are nested
/// deeper than a stack can bear, on a fresh thread that it waits for. The caller of execute() must
/// not hold a lock that nodes take (the bindings release the GIL).
class TORCH_PY_API Engine {
 public:
  static Engine& get();

  /// Sends grads[i] into roots[i] and on through the graph.
  ///
  /// keep_graph keeps saved tensors. create_graph records the pass itself. Without `inputs`, all
  /// leaves accumulate. With inputs and accumulate_grad, only the inputs do (non-leaves must retain
  /// their gradient). With inputs and not accumulate_grad, their gradients are the result,
  /// undefined where none arrived, and nothing accumulates.
  variable_list execute(c10::ArrayRef<Edge> roots, variable_list grads, bool keep_graph,
                        bool create_graph, bool accumulate_grad, c10::ArrayRef<Edge> inputs);

  /// Registers a function that runs when the innermost backward pass of this thread is finished.
  static void queue_callback(std::function<void()> callback);

  // About the innermost backward pass of this thread.
  static bool in_backward();
  /// A number that no other pass has; -1 outside of backward.
  static int64_t current_pass();
  /// Whether saved tensors are needed after it; true outside of backward.
  static bool keeps_graph();
  /// Whether it computes gradients of given inputs only.
  static bool is_selective();
  /// Whether it runs `node`, or has run it.
  static bool will_run(const Node* node);
  /// The node whose apply is running; null outside of backward.
  static const Node* current_node();
  /// The same of the outermost pass; null while gradients of different nodes are added.
  static const Node* outermost_node();

  /// Called first on every device thread (to select the device).
  using DeviceThreadInit = void (*)(c10::Device device);
  static void set_device_thread_init(DeviceThreadInit init);

 private:
  Engine() = default;

  variable_list run(c10::ArrayRef<Edge> roots, variable_list grads, bool keep_graph,
                    bool create_graph, bool accumulate_grad, c10::ArrayRef<Edge> inputs);
  void run_queue(GraphTask& task);
  void run_on_stream(GraphTask& task, uint32_t state);
  void run_node(GraphTask& task, uint32_t state);
  void pass_by(GraphTask& task, NodeState& state, variable_list& grads);
  void deliver(GraphTask& task, const Node& node, variable_list& outputs, bool has_run);
  void schedule(GraphTask& task, const NodeState& state);
  void process(GraphTask& task, uint32_t state);
  void device_thread(c10::Device device, ReadyQueue& queue);
  ReadyQueue& device_queue(c10::Device device);
};

/// Checks gradients against what the edges' nodes expect, and adapts them: sums over expanded
/// dimensions, casts to the dtype. `function` produced them; null if they come from the user.
TORCH_PY_API void validate_gradients(c10::ArrayRef<Edge> edges, variable_list& grads,
                                     const Node* function);

}  // namespace torch::autograd
