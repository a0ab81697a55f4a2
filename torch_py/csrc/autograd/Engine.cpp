// Runs backward passes: nodes in order, hooks around them, threads of devices.
#include "torch_py/csrc/autograd/Engine.h"

#include <map>
#include <thread>

#include "aten/ops/add.h"
#include "aten/profiling/Recording.h"
#include "c10/core/DeviceGuard.h"
#include "torch_py/csrc/autograd/AnomalyMode.h"
#include "torch_py/csrc/autograd/GraphTask.h"
#include "torch_py/csrc/autograd/SavedVariable.h"
#include "torch_py/csrc/autograd/Streams.h"

namespace torch::autograd {

namespace {

/// What a thread is working on.
struct ThreadState {
  GraphTask* task = nullptr;           // the innermost pass
  const Node* node = nullptr;          // whose apply is running
  const Node* outermost = nullptr;     // that of the outermost pass
  ReadyQueue* device_queue = nullptr;  // of a device thread; null on others
  int depth = 0;                       // nested backward passes
};
__attribute__((tls_model("initial-exec"))) constinit thread_local ThreadState thread_state;

/// Restores thread_state and c10's state, which device threads borrow from the owner of each task.
class ThreadStateGuard {
 public:
  ThreadStateGuard() : saved_(thread_state), saved_local_(c10::local_state()) {}
  ~ThreadStateGuard() {
    thread_state = saved_;
    c10::local_state() = saved_local_;
  }
  ThreadStateGuard(const ThreadStateGuard&) = delete;
  ThreadStateGuard& operator=(const ThreadStateGuard&) = delete;

 private:
  ThreadState saved_;
  c10::LocalState saved_local_;
};

// A frame of the engine with a Python function in between takes some 10 KiB of a stack of 8 MiB,
// which it shares with others.
constexpr int kMaxDepthOfThread = 60;

std::atomic<Engine::DeviceThreadInit> device_thread_init{nullptr};

// Hooks run on copies of their lists: a hook may remove hooks, or register some, which run from the
// next pass on.

void retain(const NodeHooks& hooks, const variable_list& grads) {
  for (const NodeHooks::RetainedGrad& entry : hooks.retained_grads) {
    auto impl = entry.tensor.lock();
    const at::Tensor& grad = grads[entry.input_nr];
    if (!impl || !grad.defined()) continue;
    at::Tensor& kept = materialize_autograd_meta(at::Tensor(std::move(impl))).grad;
    kept = kept.defined() ? at::add(kept, grad) : grad.clone();
  }
}

void call_tensor_hooks(const Node& node, variable_list& grads) {
  const NodeHooks* hooks = node.hooks();
  if (C10_LIKELY(hooks == nullptr)) return;

  for (const NodeHooks::OfTensor& entry : std::vector<NodeHooks::OfTensor>(hooks->tensor_hooks)) {
    at::Tensor& grad = grads[entry.input_nr];
    if (!grad.defined() && node.is_several_steps()) continue;
    at::Tensor replaced = entry.hook->call(grad);
    if (!replaced.defined()) continue;
    TORCH_CHECK(!grad.defined() || replaced.sizes() == grad.sizes(),
                "hook has changed the size of value: from ", grad.sizes(), " to ",
                replaced.sizes());
    grad = std::move(replaced);
  }

  if (!hooks->retained_grads.empty()) retain(*hooks, grads);
}

void call_pre_hooks(const Node& node, variable_list& grads) {
  const NodeHooks* hooks = node.hooks();
  if (C10_LIKELY(hooks == nullptr)) return;
  for (const auto& hook : std::vector<std::shared_ptr<FunctionPreHook>>(hooks->pre_hooks)) {
    variable_list replaced = hook->call(grads);
    if (replaced.empty()) continue;
    TORCH_CHECK(replaced.size() == grads.size(), "pre-hook of ", node.name(), " returned ",
                replaced.size(), " gradients, expected ", grads.size());
    grads = std::move(replaced);
  }
}

void call_post_hooks(const Node& node, variable_list& outputs, const variable_list& inputs) {
  const NodeHooks* hooks = node.hooks();
  for (const auto& hook : std::vector<std::shared_ptr<FunctionPostHook>>(hooks->post_hooks)) {
    variable_list replaced = hook->call(outputs, inputs);
    if (replaced.empty()) continue;
    TORCH_CHECK(replaced.size() == outputs.size(), "hook of ", node.name(), " returned ",
                replaced.size(), " gradients, expected ", outputs.size());
    outputs = std::move(replaced);
  }
}

/// Runs apply() with everything around it that concerns this node alone.
variable_list call_node(Node& node, variable_list grads, bool keep_graph) {
  call_pre_hooks(node, grads);
  const bool has_post_hooks =
      C10_UNLIKELY(node.hooks() != nullptr) && !node.hooks()->post_hooks.empty();

  const variable_list inputs = has_post_hooks ? grads : variable_list();
  variable_list outputs = node.apply(std::move(grads));

  if (!keep_graph) node.release_variables();
  if (has_post_hooks) call_post_hooks(node, outputs, inputs);

  validate_gradients(node.next_edges(), outputs, &node);
  if (C10_UNLIKELY(AnomalyMode::is_enabled()) && AnomalyMode::should_check_nan())
    AnomalyMode::check_outputs(node, outputs);
  return outputs;
}

}  // namespace

// --- One node ---

void Engine::run_node(GraphTask& task, uint32_t index) {
  NodeState& state = task.state(index);
  Node& node = *state.node;
  variable_list grads = std::move(state.inputs);
  if (grads.empty()) grads.resize(node.num_inputs());
  if (C10_UNLIKELY((state.roles & NodeState::kReached) == 0)) return pass_by(task, state, grads);

  call_tensor_hooks(node, grads);
  if (state.first_capture >= 0) task.capture(state, grads);
  if (!task.applies(state)) return;

  const at::profiling::Range range(node.name(), static_cast<int64_t>(node.sequence_nr()));
  try {
    const FollowedEdges followed(&node,
                                 task.selective() ? task.followed_edges(node) : ~uint64_t{0});
    const bool is_outermost = thread_state.outermost == nullptr;
    if (is_outermost) thread_state.outermost = &node;
    variable_list outputs = call_node(node, std::move(grads), task.keep_graph);
    if (is_outermost) thread_state.outermost = nullptr;
    deliver(task, node, outputs, /*has_run=*/true);
  } catch (...) {
    if (C10_UNLIKELY(AnomalyMode::is_enabled())) AnomalyMode::report(node);
    throw;
  }
}

/// A node that no gradient has come near: eager mode would not have found it.
void Engine::pass_by(GraphTask& task, NodeState& state, variable_list& grads) {
  if (state.first_capture >= 0) task.capture(state, grads);
  variable_list none(state.node->num_outputs());
  if (task.applies(state)) deliver(task, *state.node, none, /*has_run=*/false);
}

void Engine::run_on_stream(GraphTask& task, uint32_t index) {
  const c10::Stream stream = task.state(index).node->stream();
  if (C10_LIKELY(!is_on_device(stream))) return run_node(task, index);

  const c10::StreamGuard guard(stream);
  task.add_stream(stream);
  run_node(task, index);
}

/// Hands the outputs to the nodes they lead to, and schedules those that have all gradients.
void Engine::deliver(GraphTask& task, const Node& node, variable_list& outputs, bool has_run) {
  const edge_list& edges = node.next_edges();
  const std::lock_guard lock(task.mutex);
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!edges[i].is_valid()) continue;
    NodeState* next = task.find(edges[i].function.get());
    if (next == nullptr || !task.takes_part(*next)) continue;
    if (outputs[i].defined() || (has_run && !node.is_several_steps()))
      next->roles |= NodeState::kReached;
    task.receive(*next, edges[i].input_nr, std::move(outputs[i]));
    if (--next->dependencies == 0) schedule(task, *next);
  }
}

void Engine::schedule(GraphTask& task, const NodeState& state) {
  const c10::Device device = state.node->device();
  // Dispatch modes are those of the thread that calls backward.
  const bool stays = device.is_cpu() || task.local_state.included.has(c10::DispatchKey::Python) ||
                     !is_present(device);
  ReadyQueue& queue = stays ? *task.owner_queue : device_queue(device);
  task.owner_queue->add_outstanding(task);
  queue.push({&task, task.index_of(state), state.node->sequence_nr(), task.depth});
}

/// Runs a scheduled node unless the task has failed, and counts it as done in either case.
void Engine::process(GraphTask& task, uint32_t state) {
  if (!task.failed()) {
    // A device thread works with the state of the task's owner.
    const ThreadStateGuard restore;
    if (thread_state.device_queue != nullptr) c10::local_state() = task.local_state;

    c10::GradMode::set_enabled(task.create_graph);
    thread_state.task = &task;
    thread_state.node = task.state(state).node;
    thread_state.depth = task.depth;

    try {
      run_on_stream(task, state);
    } catch (...) {
      task.fail(std::current_exception());
    }
  }

  task.owner_queue->finish(task);
}

// --- One pass ---

Engine& Engine::get() {
  // Never destroyed: device threads use it until the process ends.
  static auto* engine = new Engine;
  return *engine;
}

void Engine::run_queue(GraphTask& task) {
  while (const auto item = task.owner_queue->pop_unless_done(task))
    process(*item->task, item->state);
}

variable_list Engine::run(c10::ArrayRef<Edge> roots, variable_list grads, bool keep_graph,
                          bool create_graph, bool accumulate_grad, c10::ArrayRef<Edge> inputs) {
  ReadyQueue own_queue;
  GraphTask task(keep_graph, create_graph, thread_state.depth + 1);
  task.owner_queue = thread_state.device_queue != nullptr ? thread_state.device_queue : &own_queue;

  task.discover(roots, inputs, accumulate_grad);
  for (const uint32_t root : task.seed(roots, std::move(grads))) schedule(task, task.state(root));
  run_queue(task);

  task.join_streams();
  if (task.failed()) std::rethrow_exception(task.error());

  const ThreadStateGuard restore;
  thread_state.task = &task;
  for (size_t i = 0; i < task.final_callbacks.size(); ++i) {
    const auto callback = task.final_callbacks[i];
    callback();
  }

  return std::move(task.captured);
}

variable_list Engine::execute(c10::ArrayRef<Edge> roots, variable_list grads, bool keep_graph,
                              bool create_graph, bool accumulate_grad, c10::ArrayRef<Edge> inputs) {
  TORCH_CHECK(roots.size() == grads.size(), "backward got ", roots.size(), " roots and ",
              grads.size(), " gradients");
  for (const Edge& root : roots)
    TORCH_CHECK(root.is_valid(), "backward got a root without a graph");

  const edge_list kept(roots);  // nodes of the pass live as long as its roots

  validate_gradients(kept, grads, nullptr);

  if (thread_state.depth % kMaxDepthOfThread != kMaxDepthOfThread - 1 ||
      thread_state.device_queue != nullptr) {
    return run(kept, std::move(grads), keep_graph, create_graph, accumulate_grad, inputs);
  }

  // Nested too deeply for this stack: continue on a fresh thread that takes over this one's state.
  variable_list result;
  std::exception_ptr error;
  std::thread fresh([&, caller = thread_state, local = c10::local_state(),
                     hooks_depth = DefaultSavedVariableHooks::depth()] {
    thread_state = caller;
    c10::local_state() = local;
    DefaultSavedVariableHooks::set_depth(hooks_depth);
    try {
      result = run(kept, std::move(grads), keep_graph, create_graph, accumulate_grad, inputs);
    } catch (...) {
      error = std::current_exception();
    }
  });

  fresh.join();
  if (error) std::rethrow_exception(error);
  return result;
}

void Engine::queue_callback(std::function<void()> callback) {
  TORCH_CHECK(thread_state.task != nullptr,
              "Final callbacks can only be installed during backward pass.");

  const std::lock_guard lock(thread_state.task->callbacks_mutex);
  thread_state.task->final_callbacks.push_back(std::move(callback));
}

bool Engine::in_backward() { return thread_state.task != nullptr; }
int64_t Engine::current_pass() { return in_backward() ? thread_state.task->number : -1; }
bool Engine::keeps_graph() { return !in_backward() || thread_state.task->keep_graph; }
bool Engine::is_selective() { return in_backward() && thread_state.task->selective(); }

bool Engine::will_run(const Node* node) {
  if (!in_backward()) return false;
  const NodeState* state = thread_state.task->find(node);
  return state != nullptr && thread_state.task->takes_part(*state);
}

const Node* Engine::current_node() { return thread_state.node; }
const Node* Engine::outermost_node() { return thread_state.outermost; }

// --- Device threads ---

void Engine::set_device_thread_init(DeviceThreadInit init) { device_thread_init = init; }

ReadyQueue& Engine::device_queue(c10::Device device) {
  static std::mutex mutex;
  // As long-lived as the threads.
  static auto* queues = new std::map<std::pair<c10::DeviceType, c10::DeviceIndex>, ReadyQueue*>;

  const std::lock_guard lock(mutex);
  ReadyQueue*& queue = (*queues)[{device.type, device.index}];
  if (queue == nullptr) {
    queue = new ReadyQueue;
    std::thread([this, device, fresh = queue] { device_thread(device, *fresh); }).detach();
  }

  return *queue;
}

void Engine::device_thread(c10::Device device, ReadyQueue& queue) {
  thread_state.device_queue = &queue;
  if (c10::is_accelerator(device)) c10::device_hooks(device.type).exchange_device(device.index);
  if (const DeviceThreadInit init = device_thread_init.load()) init(device);
  while (true) {
    const ReadyQueue::Item item = queue.pop();
    process(*item.task, item.state);
  }
}

}  // namespace torch::autograd
