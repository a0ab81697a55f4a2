// Emulated streams: what runs when, and in which order.
#include "tests/emulation/streams.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "tests/emulation/graphs.h"

namespace emulation {

namespace {

// Note [Order of work]
// Work runs in the thread that waits for it. TORCH_PY_EMULATED_STREAMS says what runs meanwhile:
//   late    nothing but what the wait needs: a missing wait reads old bytes. The default.
//   now     all that can run, in the call that adds it: memory that is reused too early is seen.
//   NUMBER  a seed: operations of all streams in an order drawn by it, some of them early.

constexpr size_t kLongestQueue = 4096;  // then the oldest work runs, as on hardware

struct Order {
  enum class Mode { Late, Now, Random } mode = Mode::Late;
  std::minstd_rand random;
};

Order make_order() {
  const char* const text = std::getenv("TORCH_PY_EMULATED_STREAMS");
  if (text == nullptr || *text == '\0' || std::strcmp(text, "late") == 0) return {};
  if (std::strcmp(text, "now") == 0) return {Order::Mode::Now, {}};
  return {Order::Mode::Random,
          std::minstd_rand(static_cast<uint32_t>(std::strtoull(text, nullptr, 10)) + 1)};
}

Order& order() {
  static Order& only = *new Order(make_order());
  return only;
}

uint64_t stream_ids = 0;

cudaStream_t add_stream(Device& device, bool blocking, int priority) {
  auto* const stream = new CUstream_st;
  stream->device = device.index;
  stream->blocking = blocking;
  stream->priority = priority;
  stream->id = ++stream_ids;
  device.streams.push_back(stream);
  return stream;
}

void make_default_streams(Device& device) {
  if (device.legacy != nullptr) return;
  device.legacy = add_stream(device, false, 0);
  device.per_thread = add_stream(device, true, 0);
}

double now_in_milliseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

bool is_done(const MarkPtr& mark) {
  if (!mark->done && mark->arrived && mark->arrived()) mark->done = true;
  return mark->done;
}

/// The first thing that the head of a queue still waits for; null where it can run.
MarkPtr obstacle(cudaStream_t stream) {
  for (const MarkPtr& mark : stream->queue.front().after)
    if (!is_done(mark)) return mark;
  return nullptr;
}

bool can_run(cudaStream_t stream) { return !stream->queue.empty() && obstacle(stream) == nullptr; }

/// What keeps the runtime busy must not be called by the work itself.
thread_local bool in_work = false;

void run_head(cudaStream_t stream) {
  Operation operation = std::move(stream->queue.front());
  stream->queue.pop_front();
  const int device = stream->device;

  const bool runs =
      operation.run != nullptr && devices()[static_cast<size_t>(device)].fault == cudaSuccess;
  const bool was_in_work = std::exchange(in_work, true);
  try {
    if (runs) operation.run();
  } catch (const Fault& problem) {
    fault(device, problem.error, std::string(operation.name) + ": " + problem.what());
  } catch (const std::exception& problem) {
    fault(device, cudaErrorLaunchFailure, std::string(operation.name) + ": " + problem.what());
  }
  in_work = was_in_work;

  operation.mark->milliseconds = now_in_milliseconds();
  operation.mark->done = true;
}

std::vector<cudaStream_t> all_that_can_run() {
  std::vector<cudaStream_t> found;
  for (const Device& device : devices())
    for (const cudaStream_t stream : device.streams)
      if (can_run(stream)) found.push_back(stream);
  return found;
}

bool run_any() {
  const std::vector<cudaStream_t> candidates = all_that_can_run();
  if (candidates.empty()) return false;
  run_head(candidates[order().random() % candidates.size()]);
  return true;
}

/// The stream whose head must run next for `mark`; null where that is in another process, or
/// where operations wait for each other.
cudaStream_t next_for(MarkPtr mark) {
  for (size_t steps = 0; steps < 10'000; ++steps) {
    const cudaStream_t stream = mark->stream;
    if (stream == nullptr || stream->queue.empty()) return nullptr;
    const MarkPtr before = obstacle(stream);
    if (before == nullptr) return stream;
    mark = before;
  }
  return nullptr;
}

/// Runs early what the order says.
void proceed(cudaStream_t stream) {
  if (in_work) return;
  switch (order().mode) {
    case Order::Mode::Late:
      if (stream->queue.size() > kLongestQueue) run_towards(stream->queue.front().mark);
      return;
    case Order::Mode::Now:
      while (run_any()) {
      }
      return;
    case Order::Mode::Random:
      if (order().random() % 4 == 0) run_any();
      return;
  }
}

/// The legacy stream and the blocking ones wait for each other.
void add_legacy_edges(cudaStream_t stream, Operation& operation) {
  Device& device = devices()[static_cast<size_t>(stream->device)];
  const auto wait_for = [&](cudaStream_t other) {
    if (other->last != nullptr && !other->last->done) operation.after.push_back(other->last);
  };

  if (stream->blocking) wait_for(device.legacy);
  if (stream != device.legacy) return;
  for (const cudaStream_t other : device.streams)
    if (other->blocking) wait_for(other);
}

bool is_mapped(uintptr_t address) {
  const uintptr_t page = address / page_size() * page_size();
  return msync(reinterpret_cast<void*>(page), 1, MS_ASYNC) == 0;
}

/// Turns one word of an argument into a readable address, if it is one. An address of the host that
/// is all of an argument is refused. Inside of a structure it may be what the stack held where the
/// structure has padding: it becomes an address at which a kernel that uses it faults.
void make_readable(uintptr_t& word, bool is_whole, PendingUses& pending) {
  const Block* const block = find_block(word);
  if (is_device_address(word)) {
    // The end of a block is an address too: of an empty tensor.
    if (block == nullptr && find_block(word - 1) == nullptr) return;
    if (block != nullptr) pending.uses.push_back({word, 1, block->serial});
    word = reinterpret_cast<uintptr_t>(readable(reinterpret_cast<void*>(word)));
    return;
  }
  if (block != nullptr) {
    pending.uses.push_back({word, 1, block->serial});
    return;
  }

  // Programs and libraries lie above that, by default; below lie sizes, pairs of small integers
  // and the shadow memory of sanitizers, which is mapped up to 0x3400'0000'0000.
  const bool like_an_address = word >> 44 >= 5 && word >> 48 == 0;
  if (!like_an_address || !is_mapped(word)) return;
  if (!is_whole) {
    constexpr uintptr_t kNowhere = uintptr_t{1} << 63;
    word |= kNowhere;
  } else if (pending.problem.empty()) {
    pending.problem = "an argument holds an address of the host that is not pinned";
  }
}

/// What hardware would find when the work touches memory of another device.
std::string unreachable(const std::vector<Use>& uses, int device) {
  for (const Use& use : uses) {
    const std::string problem = problem_with(use.begin, use.bytes, device);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace

cudaStream_t find_stream(cudaStream_t handle) {
  Device& device = current_device();
  make_default_streams(device);
  if (handle == nullptr || handle == cudaStreamLegacy) return device.legacy;
  if (handle == cudaStreamPerThread) return device.per_thread;

  for (const Device& each : devices())
    for (const cudaStream_t stream : each.streams)
      if (stream == handle) return stream;
  return nullptr;
}

cudaError_t append(cudaStream_t stream, Operation operation) {
  if (stream->capture != nullptr) return capture_operation(stream, std::move(operation));
  if (const cudaError_t error = refuse_legacy_while_capturing(stream)) return error;

  make_default_streams(devices()[static_cast<size_t>(stream->device)]);
  add_legacy_edges(stream, operation);
  operation.mark = std::make_shared<Mark>();
  operation.mark->stream = stream;
  operation.mark->device = stream->device;
  stream->last = operation.mark;
  stream->queue.push_back(std::move(operation));
  proceed(stream);
  return cudaSuccess;
}

bool run_towards(const MarkPtr& mark) {
  if (order().mode == Order::Mode::Random) return run_any();
  const cudaStream_t stream = next_for(mark);
  if (stream == nullptr) return false;
  run_head(stream);
  return true;
}

cudaError_t run_until(const MarkPtr& mark) {
  using namespace std::chrono;
  const auto patience = seconds(setting("TORCH_PY_EMULATED_PATIENCE_SECONDS", 20));
  auto stuck_since = steady_clock::time_point::max();

  while (!is_done(mark)) {
    if (run_towards(mark)) {
      stuck_since = steady_clock::time_point::max();
      continue;
    }
    // Only another process can help now.
    stuck_since = std::min(stuck_since, steady_clock::now());
    if (steady_clock::now() - stuck_since > patience)
      return refuse(cudaErrorLaunchTimeout, "a wait for what no stream of this process will do");
    std::this_thread::sleep_for(milliseconds(1));
  }

  const Device& device = devices()[static_cast<size_t>(mark->device)];
  return device.fault == cudaSuccess ? cudaSuccess : refuse(device.fault, device.fault_text);
}

cudaError_t drain(cudaStream_t stream) {
  while (!stream->queue.empty())
    if (const cudaError_t error = run_until(stream->last)) return error;
  return cudaSuccess;
}

cudaError_t drain(Device& device) {
  for (size_t i = 0; i < device.streams.size(); ++i)
    if (const cudaError_t error = drain(device.streams[i])) return error;
  return device.fault == cudaSuccess ? cudaSuccess : refuse(device.fault, device.fault_text);
}

PendingUses& pending_uses() {
  thread_local const auto pending = std::make_unique<PendingUses>();
  return *pending;
}

void readable_argument(void* bytes, size_t count) {
  const std::lock_guard lock(mutex());
  auto* const begin = static_cast<uint8_t*>(bytes);
  for (size_t at = 0; at + sizeof(uintptr_t) <= count; at += sizeof(uintptr_t)) {
    uintptr_t word;
    std::memcpy(&word, begin + at, sizeof word);
    const uintptr_t before = word;
    make_readable(word, count == sizeof word, pending_uses());
    if (word != before) std::memcpy(begin + at, &word, sizeof word);
  }
}

cudaError_t enqueue(cudaStream_t handle, const char* name, std::function<void()> work) {
  return call([&]() -> cudaError_t {
    PendingUses pending = std::exchange(pending_uses(), {});
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return refuse(cudaErrorInvalidResourceHandle, "not a stream");
    if (stream->device != current_device().index)
      return refuse(cudaErrorInvalidResourceHandle,
                    std::string(name) + " launched on a stream of device " +
                        std::to_string(stream->device) + " while device " +
                        std::to_string(current_device().index) + " is current");
    if (!pending.problem.empty())
      return refuse(cudaErrorInvalidValue, std::string(name) + ": " + pending.problem);

    const std::string problem = unreachable(pending.uses, stream->device);
    if (!problem.empty()) work = [problem] { throw Fault(cudaErrorIllegalAddress, problem); };
    return append(stream, {.name = name, .run = std::move(work), .uses = std::move(pending.uses)});
  });
}

}  // namespace emulation

using namespace emulation;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return call([&]() -> cudaError_t {
    if ((flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) return cudaErrorInvalidValue;
    make_default_streams(current_device());
    const bool blocking = (flags & cudaStreamNonBlocking) == 0;
    *stream = add_stream(current_device(), blocking, std::clamp(priority, -5, 0));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    Device& device = devices()[static_cast<size_t>(stream->device)];
    if (stream == device.legacy || stream == device.per_thread)
      return cudaErrorInvalidResourceHandle;

    if (stream->capture != nullptr) return refuse_while_capturing(stream, "cudaStreamDestroy");
    // CUDA returns at once and lets the work finish; here it finishes first.
    const cudaError_t error = drain(stream);
    std::erase(device.streams, stream);
    delete stream;
    return error;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    *priority = stream->priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int* flags) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    const bool is_default = stream == current_device().legacy || stream->blocking;
    *flags = is_default ? cudaStreamDefault : cudaStreamNonBlocking;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    *device = stream->device;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    *id = stream->id;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_while_capturing(stream, "cudaStreamQuery")) return error;
    if (stream->queue.empty()) return cudaSuccess;

    // Each query brings the work a step forward, so that a loop of queries ends.
    run_towards(stream->last);
    return cudaErrorNotReady;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_while_capturing(stream, "cudaStreamSynchronize"))
      return error;
    return stream->last != nullptr ? run_until(stream->last) : cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* user_data) {
  return call([&]() -> cudaError_t {
    const cudaStream_t stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return append(stream, {.name = "host function", .run = [=] {
                             const bool before = std::exchange(in_host_function(), true);
                             function(user_data);
                             in_host_function() = before;
                           }});
  });
}

}  // extern "C"
