// Checks of the caching CPU allocator, run by tests/c10/test_allocator.py: "check", "limit0"
// (caching off), "speed".
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "c10/cpu/BlockCache.h"
#include "c10/cpu/CPUAllocator.h"
#include "c10/cpu/RecentPeak.h"
#include "c10/cpu/WatchedBlocks.h"
#include "c10/util/Exception.h"
#include "tests/c10/expect.h"

using c10::DataPtr;

static DataPtr allocate(size_t bytes) { return c10::get_allocator(c10::kCPU).allocate(bytes); }

static void test_blocks() {
  for (size_t bytes = 1; bytes < (size_t{3} << 20); bytes += 1 + bytes / 7) {
    DataPtr a = allocate(bytes);
    DataPtr b = allocate(bytes);
    EXPECT(reinterpret_cast<uintptr_t>(a.get()) % c10::kCPUAlignment == 0 && a.get() != b.get());
    std::memset(a.get(), 1, bytes);
    std::memset(b.get(), 2, bytes);

    EXPECT(static_cast<char*>(a.get())[bytes - 1] == 1);
  }

  EXPECT(allocate(0).get() == nullptr && !allocate(0));
  EXPECT(c10::cpu_allocator_statistics().allocated_bytes == 0);
}

static void test_reuse() {
  for (size_t bytes : {size_t{100}, size_t{5000}, size_t{1} << 20, size_t{9} << 20}) {
    void* const first = allocate(bytes).get();
    const int64_t before = c10::cpu_allocator_statistics().system_allocations;
    EXPECT(allocate(bytes).get() == first);
    EXPECT(c10::cpu_allocator_statistics().system_allocations == before);
  }

  c10::cpu_empty_cache();
  const auto statistics = c10::cpu_allocator_statistics();
  EXPECT(statistics.reserved_bytes == 0 && statistics.cached_bytes == 0 &&
         statistics.peak_reserved_bytes >= 9 << 20);
}

constexpr int64_t kMiB = int64_t{1} << 20;

static int64_t now = 0;  // milliseconds of the clock that tests move

/// Lets time pass for a program that uses the allocator now and then.
static void pass(int64_t milliseconds) {
  for (int64_t left = milliseconds; left > 0; left -= 100) {
    now += std::min<int64_t>(left, 100);
    c10::block_cache::SharedCache::get().sweep();
  }
}

/// The allocator on a clock that stands still until a test moves it; the cache begins empty.
struct OwnClock {
  OwnClock() {
    c10::block_cache::clock_milliseconds = [] { return now; };
    now += 1'000'000;
    pass(20'000);
    c10::cpu_empty_cache();
  }
  ~OwnClock() { c10::block_cache::clock_milliseconds = original; }

  int64_t (*original)() = c10::block_cache::clock_milliseconds;
};

static int64_t reserved() { return c10::cpu_allocator_statistics().reserved_bytes; }
static int64_t cached() { return c10::cpu_allocator_statistics().cached_bytes; }

static void test_recent_peak() {
  c10::RecentPeak peak;
  peak.record(500, 7);
  peak.record(900, 3);
  EXPECT(peak.get() == 7);
  peak.record(10'400, 4);  // the 7 was in the first of eleven seconds
  EXPECT(peak.get() == 4);
  peak.record(19'999, 1);
  EXPECT(peak.get() == 4);

  // Between records the quantity keeps its value.
  peak.record(40'000, 2);
  EXPECT(peak.get() == 2);
  peak.record(60'000, 0);
  EXPECT(peak.get() == 2);
  peak.record(70'000, 0);
  EXPECT(peak.get() == 0);
}

static void test_old_blocks_go_back() {
  const OwnClock clock;
  allocate(9 << 20);
  pass(1000);
  allocate(2 << 20);  // an allocation looks, without a timer
  EXPECT(cached() == 11 * kMiB);
  now += 1;
  allocate(2 << 20);
  EXPECT(cached() == 2 * kMiB);

  // After a pause the blocks are still there.
  now += 60'000;
  allocate(2 << 20);
  EXPECT(cached() == 2 * kMiB);

  // Of equal blocks the newest is used, so that those beyond the need grow old.
  {
    DataPtr a = allocate(9 << 20);
    DataPtr b = allocate(9 << 20);
  }
  for (int i = 0; i < 12; ++i) {
    now += 100;
    allocate(9 << 20);
  }
  EXPECT(cached() == 9 * kMiB);
}

static int64_t from_system() { return c10::cpu_allocator_statistics().system_allocations; }

/// Whether a block of `mebibytes` comes from the cache; it is back there afterwards.
static bool is_cached(size_t mebibytes) {
  const int64_t before = from_system();
  allocate(mebibytes << 20);
  return from_system() == before;
}

static void test_frees_look_for_old_blocks() {
  const OwnClock clock;
  DataPtr used = allocate(2 << 20);
  allocate(9 << 20);
  pass(1000);
  now += 1;
  EXPECT(cached() == 9 * kMiB);
  used.clear();
  EXPECT(cached() == 2 * kMiB);
}

static void test_oldest_blocks_go_first() {
  const OwnClock clock;
  for (const size_t mebibytes : {10, 14, 6}) allocate(mebibytes << 20);
  EXPECT(cached() == 30 * kMiB);

  // The next one does not fit below 32 MiB with all of them.
  DataPtr used = allocate(3 << 20);
  EXPECT(reserved() == 23 * kMiB);
  used.clear();
  EXPECT(is_cached(14) && is_cached(6) && is_cached(3));

  // By the last use: the block of 14 was used before that of 6.
  used = allocate(9 << 20);
  EXPECT(reserved() == 32 * kMiB);
  DataPtr other = allocate(1 << 20 | 1);
  EXPECT(cached() == 9 * kMiB);
  EXPECT(is_cached(6) && is_cached(3));
}

static void test_blocks_that_fit() {
  const OwnClock clock;
  allocate(10 << 20);
  allocate(15 << 20);
  EXPECT(is_cached(8) && is_cached(10) && is_cached(12) && is_cached(15));
  EXPECT(cached() == 25 * kMiB);

  // A quarter more than wanted is too much; a new block is made.
  EXPECT(!is_cached(7));
  EXPECT(cached() == 32 * kMiB);
  EXPECT(is_cached(7));
}

static void test_statistics() {
  const OwnClock clock;
  const auto before = c10::cpu_allocator_statistics();
  {
    DataPtr small = allocate(1000), large = allocate(5 << 20);
    const auto during = c10::cpu_allocator_statistics();
    EXPECT(during.allocated_bytes == before.allocated_bytes + 1024 + 5 * kMiB);
    EXPECT(during.allocations == before.allocations + 2);
    EXPECT(during.system_allocations == before.system_allocations + 2);
  }
  allocate(5 << 20);

  const auto after = c10::cpu_allocator_statistics();
  EXPECT(after.allocated_bytes == before.allocated_bytes);
  EXPECT(after.cached_bytes == 1024 + 5 * kMiB);
  EXPECT(after.reserved_bytes == after.allocated_bytes + after.cached_bytes);
  EXPECT(after.peak_reserved_bytes >= after.reserved_bytes);
  EXPECT(after.allocations == before.allocations + 3);
  EXPECT(after.system_allocations == before.system_allocations + 2);
}

static void test_small_allocations_sweep() {
  const OwnClock clock;
  allocate(9 << 20);
  pass(2000);
  for (int i = 0; i < 4200; ++i) allocate(64);
  EXPECT(cached() < kMiB);
}

static void test_bound_by_recent_use() {
  const OwnClock clock;
  // Every length is new: nothing is found in the cache. At most two blocks are in use.
  for (int i = 0; i < 60; ++i) {
    DataPtr a = allocate(static_cast<size_t>((40 + 13 * i) * kMiB));
    EXPECT(reserved() <= 2 * c10::cpu_allocator_statistics().allocated_bytes);
  }

  c10::cpu_empty_cache();
  pass(20'000);
  // Below 32 MiB everything is kept.
  for (int i = 2; i < 7; ++i) allocate(static_cast<size_t>(i * kMiB));
  EXPECT(cached() == 20 * kMiB);
  for (int i = 7; i < 12; ++i) allocate(static_cast<size_t>(i * kMiB));
  EXPECT(reserved() <= 32 * kMiB && reserved() > 20 * kMiB);

  // A peak justifies a cache of its size for ten seconds, if the blocks are used.
  {
    DataPtr a = allocate(96 << 20), b = allocate(80 << 20);
  }
  EXPECT(cached() >= 176 * kMiB);
  for (int i = 0; i < 120; ++i) {
    now += 100;
    allocate(96 << 20);
    allocate(80 << 20);
  }
  EXPECT(cached() == 176 * kMiB);
  for (int i = 0; i < 120; ++i) {
    now += 100;
    for (int j = 0; j < 20; ++j) allocate(static_cast<size_t>((20 + j) * kMiB));
  }
  EXPECT(reserved() <= 2 * 40 * kMiB);
}

static void test_small_blocks_go_back() {
  const OwnClock clock;
  std::vector<DataPtr> blocks;
  for (int i = 0; i < 400; ++i) blocks.push_back(allocate(300'000));
  const int64_t used = reserved();
  blocks.clear();
  EXPECT(cached() == used);

  pass(20'000);
  allocate(2 << 20);
  pass(20'000);
  allocate(2 << 20);
  EXPECT(reserved() <= 64 * kMiB);
}

static void test_limit() {
  c10::cpu_set_cache_limit(size_t{20} << 20);
  {
    DataPtr a = allocate(12 << 20);
    DataPtr b = allocate(12 << 20);
    DataPtr c = allocate(4 << 20);
  }
  EXPECT(c10::cpu_allocator_statistics().cached_bytes <= 20 << 20);

  std::vector<DataPtr> blocks;
  for (int i = 0; i < 4000; ++i) blocks.push_back(allocate(i % 3 ? 30000 : 700));
  blocks.clear();
  // The limits of the shared cache and of the thread's.
  EXPECT(c10::cpu_allocator_statistics().cached_bytes <= (20 << 20) + (20 << 20));
  c10::cpu_set_cache_limit(size_t{1} << 30);
}

static void test_threads() {
  std::vector<std::thread> threads;
  std::vector<std::vector<DataPtr>> made(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&made, t] {
      for (int i = 0; i < 20000; ++i) {
        const size_t bytes = 1 + static_cast<size_t>(i * 7919 % 4096) * (i % 500 == 0 ? 1000 : 1);
        DataPtr block = allocate(bytes);
        static_cast<char*>(block.get())[bytes - 1] = 1;
        if (i % 50 == 0) made[t].push_back(std::move(block));
      }
    });
  }

  for (auto& thread : threads) thread.join();
  made.clear();  // frees blocks that other threads allocated
  EXPECT(c10::cpu_allocator_statistics().allocated_bytes == 0);

  c10::cpu_empty_cache();  // threads that have ended returned their blocks
  EXPECT(c10::cpu_allocator_statistics().reserved_bytes == 0);
}

static void test_fork() {
  DataPtr kept = allocate(1000);
  DataPtr large = allocate(200 << 20);
  {
    DataPtr a = allocate(50 << 20), b = allocate(70000);
  }

  const pid_t child = fork();
  EXPECT(cached() == 0);
  if (child == 0) {
    // What the parent has in use does not count as the child's use.
    for (int i = 0; i < 20; ++i) allocate(static_cast<size_t>((8 + i) * kMiB));
    EXPECT(cached() <= 56 * kMiB);
    large.clear();
    for (int i = 0; i < 20; ++i) allocate(static_cast<size_t>((8 + i) * kMiB));
    EXPECT(cached() <= 56 * kMiB);

    {
      DataPtr a = allocate(1000);
      DataPtr b = allocate(4 << 20);
    }
    kept.clear();
    std::thread([] { allocate(2000); }).join();
    std::fflush(stdout);
    _exit(failures);
  }

  int status = -1;
  waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_out_of_memory() {
  for (size_t bytes : {size_t{1} << 46, size_t{1} << 62, ~size_t{0}}) {
    bool thrown = false;
    try {
      allocate(bytes);
    } catch (const c10::OutOfMemoryError& error) {
      thrown = std::string(error.what()).find(std::to_string(bytes)) != std::string::npos;
    }
    EXPECT(thrown);
  }
  EXPECT(c10::cpu_allocator_statistics().allocated_bytes == 0);
}

static void test_data_ptr() {
  static int freed = 0;
  {
    int value = 0;
    DataPtr borrowed(&value, c10::kCPU);
    DataPtr owner(&value, &freed, [](void* counter) { ++*static_cast<int*>(counter); }, c10::kCPU);
    DataPtr moved = std::move(owner);
    EXPECT(!owner && freed == 0 && moved.get() == &value);
    moved = DataPtr();
    EXPECT(freed == 1 && !moved);
  }
  EXPECT(freed == 1);
}

static c10::Storage storage_of(size_t bytes) {
  return c10::make_intrusive<c10::StorageImpl>(allocate(bytes), bytes, &c10::cpu_allocator());
}

static void test_watched_contents() {
  static uint64_t ended = 0;
  c10::set_watch_listener([](uint64_t stamp) { ended = stamp; });

  for (size_t bytes : {size_t{4096}, size_t{100000}, size_t{9} << 20}) {
    c10::Storage storage = storage_of(bytes);
    const void* const block = storage->data.get();
    c10::contents_written(block);  // of a block that nobody watches

    // The stamp stays until the block is written.
    const c10::BlockContents first = c10::watch_contents(*storage);
    const c10::BlockContents second = c10::watch_contents(*storage);
    EXPECT(first.stamp != 0 && first.reads == 1);
    EXPECT(second.stamp == first.stamp && second.reads == 2 && c10::is_watched(first.stamp));
    c10::contents_written(block);
    EXPECT(ended == first.stamp && !c10::is_watched(first.stamp));

    const c10::BlockContents third = c10::watch_contents(*storage);
    EXPECT(third.stamp != first.stamp && third.reads == 1);

    // A block that is freed, and its memory in use again.
    storage.reset();
    EXPECT(ended == third.stamp);
    storage = storage_of(bytes);
    EXPECT(storage->data.get() == block && c10::watch_contents(*storage).reads == 1);

    // Others may write to a block whose address they know, until it is freed.
    c10::expose_contents(*storage);
    EXPECT(c10::watch_contents(*storage).stamp == 0);
    c10::contents_written(block);
    EXPECT(c10::watch_contents(*storage).stamp == 0);
    storage = storage_of(bytes + 1);
    EXPECT(c10::watch_contents(*storage).stamp != 0);
  }

  // Small blocks, and memory of others.
  EXPECT(c10::watch_contents(*storage_of(100)).stamp == 0);
  static char memory[8192];
  c10::StorageImpl borrowed(DataPtr(memory, c10::kCPU), sizeof(memory), &c10::cpu_allocator());
  EXPECT(c10::watch_contents(borrowed).stamp == 0);
  const c10::Storage shared = storage_of(8192);
  shared->allocator = nullptr;
  EXPECT(c10::watch_contents(*shared).stamp == 0);
  c10::set_watch_listener(nullptr);
}

static void measure(const char* name, size_t bytes, int repetitions) {
  allocate(bytes);
  c10::Allocator& allocator = c10::cpu_allocator();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i) allocator.allocate(bytes);
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("%s %.1f\n", name, elapsed.count() / repetitions);
}

int main(int, char** argv) {
  const std::string mode = argv[1];
  if (mode == "speed") {
    measure("small", 64, 2000000);
    measure("medium", 100000, 2000000);
    measure("large", size_t{64} << 20, 100000);
    return 0;
  }

  if (mode == "limit0") {
    {
      DataPtr a = allocate(100);
      DataPtr b = allocate(9 << 20);
    }
    EXPECT(c10::cpu_allocator_statistics().reserved_bytes == 0);
    return failures;
  }

  test_data_ptr();
  test_watched_contents();
  c10::cpu_empty_cache();
  test_blocks();
  test_reuse();
  test_recent_peak();
  test_old_blocks_go_back();
  test_frees_look_for_old_blocks();
  test_oldest_blocks_go_first();
  test_blocks_that_fit();
  test_statistics();
  test_small_allocations_sweep();
  test_bound_by_recent_use();
  test_small_blocks_go_back();
  test_limit();
  test_threads();
  test_fork();
  test_out_of_memory();

  if (failures == 0) std::puts("ok");
  return failures;
}
