// Emulated graphs: capture, instantiation, replay.
#include "tests/emulation/graphs.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>

struct CUgraph_st {
  std::vector<emulation::Node> nodes;
};

struct CUgraphExec_st {
  std::shared_ptr<const std::vector<emulation::Node>> nodes;
  emulation::MarkPtr last_launch;  // launches of one graph do not overlap
};

namespace emulation {

namespace {

uint64_t captures = 0;
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

std::set<std::shared_ptr<Capture>>& active_captures() {
  static std::set<std::shared_ptr<Capture>>& all = *new std::set<std::shared_ptr<Capture>>;
  return all;
}

/// Whether the capture forbids the calling thread what might wait or allocate.
bool forbids(const Capture& capture) {
  const bool own = capture.thread == std::this_thread::get_id();
  if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
  if (own) return capture.mode != cudaStreamCaptureModeRelaxed;
  return thread_mode == cudaStreamCaptureModeGlobal && capture.mode == cudaStreamCaptureModeGlobal;
}

void merge_into(std::vector<size_t>& nodes, const std::vector<size_t>& more) {
  for (const size_t node : more)
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
}

/// Whether all work of the streams that took part comes before the end of the first of them.
bool is_joined(const Capture& capture) {
  std::vector<bool> reached(capture.nodes.size(), false);
  std::vector<size_t> open = capture.frontier.at(capture.origin);
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    if (reached[node]) continue;
    reached[node] = true;
    merge_into(open, capture.nodes[node].after);
  }

  for (const auto& [stream, nodes] : capture.frontier)
    for (const size_t node : nodes)
      if (!reached[node]) return false;
  return true;
}

void finish(const std::shared_ptr<Capture>& capture) {
  capture->ended = true;
  for (const auto& [stream, nodes] : capture->frontier) stream->capture = nullptr;
  active_captures().erase(capture);
}

cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return refuse(cudaErrorIllegalState, "the stream records nothing");
  if (stream != capture->origin) {
    capture->lost = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id())
    return cudaErrorStreamCaptureWrongThread;

  finish(capture);
  if (capture->lost) return cudaErrorStreamCaptureInvalidated;
  if (!is_joined(*capture)) return cudaErrorStreamCaptureUnjoined;
  *graph = new CUgraph_st{std::move(capture->nodes)};
  return cudaSuccess;
}

/// Runs all nodes, each after those it follows. Of several that could run, the one that was
/// recorded last is taken: a missing edge shows.
void run_nodes(const std::vector<Node>& nodes) {
  std::vector<bool> done(nodes.size(), false);
  const auto is_ready = [&](const Node& node) {
    return std::all_of(node.after.begin(), node.after.end(), [&](size_t i) { return done[i]; });
  };

  for (size_t left = nodes.size(); left > 0; --left) {
    size_t next = nodes.size() - 1;
    while (done[next] || !is_ready(nodes[next])) --next;
    if (nodes[next].operation.run) nodes[next].operation.run();
    done[next] = true;
  }
}

std::vector<Use> uses_of(const std::vector<Node>& nodes) {
  std::vector<Use> uses;
  for (const Node& node : nodes)
    uses.insert(uses.end(), node.operation.uses.begin(), node.operation.uses.end());
  return uses;
}

/// Describes a block that the graph recorded and that was freed or replaced since then.
std::string stale(const std::vector<Node>& nodes) {
  for (const Node& node : nodes)
    for (const Use& use : node.operation.uses) {
      const Block* const block = find_block(use.begin);
      if (use.serial != 0 && (block == nullptr || block->serial != use.serial))
        return std::string(node.operation.name) + " in the graph uses memory that was freed";
    }
  return "";
}

cudaError_t launch(cudaGraphExec_t executable, cudaStream_t stream) {
  const auto nodes = executable->nodes;
  const std::string problem = stale(*nodes);
  if (!problem.empty()) return refuse(cudaErrorIllegalAddress, problem);

  Operation operation{.name = "graph", .run = [nodes] { run_nodes(*nodes); }};
  operation.uses = uses_of(*nodes);
  if (executable->last_launch != nullptr) operation.after = {executable->last_launch};
  if (const cudaError_t error = append(stream, std::move(operation))) return error;
  if (stream->capture == nullptr) executable->last_launch = stream->last;
  return cudaSuccess;
}

void print_dot(const std::vector<Node>& nodes, FILE* file) {
  std::fprintf(file, "digraph recorded {\n");
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::fprintf(file, "  node%zu [label=\"%s\"];\n", i, nodes[i].operation.name);
    for (const size_t before : nodes[i].after)
      std::fprintf(file, "  node%zu -> node%zu;\n", before, i);
  }
  std::fprintf(file, "}\n");
}

}  // namespace

cudaError_t capture_operation(cudaStream_t stream, Operation operation) {
  Capture& capture = *stream->capture;
  if (capture.lost) return cudaErrorStreamCaptureInvalidated;
  std::vector<size_t>& frontier = capture.frontier[stream];
  capture.nodes.push_back({std::move(operation), frontier});
  frontier = {capture.nodes.size() - 1};
  return cudaSuccess;
}

cudaError_t capture_wait(cudaStream_t stream, const std::shared_ptr<Capture>& capture,
                         const std::vector<size_t>& nodes) {
  if (capture->lost) return cudaErrorStreamCaptureInvalidated;
  if (stream->capture != nullptr && stream->capture != capture) {
    stream->capture->lost = true;
    return lose(*capture, cudaErrorStreamCaptureMerge, "a wait for work of another capture");
  }
  Device& device = devices()[static_cast<size_t>(stream->device)];
  if (stream == device.legacy)
    return lose(*capture, cudaErrorStreamCaptureImplicit, "the legacy stream cannot take part");

  stream->capture = capture;
  merge_into(capture->frontier[stream], nodes);
  return cudaSuccess;
}

cudaError_t lose(Capture& capture, cudaError_t error, const char* what) {
  capture.lost = true;
  return refuse(error, what);
}

cudaError_t refuse_legacy_while_capturing(cudaStream_t stream) {
  const Device& device = devices()[static_cast<size_t>(stream->device)];
  if (stream != device.legacy) return cudaSuccess;
  for (const cudaStream_t other : device.streams)
    if (other->blocking && other->capture != nullptr)
      return lose(*other->capture, cudaErrorStreamCaptureImplicit,
                  "the legacy stream would wait for a stream that records");
  return cudaSuccess;
}

cudaError_t refuse_while_capturing(const char* what) {
  bool refused = false;
  for (const std::shared_ptr<Capture>& capture : active_captures()) {
    if (!forbids(*capture)) continue;
    capture->lost = true;
    refused = true;
  }
  return refused ? refuse(cudaErrorStreamCaptureUnsupported, what) : cudaSuccess;
}

cudaError_t refuse_while_capturing(cudaStream_t stream, const char* what) {
  if (stream->capture == nullptr) return refuse_while_capturing(what);
  return lose(*stream->capture, cudaErrorStreamCaptureUnsupported, what);
}

cudaError_t refuse_while_capturing(const Device& device, const char* what) {
  for (const cudaStream_t stream : device.streams)
    if (stream->capture != nullptr) return refuse_while_capturing(stream, what);
  return refuse_while_capturing(what);
}

}  // namespace emulation

using namespace emulation;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream == devices()[static_cast<size_t>(stream->device)].legacy)
      return refuse(cudaErrorStreamCaptureUnsupported, "the legacy stream cannot be captured");
    if (stream->capture != nullptr) return cudaErrorIllegalState;

    const auto capture = std::make_shared<Capture>();
    capture->id = ++captures;
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->frontier[stream] = {};
    active_captures().insert(capture);
    stream->capture = capture;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return end_capture(stream, graph);
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t*, const cudaGraphNode_t**,
                                     const cudaGraphEdgeData**, size_t*) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    *status = cudaStreamCaptureStatusNone;
    if (stream->capture == nullptr) return refuse_legacy_while_capturing(stream);

    *status =
        stream->capture->lost ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    if (id != nullptr) *id = stream->capture->id;
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, thread_mode);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  return call([&]() -> cudaError_t {
    if (graph == nullptr) return cudaErrorInvalidValue;
    auto nodes = std::make_shared<const std::vector<Node>>(graph->nodes);
    *executable = new CUgraphExec_st{std::move(nodes), nullptr};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr || executable == nullptr) return cudaErrorInvalidResourceHandle;
    return launch(executable, stream);
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call([&]() -> cudaError_t {
    if (nodes != nullptr) return refuse(cudaErrorNotSupported, "only the number of nodes");
    *count = graph->nodes.size();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&] {
    delete graph;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&] {
    delete executable;  // a launch that waits owns the nodes
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
  return call([&]() -> cudaError_t {
    FILE* const file = std::fopen(path, "w");
    if (file == nullptr) return cudaErrorOperatingSystem;
    print_dot(graph->nodes, file);
    std::fclose(file);
    return cudaSuccess;
  });
}

}  // extern "C"
