// The thread pool behind parallel_for.
#include "aten/parallel/Parallel.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "aten/core/Warning.h"
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

#ifdef _OPENMP

// Note [Threads that the system refuses]
// libgomp ends the process if it cannot create a thread: a limit on processes (ulimit -u, a
// container's), or no address space for another stack (ulimit -v). So before a thread's team grows,
// the missing threads are started by ourselves, all at once, and end again. If they can run, an
// empty region makes libgomp create its own at once, before another thread of this process may take
// their place. Otherwise the thread goes on with those that were granted, and the first time a
// warning says so. This happens once per calling thread and size.
//
// A region that is smaller than the one before ends threads of libgomp, whose place may be taken
// when a larger one needs them again. Where threads are scarce, all regions of a thread have the
// size of its largest, and the BLAS library, which chooses sizes itself, works on one thread.

thread_local int team_size = 1;           // the largest team that this thread has had
thread_local int most_granted = 1;        // when the system refused more
thread_local unsigned refused_under = 0;  // `settings` at that time; 0 for never

// Counts the calls of set_num_threads: each is a reason to ask the system again.
std::atomic<unsigned> settings{1};

/// Whether limits are so low that another thread may be refused.
std::atomic<bool>& threads_are_scarce() {
  static std::atomic<bool> scarce = [] {
    constexpr rlim_t kManyProcesses = 1024;
    constexpr rlim_t kMuchMemory = rlim_t{16} << 30;  // of addresses, for stacks and heaps
    rlimit memory = {RLIM_INFINITY, RLIM_INFINITY};
    rlimit processes = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_AS, &memory);
    getrlimit(RLIMIT_NPROC, &processes);
    return memory.rlim_cur < kMuchMemory || processes.rlim_cur < kManyProcesses;
  }();
  return scarce;
}

/// A thread that shows that it can run, and its number in the system.
struct Probe {
  pthread_t thread;
  pid_t number = 0;
  std::mutex* gate;  // locked until all probes have started

  static void* run(void* argument) {
    auto* const self = static_cast<Probe*>(argument);
    self->number = static_cast<pid_t>(syscall(SYS_gettid));
    const std::lock_guard lock(*self->gate);
    return nullptr;
  }

  /// Returns when the system does not count the thread any more, which is after pthread_join().
  void finish() const {
    constexpr int kMostWaits = 1000;
    pthread_join(thread, nullptr);
    for (int i = 0; i < kMostWaits && syscall(SYS_tgkill, getpid(), number, 0) == 0; ++i)
      sched_yield();
  }
};

/// How many of `count` threads can run in addition to those that run now.
int count_granted(int count, int& failure) {
  std::mutex gate;
  std::vector<Probe> probes(static_cast<size_t>(count));
  int started = 0;

  {
    const std::lock_guard closed(gate);
    for (; started < count; ++started) {
      Probe& probe = probes[static_cast<size_t>(started)];
      probe.gate = &gate;
      failure = pthread_create(&probe.thread, nullptr, &Probe::run, &probe);
      if (failure != 0) break;
    }
  }

  for (int i = 0; i < started; ++i) probes[static_cast<size_t>(i)].finish();
  return started;
}

void warn_of_refusal(int wanted, int granted, int failure) {
  static std::atomic_flag warned = ATOMIC_FLAG_INIT;
  if (warned.test_and_set()) return;
  warn("parallel_for: the system allows ", granted, " of ", wanted,
       " threads: ", std::strerror(failure),
       ". The limits on processes and memory (ulimit -u, ulimit -v) may be too low; "
       "set_num_threads() or TORCH_PY_NUM_THREADS asks for fewer.");
}

/// Grows this thread's team to `wanted` threads, or to as many as the system grants.
C10_NOINLINE int grow_team(int wanted) {
  const unsigned current = settings.load(std::memory_order_relaxed);
  if (refused_under == current) wanted = std::min(wanted, most_granted);
  if (wanted <= team_size) return wanted;

  int failure = 0;
  {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const int granted = count_granted(wanted - team_size, failure);
    // Where some are refused, half of the rest stays for threads whose creators do not ask first.
    team_size += failure == 0 ? granted : granted / 2;

    std::atomic<int> created{0};
#pragma omp parallel num_threads(team_size)
    created.fetch_add(1, std::memory_order_relaxed);
    team_size = created.load();
  }

  if (team_size == wanted) return wanted;

  threads_are_scarce() = true;
  most_granted = team_size;
  refused_under = current;
  warn_of_refusal(wanted, team_size, failure);
  return team_size;
}
#endif

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
  settings.fetch_add(1);
  if (!forked) omp_set_num_threads(count);
#endif
}

int get_thread_num() { return thread_index; }
bool in_parallel_region() { return in_region; }

namespace internal {

int blas_threads() {
  const int wanted = in_region ? 1 : get_num_threads();
#ifdef _OPENMP
  if (threads_are_scarce().load(std::memory_order_relaxed)) return 1;
  if (wanted > team_size && !omp_in_parallel()) grow_team(wanted);
  if (threads_are_scarce().load(std::memory_order_relaxed)) return 1;
#endif
  return wanted;
}

void parallel_for_threads(int64_t begin, int64_t end, int64_t grain_size, RangeFunction function) {
  const int64_t length = end - begin;
  const int64_t most = std::max<int64_t>(1, length / std::max<int64_t>(1, grain_size));
  const int wanted = in_region ? 1 : static_cast<int>(std::min<int64_t>(get_num_threads(), most));

#ifdef _OPENMP
  const bool is_inside = omp_in_parallel();
  const int threads = wanted > team_size && !is_inside ? grow_team(wanted) : wanted;

  if (threads > 1 && !is_inside) {
    const bool scarce = threads_are_scarce().load(std::memory_order_relaxed);
    std::atomic_flag failed = ATOMIC_FLAG_INIT;
    std::exception_ptr error;
#pragma omp parallel num_threads(scarce ? team_size : threads)
    {
      // The runtime may provide fewer threads than requested.
      const int64_t team = std::min(omp_get_num_threads(), threads);
      const int64_t index = omp_get_thread_num();

      // The first `rest` threads take one element more.
      const int64_t chunk = length / team;
      const int64_t rest = length % team;
      const int64_t first = begin + index * chunk + std::min(index, rest);
      const int64_t last = first + chunk + (index < rest);

      if (first < last && index < team) {
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
