// The thread pool behind parallel_for.
#include "aten/parallel/Parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "c10/util/Exception.h"

namespace at {

namespace {

// Note [Threads after fork]
// libgomp's workers do not exist in a forked child, and its next parallel region would wait for
// them forever. A child of a process therefore runs everything on one thread, whatever
// set_num_threads() says.
std::atomic<bool> forked{false};

thread_local bool in_region = false;
thread_local int thread_index = 0;

int initial_threads() {
  if (const char* text = std::getenv("TORCH_PY_NUM_THREADS"); text && *text) {
    const int count = std::atoi(text);
    TORCH_CHECK_VALUE(count > 0, "TORCH_PY_NUM_THREADS: expected a positive number, got '", text,
                      "'");
    return count;
  }

#ifdef _OPENMP
  return std::max(1, omp_get_max_threads());
#else
  return 1;
#endif
}

std::atomic<int>& num_threads() {
  static std::atomic<int> count = [] {
    pthread_atfork(nullptr, nullptr, [] {
      forked = true;
#ifdef _OPENMP
      omp_set_num_threads(1);  // for libraries that share the pool
#endif
    });
    return initial_threads();
  }();
  return count;
}

/// Marks the calling thread as working inside a region, for a scope.
class RegionGuard {
 public:
  explicit RegionGuard(int index) : previous_index_(thread_index), previous_in_region_(in_region) {
    thread_index = index;
    in_region = true;
  }
  ~RegionGuard() {
    thread_index = previous_index_;
    in_region = previous_in_region_;
  }

 private:
  int previous_index_;
  bool previous_in_region_;
};

}  // namespace

int get_num_threads() {
  const int count = num_threads().load(std::memory_order_relaxed);
  return forked.load(std::memory_order_relaxed) ? 1 : count;
}

void set_num_threads(int count) {
  TORCH_CHECK(count > 0, "set_num_threads: expected a positive number of threads, got ", count);
  num_threads().store(count);
#ifdef _OPENMP
  if (!forked) omp_set_num_threads(count);
#endif
}

int get_thread_num() { return thread_index; }
bool in_parallel_region() { return in_region; }

namespace internal {

void parallel_for_threads(int64_t begin, int64_t end, int64_t grain_size, RangeFunction function) {
  const int64_t length = end - begin;
  const int64_t most = std::max<int64_t>(1, length / std::max<int64_t>(1, grain_size));
  const int threads = in_region ? 1 : static_cast<int>(std::min<int64_t>(get_num_threads(), most));

#ifdef _OPENMP
  if (threads > 1 && !omp_in_parallel()) {
    std::atomic_flag failed = ATOMIC_FLAG_INIT;
    std::exception_ptr error;
#pragma omp parallel num_threads(threads)
    {
      // The runtime may provide fewer threads than requested.
      const int64_t team = omp_get_num_threads();
      const int64_t index = omp_get_thread_num();

      // The first `rest` threads take one element more.
      const int64_t chunk = length / team;
      const int64_t rest = length % team;
      const int64_t first = begin + index * chunk + std::min(index, rest);
      const int64_t last = first + chunk + (index < rest);

      if (first < last) {
        const RegionGuard guard(static_cast<int>(index));
        try {
          function(first, last);
        } catch (...) {
          if (!failed.test_and_set()) error = std::current_exception();
        }
      }
    }

    if (error) std::rethrow_exception(error);
    return;
  }
#endif
  function(begin, end);
}

}  // namespace internal
}  // namespace at
