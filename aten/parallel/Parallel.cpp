// The number of threads, and when a loop is worth more than one.
#include "aten/parallel/Parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "aten/parallel/LibraryThreads.h"
#include "aten/parallel/ThreadPool.h"
#include "c10/util/Exception.h"

namespace at {

namespace {

// Note [Threads after fork]
// Worker threads do not exist in a forked child, and libraries of the process would wait for theirs
// forever. A child of a process therefore runs everything on one thread, whatever set_num_threads()
// says.
std::atomic<bool> forked{false};

/// The number at the start of OMP_NUM_THREADS, which may be a list; 0 if it is not set.
int openmp_threads() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  return text == nullptr ? 0 : std::max(0, std::atoi(text));
}

int initial_threads() {
  if (const char* text = std::getenv("TORCH_PY_NUM_THREADS"); text && *text) {
    const int count = std::atoi(text);
    TORCH_CHECK_VALUE(count > 0, "TORCH_PY_NUM_THREADS: expected a positive number, got '", text,
                      "'");
    return count;
  }

  if (const int count = openmp_threads(); count > 0) return count;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::atomic<int>& num_threads() {
  static std::atomic<int> count = [] {
    pthread_atfork(nullptr, nullptr, [] {
      forked = true;
      internal::set_library_threads(1);
    });
    return initial_threads();
  }();
  return count;
}

}  // namespace

int get_num_threads() {
  const int count = num_threads().load(std::memory_order_relaxed);
  return forked.load(std::memory_order_relaxed) ? 1 : count;
}

void set_num_threads(int count) {
  TORCH_CHECK(count > 0, "set_num_threads: expected a positive number of threads, got ", count);
  num_threads().store(count);
  internal::ask_again_for_threads();
  if (!forked) internal::set_library_threads(count);
}

int get_thread_num() { return std::max(0, internal::index_in_region()); }
bool in_parallel_region() { return internal::index_in_region() >= 0; }

namespace internal {

void parallel_for_threads(int64_t begin, int64_t end, int64_t grain_size, RangeFunction function) {
  const int64_t most = (end - begin) / std::max<int64_t>(1, grain_size);
  if (most < 2 || in_parallel_region()) return function(begin, end);

  const int threads = static_cast<int>(std::min<int64_t>(get_num_threads(), most));
  if (threads < 2) return function(begin, end);
  run_on_pool(threads, begin, end, grain_size, function);
}

}  // namespace internal
}  // namespace at
