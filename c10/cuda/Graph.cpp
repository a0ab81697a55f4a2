// CUDA graphs: capture with memory of a pool of their own, and replay.
#include "c10/cuda/Graph.h"

#include <cuda_runtime_api.h>

#include <utility>
#include <vector>

#include "c10/core/Generator.h"
#include "c10/cuda/Memory.h"
#include "c10/cuda/Philox.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Stream.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

cudaStreamCaptureMode native_mode(CaptureMode mode) {
  switch (mode) {
    case CaptureMode::Global: return cudaStreamCaptureModeGlobal;
    case CaptureMode::ThreadLocal: return cudaStreamCaptureModeThreadLocal;
    case CaptureMode::Relaxed: return cudaStreamCaptureModeRelaxed;
  }
  return cudaStreamCaptureModeGlobal;
}

class Graph final : public DeviceGraph {
 public:
  explicit Graph(bool keep_graph) : keep_graph_(keep_graph) {}
  ~Graph() override { release_quietly(); }

  void begin_capture(MemoryPoolId pool, CaptureMode mode) override;
  void end_capture() override;
  void instantiate() override;
  void replay() override;
  void reset() override { release(); }
  MemoryPoolId pool() const override {
    TORCH_CHECK(pool_ != MemoryPoolId{}, "the graph has no memory pool before it is captured");
    return pool_;
  }

  void register_generator(Generator& generator) override;
  void enable_debug_mode() override { keep_graph_ = true; }
  void debug_dump(const std::string& path) override;
  void* native_graph() override { return graph_; }
  void* native_executable() override { return executable_; }

 private:
  /// Leaves the graph as after reset() unless the scope ends with keep().
  class Undo {
   public:
    explicit Undo(Graph& graph) : graph_(&graph) {}
    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;
    ~Undo() {
      if (graph_ != nullptr) graph_->release_quietly();
    }
    void keep() { graph_ = nullptr; }

   private:
    Graph* graph_;
  };

  void register_default_generator();
  /// Undoes what begin_capture has done of its part, after the capture itself has ended.
  void stop_recording() noexcept;
  void release();
  void release_quietly() noexcept {
    try {
      release();
    } catch (const Error&) {
      // What can be reported is the error that led here; the device's own faults come again.
    }
  }

  bool keep_graph_;
  bool capturing_ = false;   // the stream
  bool allocating_ = false;  // from the pool
  DeviceIndex device_ = 0;
  Stream stream_;
  MemoryPoolId pool_{};  // (0, 0): owns none
  std::vector<std::unique_ptr<RecordedPhilox>> generators_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

void Graph::begin_capture(MemoryPoolId pool, CaptureMode mode) {
  TORCH_CHECK(!capturing_ && graph_ == nullptr && executable_ == nullptr,
              "This CUDAGraph instance already owns a captured graph. "
              "To capture a new graph, create a new instance.");
  device_ = current_device();
  stream_ = current_stream_of(device_);
  TORCH_CHECK(stream_.id != 0,
              "CUDA graphs must be captured on a non-default stream. "
              "(However, after capture, it's ok to replay them on the default stream.)");

  Undo undo(*this);
  register_default_generator();
  for (const auto& generator : generators_) generator->begin();
  const MemoryPoolId wanted = pool != MemoryPoolId{} ? pool : new_memory_pool();
  begin_allocating_from_pool(device_, wanted, native(stream_));
  pool_ = wanted;
  allocating_ = true;

  C10_CUDA_CHECK(cudaStreamBeginCapture(native(stream_), native_mode(mode)));
  capturing_ = true;
  undo.keep();
}

void Graph::end_capture() {
  TORCH_CHECK(capturing_, "end_capture without begin_capture");
  Undo undo(*this);
  TORCH_CHECK(current_stream_of(device_) == stream_,
              "Capture must end on the same stream it began on.");
  capturing_ = false;
  C10_CUDA_CHECK(cudaStreamEndCapture(native(stream_), &graph_));
  stop_recording();
  TORCH_CHECK(graph_ != nullptr, "Invalid capture.");

  if (!keep_graph_) {
    instantiate();
    C10_CUDA_CHECK(cudaGraphDestroy(graph_));
    graph_ = nullptr;
  }
  undo.keep();
}

void Graph::instantiate() {
  TORCH_CHECK(graph_ != nullptr,
              "instantiate needs a graph that was captured with keep_graph=True");
  Undo undo(*this);
  if (executable_ != nullptr)
    C10_CUDA_CHECK(cudaGraphExecDestroy(std::exchange(executable_, nullptr)));
  const SelectedDevice guard(device_);
  C10_CUDA_CHECK(cudaGraphInstantiate(&executable_, graph_, 0));
  undo.keep();
}

void Graph::replay() {
  TORCH_CHECK(!capturing_ && (graph_ != nullptr || executable_ != nullptr),
              "Called CUDAGraph::replay without a preceding successful capture.");
  if (executable_ == nullptr) instantiate();
  const SelectedDevice guard(device_);
  for (const auto& generator : generators_) generator->advance();
  C10_CUDA_CHECK(cudaGraphLaunch(executable_, current_stream()));
}

void Graph::register_generator(Generator& generator) {
  auto* const philox = dynamic_cast<PhiloxGenerator*>(&generator);
  TORCH_CHECK(philox != nullptr, "only generators of CUDA devices take part in graphs");
  for (const auto& known : generators_)
    if (&known->generator() == philox) return;
  generators_.push_back(std::make_unique<RecordedPhilox>(*philox));
}

void Graph::register_default_generator() {
  register_generator(default_generator(Device(DeviceType::CUDA, device_)));
}

void Graph::debug_dump(const std::string& path) {
  TORCH_CHECK(graph_ != nullptr,
              "debug_dump needs a captured graph and debug mode before the capture");
  C10_CUDA_CHECK(cudaGraphDebugDotPrint(graph_, path.c_str(), 0));
}

void Graph::stop_recording() noexcept {
  for (const auto& generator : generators_) generator->end();
  if (std::exchange(allocating_, false)) end_allocating_from_pool(device_, pool_);
}

void Graph::release() {
  if (capturing_) {
    // Abandoned in the middle: nobody will end the capture any more.
    capturing_ = false;
    cudaGraph_t unfinished = nullptr;
    C10_CUDA_IGNORE(cudaStreamEndCapture(native(stream_), &unfinished));
    if (unfinished != nullptr) C10_CUDA_IGNORE(cudaGraphDestroy(unfinished));
  }
  stop_recording();
  // CUDA keeps what launches in streams still need.
  if (executable_ != nullptr)
    C10_CUDA_IGNORE(cudaGraphExecDestroy(std::exchange(executable_, nullptr)));
  if (graph_ != nullptr) C10_CUDA_IGNORE(cudaGraphDestroy(std::exchange(graph_, nullptr)));
  if (pool_ != MemoryPoolId{}) release_pool(device_, std::exchange(pool_, {}));
  generators_.clear();
}

}  // namespace

std::unique_ptr<DeviceGraph> make_graph(bool keep_graph) {
  return std::make_unique<Graph>(keep_graph);
}

bool is_capturing(Stream stream) {
  const SelectedDevice guard(stream.device.index);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(native(stream), &status));
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace c10::cuda
