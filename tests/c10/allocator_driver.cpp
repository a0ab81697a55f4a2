// Checks of the caching CPU allocator, run by tests/c10/test_allocator.py: "check", "limit0"
// (caching off), "speed".
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "c10/cpu/CPUAllocator.h"
#include "c10/util/Exception.h"

static int failures = 0;
#define EXPECT(condition)                                         \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                 \
    }                                                             \
  } while (0)

using c10::DataPtr;

static DataPtr allocate(size_t bytes) {
  return c10::get_allocator(c10::DeviceType::CPU).allocate(bytes);
}

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
  const pid_t child = fork();
  if (child == 0) {
    {
      DataPtr a = allocate(1000);
      DataPtr b = allocate(4 << 20);
    }
    kept.clear();
    std::thread([] { allocate(2000); }).join();
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
  test_blocks();
  test_reuse();
  test_limit();
  test_threads();
  test_fork();
  test_out_of_memory();

  if (failures == 0) std::puts("ok");
  return failures;
}
