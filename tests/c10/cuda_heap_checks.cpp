// Single properties of the device memory policy and of the pinned pool, on a fake device; run by
// tests/c10/test_cuda_allocator.py.
#include <cstring>
#include <string>

#include "c10/cuda/allocator/Heap.h"
#include "c10/cuda/allocator/PinnedPool.h"
#include "c10/util/Exception.h"
#include "tests/c10/expect.h"
#include "tests/c10/fake_device.h"

using c10::cuda::Block;
using c10::cuda::Heap;
using c10::cuda::kGranule;

constexpr size_t kMiB = size_t{1} << 20;

/// A heap on a device of its own, and the check at its end that nothing went wrong.
struct Setup {
  explicit Setup(size_t bytes = 1024 * kMiB, bool maps = true)
      : device(1, bytes, maps), heap(3, device, device) {}
  ~Setup() {
    device.synchronize_all();
    if (device.problems() != 0) std::puts(device.first_problem);
    EXPECT(device.problems() == 0);
  }

  Block* allocate(size_t bytes, int64_t stream = 0, const char* name = "test") {
    Block* const block = heap.allocate(bytes, stream, name);
    device.use(stream, block->address, bytes);
    return block;
  }
  int64_t statistic(const std::string& name) {
    for (const auto& [known, value] : heap.statistics()) {
      if (known == name) return value;
    }
    EXPECT(!"a known statistic");
    return -1;
  }

  fake::Device device;
  Heap heap;
};

template <class Call>
static std::string error_of(Call call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.message();
  }
  return "no error";
}

static bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

static void test_size_classes() {
  using namespace c10::cuda;
  for (size_t bytes = 1; bytes < 3 * kSmallLimit; bytes += 1 + bytes / 9) {
    const size_t size = block_bytes(bytes);
    EXPECT(size >= bytes && size % 512 == 0 && size <= bytes + std::max<size_t>(511, bytes / 16));
  }
  for (int i = 1; i < kSmallClasses; ++i) {
    EXPECT(small_class_bytes(i) > small_class_bytes(i - 1));
    EXPECT(small_class(small_class_bytes(i)) == i);
    EXPECT(small_class(small_class_bytes(i - 1) + 1) == i);
  }
}

static void test_same_stream_reuses_at_once() {
  for (const size_t bytes : {size_t{100}, 600 * size_t{1024}, 5 * kMiB, 70 * kMiB}) {
    Setup setup;
    Block* const first = setup.allocate(bytes);
    const uintptr_t address = first->address;
    setup.heap.free(first);
    Block* const second = setup.allocate(bytes);
    EXPECT(second->address == address);
    setup.heap.free(second);
    EXPECT(setup.device.events() == 0);
  }
}

static void test_another_stream_waits_on_the_device() {
  for (const size_t bytes : {size_t{100}, 5 * kMiB}) {
    Setup setup;
    Block* const first = setup.allocate(bytes, 1);
    const uintptr_t address = first->address;
    setup.heap.free(first);

    // Nothing of stream 1 has run when stream 2 gets the block.
    const size_t before = setup.device.bytes_in_use();
    Block* const second = setup.allocate(bytes, 2);
    EXPECT(bytes < kMiB || second->address == address);
    EXPECT(setup.device.bytes_in_use() == before);
    setup.heap.free(second);
    EXPECT(setup.device.host_waits() == 0);
  }
}

static void test_recorded_streams() {
  Setup setup;
  Block* const block = setup.allocate(5 * kMiB, 0);
  const uintptr_t address = block->address;
  setup.device.order(0, 1);
  setup.heap.note_use(block, 1);
  setup.heap.note_use(block, 1);
  EXPECT(block->others.size() == 1);
  setup.device.use(1, address, 5 * kMiB);

  // Its own stream has to wait for the other one as well.
  setup.heap.free(block);
  EXPECT(setup.allocate(5 * kMiB, 0)->address == address);
  EXPECT(setup.device.events() > 0);
}

static void test_granules_are_moved() {
  Setup setup(64 * kMiB);
  std::vector<Block*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(setup.allocate(8 * kMiB, i % 2));

  // Four pieces of 8 MiB, none next to another, become one block of 30 MiB.
  for (size_t i = 0; i < 8; i += 2) setup.heap.free(blocks[i]);
  Block* const large = setup.allocate(30 * kMiB, 2);
  EXPECT(setup.device.bytes_in_use() == 64 * kMiB);
  EXPECT(setup.statistic("reserved_bytes.all.current") == int64_t(64 * kMiB));
  EXPECT(setup.statistic("num_ooms") == 0);

  setup.heap.free(large);
  for (size_t i = 1; i < 8; i += 2) setup.heap.free(blocks[i]);
  setup.heap.empty_cache();
  EXPECT(setup.device.bytes_in_use() == 0);
  EXPECT(setup.statistic("num_device_alloc") == 32 && setup.statistic("num_device_free") == 32);
}

static void test_a_repeated_step_maps_nothing() {
  Setup setup;
  size_t maps = 0;
  for (int step = 0; step < 5; ++step) {
    std::vector<Block*> blocks;
    for (size_t i = 1; i < 40; ++i) blocks.push_back(setup.allocate(i * 300'000));
    while (!blocks.empty()) {
      Block* const temporary = setup.allocate(blocks.back()->requested / 2);
      setup.heap.free(blocks.back());
      setup.heap.free(temporary);
      blocks.pop_back();
    }
    if (step == 1) maps = setup.device.maps();
  }
  EXPECT(setup.device.maps() == maps);
}

static void test_shortage() {
  for (const bool maps : {true, false}) {
    Setup setup(100 * kMiB, maps);
    Block* const first = setup.allocate(60 * kMiB, 0, "conv2d");
    Block* const second = setup.allocate(3 * kMiB, 0, "add");

    const std::string message = error_of([&] { setup.allocate(50 * kMiB); });
    EXPECT(contains(message, "CUDA out of memory. Tried to allocate 50.00 MiB. GPU 3 has a total "
                             "capacity of 100.00 MiB of which "));
    EXPECT(contains(message, "63.00 MiB are in use"));
    EXPECT(contains(message, "\n  60.00 MiB in 1 block: conv2d\n  3.00 MiB in 1 block: add"));
    EXPECT(setup.statistic("num_ooms") == 1);

    // The heap is as before, and cached memory of other sizes is given up for a request.
    setup.heap.free(first);
    Block* const third = setup.allocate(70 * kMiB);
    EXPECT(setup.statistic("allocated_bytes.all.current") == int64_t(73 * kMiB));
    EXPECT(maps || setup.statistic("num_alloc_retries") > 0);
    setup.heap.free(second);
    setup.heap.free(third);
  }

  Setup setup;
  EXPECT(contains(error_of([&] { setup.allocate(~size_t{0} - 5); }), "cannot provide"));
}

static void test_fraction_and_pressure() {
  Setup setup(100 * kMiB);
  setup.heap.set_fraction(0.5);
  EXPECT(setup.heap.fraction() == 0.5);
  EXPECT(contains(error_of([&] { setup.allocate(51 * kMiB); }), "50.00 MiB are allowed by"));
  EXPECT(contains(error_of([&] { setup.heap.set_fraction(1.5); }), "Invalid fraction value: 1.5"));

  Block* cache = setup.allocate(40 * kMiB);
  setup.heap.add_pressure_callback([&] {
    if (cache != nullptr) setup.heap.free(cache);
    cache = nullptr;
  });
  setup.heap.free(setup.allocate(45 * kMiB));
  EXPECT(cache == nullptr && setup.statistic("num_alloc_retries") == 1);
}

static void test_refused_mappings() {
  Setup setup;
  Block* const block = setup.allocate(8 * kMiB);
  setup.device.refuses_maps = true;
  EXPECT(contains(error_of([&] { setup.allocate(9 * kMiB); }), "CUDA out of memory"));
  setup.device.refuses_maps = false;

  setup.heap.free(block);
  setup.heap.free(setup.allocate(9 * kMiB));
  setup.heap.empty_cache();
  EXPECT(setup.device.bytes_in_use() == 0);
}

static void test_private_pools() {
  for (const bool maps : {true, false}) {
    Setup setup(1024 * kMiB, maps);
    Block* const outside = setup.allocate(6 * kMiB, 1);
    setup.heap.free(outside);
    Block* const used_before = setup.allocate(20 * kMiB, 1);
    setup.heap.free(used_before);

    // A capture of streams 1 and 2: nothing may be recorded in them.
    const auto accepts = [](int64_t stream) { return stream == 1 || stream == 2; };
    setup.heap.begin_pool({0, 7}, accepts, true);
    setup.device.capturing = {1, 2};
    Block* const kept = setup.heap.allocate(6 * kMiB, 1, "captured");
    EXPECT(kept->area->pool.id == (c10::cuda::PoolId{0, 7}));
    Block* const crossing = setup.heap.allocate(5 * kMiB, 1, "captured");
    setup.heap.note_use(crossing, 2);
    const uintptr_t address = crossing->address;
    setup.heap.free(crossing);
    Block* const other = setup.heap.allocate(5 * kMiB, 2, "captured");
    EXPECT(other->address != address);
    Block* const eager = setup.allocate(20 * kMiB, 3);
    EXPECT(!eager->area->pool.is_private());

    setup.device.capturing = {};
    setup.heap.end_pool({0, 7});
    setup.heap.free(kept);
    setup.heap.free(other);
    setup.heap.free(eager);

    // The graph keeps its addresses until the pool is released.
    setup.heap.empty_cache();
    EXPECT(setup.device.bytes_in_use() >= 12 * kMiB);
    setup.heap.release_pool({0, 7});
    setup.heap.empty_cache();
    EXPECT(setup.device.bytes_in_use() == 0);
    EXPECT(contains(error_of([&] { setup.heap.release_pool({0, 7}); }), "does not exist"));
    EXPECT(contains(error_of([&] { setup.heap.end_pool({0, 7}); }), "is not in use"));
  }
}

static void test_statistics_and_snapshot() {
  Setup setup;
  Block* const small = setup.allocate(1000, 0, "a \"quoted\" name");
  Block* const large = setup.allocate(3 * kMiB, 5);
  EXPECT(setup.statistic("allocation.small_pool.current") == 1);
  EXPECT(setup.statistic("allocated_bytes.small_pool.current") == 1024);
  EXPECT(setup.statistic("requested_bytes.small_pool.current") == 1000);
  EXPECT(setup.statistic("allocated_bytes.large_pool.current") == int64_t(3 * kMiB));
  EXPECT(setup.statistic("reserved_bytes.all.current") == int64_t(3 * kGranule));
  EXPECT(setup.statistic("inactive_split_bytes.all.current") == int64_t(kGranule - 1024 + kMiB));

  setup.heap.free(large);
  EXPECT(setup.statistic("allocated_bytes.all.peak") == int64_t(3 * kMiB + 1024));
  EXPECT(setup.statistic("inactive_split_bytes.large_pool.current") == 0);
  setup.heap.reset_peaks();
  EXPECT(setup.statistic("allocated_bytes.all.peak") == 1024);
  EXPECT(setup.statistic("allocated_bytes.all.freed") == int64_t(3 * kMiB));
  setup.heap.reset_accumulated();
  EXPECT(setup.statistic("allocated_bytes.all.freed") == 0);

  std::string json = "[";
  setup.heap.append_snapshot(json);
  EXPECT(contains(json, "\"total_size\": 2097152, \"allocated_size\": 1024"));
  EXPECT(
      contains(json, "\"size\": 1024, \"requested_size\": 1000, \"state\": \"active_allocated\""));
  EXPECT(contains(json, "\"name\": \"a \\\"quoted\\\" name\""));
  std::printf("%s]\n", json.c_str());

  const auto base = setup.heap.base_of(small->address + 700);
  EXPECT(base.granules.size() == 1 && base.bytes == kGranule && base.address == small->address);
  EXPECT(setup.heap.base_of(12345).bytes == 0);
  setup.heap.free(small);
}

static void test_destroyed_streams() {
  Setup setup;
  Block* const early = setup.allocate(5 * kMiB, 4);
  Block* const late = setup.allocate(6 * kMiB, 4);
  setup.heap.free(early);
  setup.heap.forget_stream(4);
  setup.device.synchronize_stream(4);
  setup.heap.free(late);

  setup.device.destroyed = {4};
  setup.heap.free(setup.allocate(5 * kMiB, 0));
  setup.heap.free(setup.allocate(6 * kMiB, 0));
  EXPECT(setup.device.bytes_in_use() <= 12 * kMiB);
}

/// Pinned memory from malloc, with copies that end when a test says so.
struct FakePinned final : c10::cuda::PinnedSource {
  void* allocate(size_t bytes) override {
    if (owned + bytes > limit) return nullptr;
    owned += bytes;
    char* const memory = static_cast<char*>(std::malloc(bytes));
    sizes[memory] = bytes;
    return memory;
  }
  void free(void* memory) noexcept override {
    owned -= sizes.at(memory);
    sizes.erase(memory);
    std::free(memory);
  }
  void* record(void* stream) override {
    if (stream == captured) return nullptr;
    events.push_back(std::make_unique<bool>(false));
    return events.back().get();
  }
  bool is_over(void* event) noexcept override { return *static_cast<bool*>(event); }
  void synchronize(void* event) noexcept override { *static_cast<bool*>(event) = true; }
  void give_event(void* event) noexcept override { EXPECT(*static_cast<bool*>(event)); }
  void finish() {
    for (const auto& event : events) *event = true;
  }

  size_t limit = 100 * kMiB;
  size_t owned = 0;
  void* captured = nullptr;
  std::map<void*, size_t> sizes;
  std::vector<std::unique_ptr<bool>> events;
};

static void test_pinned_blocks() {
  FakePinned source;
  c10::cuda::PinnedPool pool(source);
  int stream = 0;

  for (size_t bytes = 1; bytes < 40 * kMiB; bytes = bytes * 3 + 1) {
    auto* const block = pool.allocate(bytes);
    char* const address = block->address;
    std::memset(address, 1, bytes);
    pool.free(block);
    auto* const again = pool.allocate(bytes);
    EXPECT(again->address == address);

    // A copy that is under way keeps the block.
    EXPECT(pool.note_use(address + bytes - 1, &stream));
    pool.free(again);
    auto* const next = pool.allocate(bytes);
    EXPECT(next->address != address);
    pool.free(next);
    source.finish();
    auto* const one = pool.allocate(bytes);
    auto* const two = pool.allocate(bytes);
    EXPECT(one->address == address || two->address == address || bytes < 65536);
    pool.free(one);
    pool.free(two);
    pool.empty_cache();
    EXPECT(source.owned == 0);
  }
  EXPECT(!pool.note_use(&stream, &stream));
}

static void test_pinned_limits_and_graphs() {
  FakePinned source;
  c10::cuda::PinnedPool pool(source);
  int stream = 0;

  // Cached memory is given up before a request fails, but not before its copies are over.
  auto* const block = pool.allocate(60 * kMiB);
  pool.note_use(block->address, &stream);
  pool.free(block);
  auto* const larger = pool.allocate(80 * kMiB);
  EXPECT(contains(error_of([&] { pool.allocate(30 * kMiB); }), "pinned host memory"));

  // What a graph copies from stays as it is.
  source.captured = &stream;
  pool.note_use(larger->address, &stream);
  pool.free(larger);
  pool.empty_cache();
  EXPECT(source.owned == 80 * kMiB);

  for (const auto& [name, value] : pool.statistics()) {
    if (name == "active_bytes.peak") EXPECT(value == int64_t(80 * kMiB));
    if (name == "allocated_bytes.current") EXPECT(value == int64_t(80 * kMiB));
    if (name == "num_host_free") EXPECT(value == 1);
  }
}

int main() {
  test_size_classes();
  test_same_stream_reuses_at_once();
  test_another_stream_waits_on_the_device();
  test_recorded_streams();
  test_granules_are_moved();
  test_a_repeated_step_maps_nothing();

  test_shortage();
  test_fraction_and_pressure();
  test_refused_mappings();
  test_private_pools();
  test_statistics_and_snapshot();
  test_destroyed_streams();

  test_pinned_blocks();
  test_pinned_limits_and_graphs();

  if (failures == 0) std::puts("ok");
  return failures != 0;
}
