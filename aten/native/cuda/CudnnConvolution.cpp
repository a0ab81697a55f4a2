// Runs convolutions by cuDNN, and remembers plans and refusals.
#include "aten/native/cuda/CudnnConvolution.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "aten/core/Determinism.h"
#include "aten/ops/copy.h"
#include "aten/ops/empty_like.h"
#include "c10/core/ConvolutionSettings.h"
#include "c10/core/ProductPrecision.h"
#include "c10/cuda/Event.h"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Memory.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Stream.h"
#include "c10/cuda/allocator/CaptureScope.h"
#include "c10/cuda/libraries/PerThread.h"
#include "c10/util/Exception.h"

namespace at::native::cuda {

namespace cudnn = c10::cuda::cudnn;

namespace {

constexpr int64_t kMostAlignment = 16;
constexpr size_t kMostKnown = 2048;
constexpr size_t kMostRefusals = 256;

using PlanPtr = std::shared_ptr<const CudnnPlan>;

/// The plans of a thread by their problems; null for a problem that cuDNN has refused.
struct KnownPlans {
  std::unordered_map<std::string, PlanPtr> plans;
  // A recorded graph needs the kernels of its plans, however often it is replayed.
  std::unordered_set<PlanPtr> recorded;
};

// --- Refusals, for torch.backends.cudnn ---

struct Refusals {
  std::mutex mutex;
  std::vector<std::pair<std::string, std::string>> texts;
};

Refusals& refusals() {
  static auto* const all = new Refusals;
  return *all;
}

void note_refusal(const CudnnProblem& problem, const std::string& why) {
  const std::lock_guard lock(refusals().mutex);
  if (refusals().texts.size() < kMostRefusals) refusals().texts.emplace_back(problem.text(), why);
}

std::vector<std::pair<std::string, std::string>> refused_problems() {
  if (cudnn::functions() == nullptr) return {{"all convolutions", cudnn::absence()}};
  const std::lock_guard lock(refusals().mutex);
  return refusals().texts;
}

int64_t library_version() {
  const cudnn::Functions* const functions = cudnn::functions();
  return functions == nullptr ? 0 : static_cast<int64_t>(functions->version());
}

[[maybe_unused]] const bool registered = [] {
  static const c10::ConvolutionLibrary library{library_version, refused_problems};
  c10::set_convolution_library(&library);
  return true;
}();

// --- Problems ---

/// channels_last if one of the tensors is: cuDNN wants the same order in all of them.
MemoryFormat common_format(const ConvolutionTensors& tensors) {
  for (const Tensor* tensor : {&tensors.image, &tensors.result, &tensors.weight}) {
    const MemoryFormat format = tensor->suggest_memory_format();
    if (format != MemoryFormat::Contiguous) return format;
  }
  return MemoryFormat::Contiguous;
}

const Tensor& written_by(ConvolutionPass pass, const ConvolutionTensors& tensors) {
  switch (pass) {
    case ConvolutionPass::Forward: return tensors.result;
    case ConvolutionPass::ImageGradient: return tensors.image;
    default: return tensors.weight;
  }
}

/// The tensors as cuDNN gets them: dense in the format.
ConvolutionTensors dense_tensors(ConvolutionPass pass, const ConvolutionTensors& given,
                                 MemoryFormat format) {
  const Tensor& written = written_by(pass, given);
  const auto dense = [&](const Tensor& tensor) {
    if (tensor.is_contiguous(format)) return tensor;
    return tensor.is_same(written) ? at::empty_like(tensor, {}, {}, {}, {}, format)
                                   : tensor.contiguous(format);
  };
  return {dense(given.image), dense(given.weight), dense(given.result),
          given.bias.defined() ? given.bias.contiguous() : given.bias};
}

ConvolutionAddresses addresses_of(const ConvolutionTensors& tensors) {
  return {tensors.image.data(), tensors.weight.data(), tensors.result.data(),
          tensors.bias.defined() ? tensors.bias.data() : nullptr};
}

int64_t alignment_of(const ConvolutionTensors& tensors) {
  const ConvolutionAddresses all = addresses_of(tensors);
  uintptr_t addresses = kMostAlignment;
  for (const void* address : {all.image, all.weight, all.result, all.bias})
    addresses |= reinterpret_cast<uintptr_t>(address);
  return int64_t{1} << std::countr_zero(addresses);
}

bool rounds_to_tf32(const ConvolutionTensors& tensors) {
  return tensors.image.scalar_type() == kFloat && c10::tf32_allowed(c10::Tf32Use::Convolutions);
}

CudnnProblem problem_of(ConvolutionPass pass, const ConvolutionGeometry& geometry,
                        const ConvolutionTensors& tensors, MemoryFormat format) {
  const c10::ConvolutionSettings& settings = c10::convolution_settings();
  CudnnProblem problem;
  problem.pass = pass;
  problem.dtype = tensors.image.scalar_type();
  problem.spatial = static_cast<int>(std::max<int64_t>(2, tensors.image.dim() - 2));
  problem.channels_last = format != MemoryFormat::Contiguous;
  problem.adds_bias = tensors.bias.defined();
  problem.tf32 = rounds_to_tf32(tensors);
  problem.deterministic = settings.deterministic || deterministic_algorithms();
  problem.alignment = alignment_of(tensors);
  problem.geometry = geometry;
  return problem;
}

bool is_possible(const ConvolutionTensors& tensors) {
  for (const Tensor* tensor : {&tensors.image, &tensors.weight, &tensors.result}) {
    if (!tensor->is_floating_point() || tensor->scalar_type() != tensors.image.scalar_type() ||
        tensor->numel() > std::numeric_limits<int32_t>::max())
      return false;
  }
  return c10::convolution_settings().enabled && cudnn::functions() != nullptr;
}

// --- Plans ---

/// Puts a plan into the current stream.
void run(const CudnnPlan& plan, const ConvolutionTensors& tensors) {
  c10::DataPtr workspace;
  if (plan.workspace() > 0) workspace = c10::cuda::device_allocator().allocate(plan.workspace());
  plan.execute(addresses_of(tensors), workspace.get());
}

/// Milliseconds for a call after the first one.
float time_of(const CudnnPlan& plan, const ConvolutionTensors& tensors) {
  const c10::Stream stream = c10::cuda::current_stream_of(c10::cuda::current_device());
  const cudaEvent_t begin = c10::cuda::create_event(stream.device.index, true, false, false);
  const cudaEvent_t end = c10::cuda::create_event(stream.device.index, true, false, false);

  run(plan, tensors);
  c10::cuda::record_event(begin, stream);
  run(plan, tensors);
  c10::cuda::record_event(end, stream);
  c10::cuda::synchronize_event(end);

  const float time = c10::cuda::elapsed_time(begin, end);
  C10_CUDA_IGNORE(cudaEventDestroy(begin));
  C10_CUDA_IGNORE(cudaEventDestroy(end));
  return time;
}

PlanPtr fastest(const std::vector<PlanPtr>& plans, const ConvolutionTensors& tensors) {
  PlanPtr best;
  float best_time = std::numeric_limits<float>::infinity();
  for (const PlanPtr& plan : plans) {
    try {
      const float time = time_of(*plan, tensors);
      if (time < best_time) best = plan;
      best_time = std::min(best_time, time);
    } catch (const c10::Error&) {
      cudaGetLastError();  // the others may do
    }
  }
  return best;
}

/// The plan to use from now on; null, with the reason noted, without one.
PlanPtr choose_plan(const CudnnProblem& problem, const ConvolutionTensors& tensors,
                    size_t candidates) {
  std::string why;
  try {
    const std::vector<PlanPtr> plans = make_plans(problem, candidates, why);
    if (plans.size() == 1) return plans[0];
    if (!plans.empty()) {
      if (const PlanPtr best = fastest(plans, tensors)) return best;
      why = "no engine could be run";
    }
  } catch (const c10::Error& error) {
    why = error.message();
  }
  cudaGetLastError();
  note_refusal(problem, why);
  return nullptr;
}

/// How many plans are timed; 1: none.
size_t wanted_candidates() {
  const c10::ConvolutionSettings& settings = c10::convolution_settings();
  if (!settings.benchmark) return 1;
  const int64_t limit = settings.benchmark_limit;
  return limit > 0 ? static_cast<size_t>(limit) : std::numeric_limits<size_t>::max();
}

/// The entry of a problem, new ones with a chosen plan; null while a graph is recorded and the
/// problem is new: making plans waits for the device and allocates memory behind the allocator.
PlanPtr* find_plan(const CudnnProblem& problem, const ConvolutionTensors& tensors,
                   bool is_recording) {
  auto& plans = c10::cuda::PerThread<KnownPlans>::current().plans;
  const size_t candidates = wanted_candidates();
  const std::string key = std::to_string(c10::cuda::current_device()) + ' ' +
                          std::to_string(candidates) + ' ' + problem.bytes();
  if (const auto found = plans.find(key); found != plans.end()) return &found->second;
  if (is_recording) return nullptr;

  if (plans.size() >= kMostKnown) plans.clear();  // a program of ever new sizes
  return &(plans[key] = choose_plan(problem, tensors, candidates));
}

bool run_known(const char* name, const CudnnProblem& problem, const ConvolutionTensors& tensors) {
  const cudaStream_t stream = c10::cuda::current_stream();
  const bool is_recording = c10::cuda::is_capturing_now(stream);
  PlanPtr* const plan = find_plan(problem, tensors, is_recording);
  if (plan == nullptr || *plan == nullptr) return false;
  if (is_recording) c10::cuda::PerThread<KnownPlans>::current().recorded.insert(*plan);

  try {
    c10::cuda::note_launch(name, stream);
    run(**plan, tensors);
  } catch (const c10::OutOfMemoryError&) {
    return false;  // this time
  } catch (const c10::Error& error) {
    cudaGetLastError();
    note_refusal(problem, error.message());
    plan->reset();
    return false;
  }
  if (c10::cuda::is_blocking()) c10::cuda::wait_for_launch(stream);
  return true;
}

}  // namespace

bool can_add_bias(const ConvolutionTensors& tensors) {
  return c10::is_reduced_floating(tensors.image.scalar_type()) || rounds_to_tf32(tensors);
}

bool convolve_by_cudnn(const char* name, ConvolutionPass pass, const ConvolutionGeometry& geometry,
                       const ConvolutionTensors& tensors) {
  if (!is_possible(tensors)) return false;

  const MemoryFormat format = common_format(tensors);
  const ConvolutionTensors dense = dense_tensors(pass, tensors, format);
  if (!run_known(name, problem_of(pass, geometry, dense, format), dense)) return false;

  const Tensor& written = written_by(pass, tensors);
  if (!written_by(pass, dense).is_same(written)) at::copy_(written, written_by(pass, dense));
  return true;
}

}  // namespace at::native::cuda
