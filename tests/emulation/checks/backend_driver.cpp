// The backend's core on the emulated runtime: devices, streams, events, reports, graphs, errors.
#include <set>
#include <thread>

#include "c10/core/DeviceGuard.h"
#include "c10/core/Event.h"
#include "c10/core/PhiloxGenerator.h"
#include "c10/cuda/Launch.h"
#include "c10/cuda/Memory.h"
#include "c10/cuda/Philox.h"
#include "c10/cuda/Runtime.h"
#include "c10/cuda/Simt.h"
#include "c10/cuda/Stream.h"
#include "c10/util/Exception.h"
#include "tests/emulation/checks/cases.h"

using namespace c10;
using namespace cases;

namespace {

constexpr Device kFirst{DeviceType::CUDA, 0};
constexpr Device kSecond{DeviceType::CUDA, 1};

DeviceHooks& hooks() { return device_hooks(DeviceType::CUDA); }

/// The message of the error that `body` throws; fails without one.
template <class E, class Body>
std::string thrown(Body body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  EXPECT(!"an error");
  return "";
}

bool contains(const std::string& text, const char* part) {
  if (text.find(part) != std::string::npos) return true;
  std::printf("%s\n", text.c_str());
  return false;
}

SIMT_KERNEL add_one(const int* in, int* out, int n) {
  const int i = static_cast<int>(simt::block_x() * simt::block_dim_x() + simt::thread_x());
  if (i < n) out[i] = in[i] + 1;
}

SIMT_KERNEL check_index(simt::Reporter reporter, const int* index, int bound) {
  if (*index < 0 || *index >= bound)
    simt::report(reporter, cuda::ReportKind::IndexRange, 2, *index, bound);
}

SIMT_KERNEL check_number(simt::Reporter reporter, double number) {
  int64_t bits;
  __builtin_memcpy(&bits, &number, sizeof bits);
  if (!(number >= 0)) simt::report(reporter, cuda::ReportKind::Probability, 0, bits, 0);
}

SIMT_KERNEL draw(cuda::PhiloxArguments philox, uint64_t* out) {
  out[0] = philox.key();
  out[1] = philox.first_counter();
}

SIMT_KERNEL break_down() { throw std::runtime_error("broken on purpose"); }

template <class T>
T value_of(const DataPtr& data, size_t index = 0) {
  T value;
  hooks().copy_bytes(&value, kCPU, static_cast<const T*>(data.get()) + index, data.device(),
                     sizeof value, false);
  return value;
}

template <class T>
DataPtr device_value(T value, Device device = kFirst) {
  DataPtr data = hooks().allocator().allocate(sizeof value, device.index);
  hooks().copy_bytes(data.get(), device, &value, kCPU, sizeof value, false);
  return data;
}

void launch_add_one(const DataPtr& in, const DataPtr& out) {
  cuda::launch("add", add_one, 1, 32, 0, cuda::current_stream(), static_cast<const int*>(in.get()),
               static_cast<int*>(out.get()), 1);
}

void devices_and_guards() {
  EXPECT(hooks().device_count() == 2 && hooks().current_device() == 0);
  {
    const DeviceGuard guard(kSecond);
    EXPECT(hooks().current_device() == 1);
    const DataPtr in = device_value(1, kSecond);
    launch_add_one(in, in);
    EXPECT(value_of<int>(in) == 2);
  }
  EXPECT(hooks().current_device() == 0);
  std::thread([] { EXPECT(hooks().current_device() == 0); }).join();
  EXPECT(contains(thrown<Error>([] { hooks().exchange_device(2); }), "invalid device ordinal"));
  EXPECT(hooks().properties(1).warp_size == 32);

  // Without a guard, a launch on memory of the other device stops at the stream.
  const DataPtr far = device_value(1, kSecond);
  EXPECT(contains(thrown<Error>([&] {
                    cuda::launch("add", add_one, 1, 32, 0, cuda::native(hooks().new_stream(1, 0)),
                                 static_cast<const int*>(far.get()), static_cast<int*>(far.get()),
                                 1);
                  }),
                  "while device 0 is current"));
}

void streams_of_the_pool() {
  std::set<int64_t> ids;
  for (int i = 0; i < 40; ++i) ids.insert(hooks().new_stream(0, 0).id);
  EXPECT(ids.size() == 32 && ids.count(0) == 0);
  for (const int priority : {0, -1, -5, -9, 3}) {
    const int expected = std::min(0, std::max(priority, -5));
    const Stream stream = hooks().new_stream(0, priority);
    EXPECT(hooks().stream_priority(stream) == expected);
    int native_priority = 1;
    const auto handle = static_cast<cudaStream_t>(hooks().native_stream(stream));
    EXPECT_OK(cudaStreamGetPriority(handle, &native_priority));
    EXPECT(native_priority == expected);
  }

  const Stream other = hooks().new_stream(1, 0);
  {
    const StreamGuard guard(other);
    EXPECT(hooks().current_stream(1) == other && hooks().current_device() == 1);
    std::thread([] { EXPECT(hooks().current_stream(1).id == 0); }).join();
  }
  EXPECT(hooks().current_stream(1) == hooks().default_stream(1));

  const cudaStream_t handle = new_stream();
  const Stream external = hooks().external_stream(0, handle);
  EXPECT(hooks().native_stream(external) == handle);
  EXPECT(hooks().external_stream(0, nullptr) == hooks().default_stream(0));
}

void events_between_streams() {
  const Stream producer = hooks().new_stream(0, 0);
  const Stream consumer = hooks().new_stream(0, 0);
  const DataPtr value = device_value(1);
  const DataPtr result = device_value(0);
  hooks().synchronize_device(0);

  Event made(DeviceType::CUDA, true);
  EXPECT(made.query());
  {
    const StreamGuard guard(producer);
    launch_add_one(value, value);
    made.record(producer);
  }
  {
    const StreamGuard guard(consumer);
    made.wait(consumer);
    launch_add_one(value, result);
    EXPECT(value_of<int>(result) == 3);
  }
  EXPECT(made.query());
  Event later(DeviceType::CUDA, true);
  later.record(producer);
  later.synchronize();
  EXPECT(made.elapsed_time(later) >= 0);
  EXPECT(hooks().query_stream(producer));
}

void copies_between_devices() {
  const Stream source = hooks().new_stream(0, 0);
  const StreamGuard guard(source);
  const DataPtr here = device_value(1);
  const DataPtr there = device_value(0, kSecond);
  hooks().synchronize_device(1);
  launch_add_one(here, here);
  hooks().copy_bytes(there.get(), kSecond, here.get(), kFirst, sizeof(int), true);
  launch_add_one(here, here);  // must come after the copy has read it
  EXPECT(value_of<int>(there) == 2);
  EXPECT(value_of<int>(here) == 3);

  DataPtr pinned = hooks().pinned_allocator().allocate(sizeof(int));
  EXPECT(hooks().is_pinned(pinned.get()) && !hooks().is_pinned(&guard));
  auto* const number = static_cast<int*>(pinned.get());
  hooks().copy_bytes(number, kCPU, here.get(), kFirst, sizeof(int), true);
  if (runs_late()) EXPECT(*number == -1);
  hooks().synchronize_stream(source);
  EXPECT(*number == 3);
  *number = 8;
  hooks().copy_bytes(here.get(), kFirst, number, kCPU, sizeof(int), false);
  *number = 9;
  EXPECT(value_of<int>(here) == 8);
}

void check(const char* name, int index, int bound) {
  const DataPtr value = device_value(index);
  cuda::launch(name, check_index, 1, 32, 0, cuda::current_stream(), simt::Reporter{},
               static_cast<const int*>(value.get()), bound);
  hooks().record_stream(value, hooks().current_stream(0));
}

void reports_become_errors() {
  check("gather", 2, 3);
  hooks().synchronize_device(0);
  const std::string text = thrown<IndexError>([] {
    check("gather", 7, 3);
    hooks().synchronize_device(0);
  });
  EXPECT(contains(text, "index 7 is out of bounds for dimension with size 3 (argument 2 of "
                        "gather on cuda:0)"));

  // The device goes on, and the report is not raised twice.
  hooks().synchronize_device(0);
  EXPECT(value_of<int>(device_value(5)) == 5);
  EXPECT(contains(thrown<Error>([] {
                    cuda::launch("multinomial", check_number, 1, 32, 0, cuda::current_stream(),
                                 simt::Reporter{}, -0.5);
                    value_of<int>(device_value(1));
                  }),
                  "element < 0: -0.5 (argument 0 of multinomial on cuda:0"));
}

void reports_keep_their_names() {
  const DataPtr value = device_value(1);
  const DataPtr far = device_value(1, kSecond);
  const std::string text = thrown<IndexError>([&] {
    check("embedding", 7, 3);
    for (int i = 0; i < 600; ++i) launch_add_one(value, value);
    hooks().synchronize_device(0);
  });
  EXPECT(contains(text, "argument 2 of embedding on cuda:0"));

  // The default streams of all devices have the same handle.
  const std::string fault = thrown<Error>([&] {
    cuda::launch("softmax", break_down, 1, 1, 0, cuda::current_stream());
    {
      const DeviceGuard guard(kSecond);
      cuda::launch("multiply", add_one, 1, 32, 0, cuda::current_stream(),
                   static_cast<const int*>(far.get()), static_cast<int*>(far.get()), 1);
      hooks().synchronize_stream(hooks().default_stream(1));
    }
    hooks().synchronize_device(0);
  });
  EXPECT(contains(fault, "found no error: softmax."));
}

void full_mailboxes_are_raised_by_launches() {
  const DataPtr value = device_value(9);
  hooks().synchronize_device(0);
  const Stream stream = hooks().new_stream(0, 0);
  const StreamGuard guard(stream);
  const std::string text = thrown<IndexError>([&] {
    for (int i = 0; i < 10'000; ++i) {
      cuda::launch("index", check_index, 1, 32, 0, cuda::current_stream(), simt::Reporter{},
                   static_cast<const int*>(value.get()), 3);
      hooks().query_stream(stream);
    }
  });
  EXPECT(contains(text, "index 9 is out of bounds"));
}

void faults_name_suspects() {
  const DataPtr value = device_value(1);
  launch_add_one(value, value);
  hooks().synchronize_device(0);

  const std::string text = thrown<Error>([&] {
    cuda::launch("softmax", break_down, 1, 1, 0, cuda::current_stream());
    cuda::launch("sum", check_number, 1, 1, 0, cuda::current_stream(), simt::Reporter{}, 1.0);
    cuda::launch("sum", check_number, 1, 1, 0, cuda::current_stream(), simt::Reporter{}, 1.0);
    hooks().synchronize_device(0);
  });
  EXPECT(contains(text, "CUDA error: unspecified launch failure"));
  const char* const blocking = std::getenv("TORCH_PY_CUDA_BLOCKING");
  const bool waits = blocking != nullptr && *blocking == '1';
  EXPECT(contains(text, "broken on purpose"));
  // Where work runs at once, the second launch finds the error.
  const bool at_once = text.find("sum.") != std::string::npos;
  const char* const names = waits || at_once ? "found no error: softmax" : "softmax, sum (2x).";
  EXPECT(contains(text, names));
  EXPECT(waits || contains(text, "TORCH_PY_CUDA_BLOCKING=1"));
}

void graphs_replay() {
  const Stream stream = hooks().new_stream(0, 0);
  const StreamGuard guard(stream);
  const DataPtr value = device_value(0);
  const DataPtr drawn = device_value(std::pair<uint64_t, uint64_t>());
  hooks().synchronize_device(0);

  auto& generator = dynamic_cast<PhiloxGenerator&>(default_generator(kFirst));
  generator.set_seed(11);
  EXPECT(cuda::take_philox(generator, 5).first_counter() == 0);
  const std::unique_ptr<DeviceGraph> graph = hooks().new_graph(false);
  graph->begin_capture({}, CaptureMode::Global);
  EXPECT(hooks().is_capturing(stream));
  launch_add_one(value, value);
  cuda::launch("rand", draw, 1, 1, 0, cuda::current_stream(), cuda::take_philox(generator, 8),
               static_cast<uint64_t*>(drawn.get()));
  cuda::take_philox(generator, 1);
  graph->end_capture();
  EXPECT(!hooks().is_capturing(stream) && graph->pool() != MemoryPoolId{});
  EXPECT(value_of<int>(value) == 0 && generator.offset == 8);

  graph->replay();
  graph->replay();
  EXPECT(value_of<int>(value) == 2);
  EXPECT(value_of<uint64_t>(drawn, 0) == 11);
  EXPECT(value_of<uint64_t>(drawn, 1) == 8 + 12);  // each replay draws 8 and 4 numbers
  EXPECT(generator.offset == 8 + 24);
}

/// A graph may be destroyed while a replay waits in another stream than the captured one.
void replays_outlive_their_graph() {
  const Stream captured = hooks().new_stream(0, 0);
  const DataPtr drawn = device_value(std::pair<uint64_t, uint64_t>());
  hooks().synchronize_device(0);
  auto& generator = dynamic_cast<PhiloxGenerator&>(default_generator(kFirst));
  generator.set_seed(11);

  std::unique_ptr<DeviceGraph> graph = hooks().new_graph(false);
  {
    const StreamGuard guard(captured);
    graph->begin_capture({}, CaptureMode::Global);
    cuda::launch("rand", draw, 1, 1, 0, cuda::current_stream(), cuda::take_philox(generator, 8),
                 static_cast<uint64_t*>(drawn.get()));
    graph->end_capture();
  }
  const Stream other = hooks().new_stream(0, 0);
  {
    const StreamGuard guard(other);
    graph->replay();
    graph.reset();
  }

  // What the captured stream allocates and fills now may run before the replay.
  const StreamGuard guard(captured);
  std::vector<DataPtr> filled;
  for (int i = 0; i < 16; ++i) {
    filled.push_back(hooks().allocator().allocate(16, 0));
    EXPECT_OK(cudaMemsetAsync(filled.back().get(), 0x55, 16, cuda::current_stream()));
  }
  hooks().synchronize_stream(captured);
  hooks().synchronize_stream(other);
  EXPECT(value_of<uint64_t>(drawn, 0) == 11 && value_of<uint64_t>(drawn, 1) == 0);
}

void captures_that_fail() {
  const std::unique_ptr<DeviceGraph> graph = hooks().new_graph(false);
  EXPECT(contains(thrown<Error>([&] { graph->replay(); }), "without a preceding"));
  EXPECT(contains(thrown<Error>([&] { graph->begin_capture({}, CaptureMode::Global); }),
                  "non-default stream"));

  const Stream stream = hooks().new_stream(0, 0);
  const StreamGuard guard(stream);
  const DataPtr value = device_value(4);
  graph->begin_capture({}, CaptureMode::Global);
  EXPECT(contains(thrown<Error>([&] { value_of<int>(value); }), "cannot be part of it"));
  EXPECT(contains(thrown<Error>([&] { graph->end_capture(); }), "previous error during capture"));
  EXPECT(value_of<int>(value) == 4);

  // The same object can try again; one that is abandoned ends its capture.
  graph->begin_capture({}, CaptureMode::ThreadLocal);
  launch_add_one(value, value);
  graph->end_capture();
  graph->replay();
  EXPECT(value_of<int>(value) == 5);
  hooks().new_graph(false)->begin_capture({}, CaptureMode::Global);
  EXPECT(value_of<int>(value) == 5);
}

/// Whatever fails, the graph is as after reset(): nothing is captured, no generator takes part.
void failures_reset_graphs() {
  const Stream stream = hooks().new_stream(0, 0);
  const std::unique_ptr<DeviceGraph> graph = hooks().new_graph(false);
  const auto is_reset = [&] {
    EXPECT(!hooks().is_capturing(stream) && graph->native_graph() == nullptr);
    EXPECT(contains(thrown<Error>([&] { graph->pool(); }), "has no memory pool"));
    EXPECT(contains(thrown<Error>([&] { graph->replay(); }), "without a preceding"));
    EXPECT(value_of<int>(device_value(4)) == 4);
  };
  {
    const StreamGuard guard(stream);
    graph->begin_capture({}, CaptureMode::Global);
  }
  EXPECT(contains(thrown<Error>([&] { graph->end_capture(); }), "same stream"));
  is_reset();

  // CUDA refuses a second capture of the same stream.
  const StreamGuard guard(stream);
  EXPECT_OK(cudaStreamBeginCapture(cuda::current_stream(), cudaStreamCaptureModeRelaxed));
  thrown<Error>([&] { graph->begin_capture({}, CaptureMode::Relaxed); });
  cudaGraph_t other = nullptr;
  EXPECT_OK(cudaStreamEndCapture(cuda::current_stream(), &other));
  EXPECT_OK(cudaGraphDestroy(other));
  is_reset();

  const DataPtr value = device_value(1);
  graph->begin_capture({}, CaptureMode::Global);
  launch_add_one(value, value);
  graph->end_capture();
  graph->replay();
  EXPECT(value_of<int>(value) == 2);
}

void memory_is_shared() {
  DataPtr data = hooks().allocator().allocate(3 << 20, 0);
  const std::vector<int> numbers((3 << 20) / sizeof(int), 17);
  hooks().copy_bytes(data.get(), kFirst, numbers.data(), kCPU, 3 << 20, false);
  hooks().synchronize_device(0);
  const SharedBlock block = hooks().share_memory(data, 3 << 20);
  EXPECT(block.bytes == 3 << 20);

  // In the other process: one more in the last number.
  const std::string text = hexadecimal(block.handle.data(), block.handle.size());
  EXPECT(run_other("open", text, std::to_string(block.offset)) == 0);
  EXPECT(value_of<int>(data, numbers.size() - 1) == 18 && value_of<int>(data) == 17);
}

/// The other process of memory_is_shared.
int open_shared(const char* text, const char* offset) {
  SharedBlock block;
  for (size_t i = 0; text[2 * i] != '\0'; ++i)
    block.handle += static_cast<char>(std::stoi(std::string(text + 2 * i, 2), nullptr, 16));
  block.offset = std::stoull(offset);
  block.bytes = 3 << 20;

  DataPtr first = hooks().open_memory(0, block);
  const DataPtr second = hooks().open_memory(0, block);
  EXPECT(first.get() == second.get());
  first.clear();
  auto* const last = static_cast<int*>(second.get()) + block.bytes / sizeof(int) - 1;
  cuda::launch("add", add_one, 1, 32, 0, cuda::current_stream(), static_cast<const int*>(last),
               last, 1);
  EXPECT(value_of<int>(second, block.bytes / sizeof(int) - 1) == 18);
  hooks().synchronize_device(0);

  SharedBlock wrong = block;
  wrong.handle = "nonsense";
  thrown<Error>([&] { hooks().open_memory(0, wrong); });
  return 0;
}

/// Run with TORCH_PY_EMULATED_DEVICES=0.
void absence_is_explained() {
  EXPECT(hooks().device_count() == 0);
  EXPECT(!hooks().is_pinned(&kFirst));
  EXPECT(contains(thrown<Error>([] { hooks().current_device(); }), "No CUDA device can be used"));
  EXPECT(contains(thrown<Error>([] { hooks().allocator().allocate(4, 0); }),
                  "no CUDA-capable device is detected"));
}

/// Run with TORCH_PY_EMULATED_MEMORY_MIB=8.
void memory_ends() {
  const std::string text =
      thrown<OutOfMemoryError>([] { hooks().allocator().allocate(size_t{9} << 20, 0); });
  EXPECT(contains(text, "CUDA out of memory"));
  EXPECT(value_of<int>(device_value(3)) == 3);
}

constexpr Case kCases[] = {
    {"devices_and_guards", devices_and_guards},
    {"streams_of_the_pool", streams_of_the_pool},
    {"events_between_streams", events_between_streams},
    {"copies_between_devices", copies_between_devices},
    {"reports_become_errors", reports_become_errors},
    {"reports_keep_their_names", reports_keep_their_names},
    {"full_mailboxes_are_raised_by_launches", full_mailboxes_are_raised_by_launches},
    {"faults_name_suspects", faults_name_suspects},
    {"graphs_replay", graphs_replay},
    {"replays_outlive_their_graph", replays_outlive_their_graph},
    {"captures_that_fail", captures_that_fail},
    {"failures_reset_graphs", failures_reset_graphs},
    {"memory_is_shared", memory_is_shared},
    {"absence_is_explained", absence_is_explained},
    {"memory_ends", memory_ends},
};

}  // namespace

int main(int argc, char** argv) {
  cases::program = argv[0];
  if (argc == 4 && std::strcmp(argv[1], "open") == 0) return open_shared(argv[2], argv[3]);
  return cases::run(argc, argv, kCases);
}
