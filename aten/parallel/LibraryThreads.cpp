// Teams of OpenMP threads for the BLAS library, where the system allows them.
#include "aten/parallel/LibraryThreads.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "aten/parallel/Parallel.h"

namespace at::internal {

namespace {

#ifdef _OPENMP

// Note [Threads that the system refuses]
// libgomp ends the process if it cannot create a thread: a limit on processes (ulimit -u, a
// container's), or no address space for another stack (ulimit -v). So before a thread's team grows,
// the missing threads are started by ourselves, all at once, and end again. If they can run, an
// empty region makes libgomp create its own at once, before another thread of this process may take
// their place. Otherwise the library works on one thread. This happens once per calling thread and
// size.
//
// A region that is smaller than the one before ends threads of libgomp, whose place may be taken
// when a larger one needs them again. So where threads are scarce, the library, which chooses sizes
// itself, works on one thread from the start.

thread_local int team_size = 1;           // the largest team that this thread has had
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
int count_granted(int count) {
  std::mutex gate;
  std::vector<Probe> probes(static_cast<size_t>(count));
  int started = 0;

  {
    const std::lock_guard closed(gate);
    for (; started < count; ++started) {
      Probe& probe = probes[static_cast<size_t>(started)];
      probe.gate = &gate;
      if (pthread_create(&probe.thread, nullptr, &Probe::run, &probe) != 0) break;
    }
  }

  for (int i = 0; i < started; ++i) probes[static_cast<size_t>(i)].finish();
  return started;
}

/// Grows this thread's team to `wanted` threads, if the system grants them all.
C10_NOINLINE void grow_team(int wanted) {
  const unsigned current = settings.load(std::memory_order_relaxed);
  if (wanted <= team_size || refused_under == current) return;

  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (count_granted(wanted - team_size) < wanted - team_size) {
    threads_are_scarce() = true;
    refused_under = current;
    return;
  }

  std::atomic<int> created{0};
#pragma omp parallel num_threads(wanted)
  created.fetch_add(1, std::memory_order_relaxed);
  team_size = created.load();
}
#endif

}  // namespace

int library_threads() {
  const int wanted = in_parallel_region() ? 1 : get_num_threads();
#ifdef _OPENMP
  if (threads_are_scarce().load(std::memory_order_relaxed)) return 1;
  if (wanted > team_size && !omp_in_parallel()) grow_team(wanted);
  if (threads_are_scarce().load(std::memory_order_relaxed)) return 1;
#endif
  return wanted;
}

void set_library_threads([[maybe_unused]] int count) {
#ifdef _OPENMP
  settings.fetch_add(1);
  omp_set_num_threads(count);
#endif
}

}  // namespace at::internal
