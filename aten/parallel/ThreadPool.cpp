// Worker threads that take ranges of parallel loops.
#include "aten/parallel/ThreadPool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <mutex>
#include <thread>

#include "aten/core/Warning.h"
#include "aten/parallel/Region.h"

namespace at::internal {

namespace {

// How long an idle thread spins before it sleeps: longer than the serial code between two loops
// usually takes, and short enough that other programs do not notice.
constexpr std::chrono::microseconds kSpinTime{20};

// Address space to keep free for the rest of the program after a thread could not be started, and
// how long to wait for ended threads to return it.
constexpr size_t kMemoryForOthers = size_t{64} << 20;
constexpr std::chrono::milliseconds kLongestRelease{100};

thread_local int region_index = -1;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until kMemoryForOthers bytes of addresses can be reserved, which is after threads have
/// ended, for at most kLongestRelease.
void wait_for_memory() {
  constexpr std::chrono::milliseconds kStep{1};
  for (auto waited = kStep; waited < kLongestRelease; waited += kStep) {
    void* const found =
        mmap(nullptr, kMemoryForOthers, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found != MAP_FAILED) {
      munmap(found, kMemoryForOthers);
      return;
    }
    std::this_thread::sleep_for(kStep);
  }
}

/// Whether another thread can run while this one spins.
bool has_other_processors() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  return sched_getaffinity(0, sizeof(processors), &processors) != 0 || CPU_COUNT(&processors) > 1;
}

/// Spins until `condition` holds, for kSpinTime at most. Returns whether it holds.
template <class Condition>
bool spin_until(const Condition& condition) {
  thread_local const bool may_spin = has_other_processors();
  if (!may_spin) return condition();

  constexpr int kPausesBetweenClocks = 32;
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPausesBetweenClocks; ++i) {
      if (condition()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

/// A counter whose changes threads wait for, first spinning, then asleep.
class Signal {
 public:
  static constexpr int kEverybody = std::numeric_limits<int>::max();

  int count() const { return count_.load(std::memory_order_acquire); }

  /// Counts up, and wakes `wanted` of the threads that sleep.
  void give(int wanted) {
    count_.fetch_add(1);
    for (int i = std::min(wanted, sleepers_.load()); i > 0; --i) count_.notify_one();
  }

  /// Returns some time after the count has left `seen`.
  void wait(int seen) {
    if (spin_until([&] { return count() != seen; })) return;

    sleepers_.fetch_add(1);
    count_.wait(seen);
    sleepers_.fetch_sub(1);
  }

 private:
  std::atomic<int> count_{0};  // of the type that the system can wait for; it may wrap around
  std::atomic<int> sleepers_{0};
};

/// The workers of the process. They sleep while there is nothing to do, and end with the process.
class Pool {
 public:
  void run(Region& region) {
    hire(region.most_threads() - 1);
    publish(region);
    {
      const RegionGuard guard(0);
      region.work(0);
    }
    withdraw(region);

    // Only threads that work on a range right now are waited for.
    while (region.inside.load(std::memory_order_acquire) > 0) {
      const int seen = left_.count();
      if (region.inside.load(std::memory_order_acquire) > 0) left_.wait(seen);
    }
  }

  void forget_refusal() { refused_.store(false, std::memory_order_relaxed); }

 private:
  void publish(Region& region) {
    {
      const std::lock_guard lock(mutex_);
      region.next = regions_;
      regions_ = &region;
    }
    published_.give(region.most_threads() - 1);
  }

  void withdraw(Region& region) {
    const std::lock_guard lock(mutex_);
    for (Region** place = &regions_; *place != nullptr; place = &(*place)->next) {
      if (*place != &region) continue;
      *place = region.next;
      return;
    }
  }

  /// A region that wants another thread, and the index of that thread; null if no region does.
  Region* join(int& index) {
    const std::lock_guard lock(mutex_);
    for (Region* region = regions_; region != nullptr; region = region->next) {
      if (region->joined == region->most_threads() || !region->has_work()) continue;
      index = region->joined++;
      region->inside.fetch_add(1);
      return region;
    }
    return nullptr;
  }

  void leave(Region& region) {
    // The region may be gone as soon as the count is down.
    region.inside.fetch_sub(1, std::memory_order_release);
    left_.give(Signal::kEverybody);
  }

  /// The life of a worker.
  void serve() {
    while (!is_dismissed()) {
      const int seen = published_.count();
      int index = 0;
      Region* const region = join(index);
      if (region == nullptr) {
        published_.wait(seen);
        continue;
      }

      const RegionGuard guard(index);
      region->work(index);
      leave(*region);
    }
  }

  /// Lets the pool grow to `count` workers, or to fewer if the system refuses some.
  void hire(int count) {
    if (count <= workers_.load(std::memory_order_relaxed)) return;
    if (refused_.load(std::memory_order_relaxed)) return;

    const int failure = start_workers(count);
    // Without a lock: a warning may run Python code.
    if (failure != 0) warn_of_refusal(count + 1, failure);
  }

  /// The error of the first worker that could not be started; 0 if all run.
  int start_workers(int count) {
    const std::lock_guard lock(hiring_);
    while (workers_.load(std::memory_order_relaxed) < count) {
      const int failure = start_worker();
      if (failure == 0) continue;

      refused_.store(true, std::memory_order_relaxed);
      release_half();
      return failure;
    }
    return 0;
  }

  /// Ends half of the workers, so that the BLAS library and others can start threads of their own.
  void release_half() {
    const int kept = workers_.load(std::memory_order_relaxed) / 2;
    const int dismissed = workers_.exchange(kept, std::memory_order_relaxed) - kept;
    dismissals_.fetch_add(dismissed);
    published_.give(Signal::kEverybody);
    wait_for_memory();
  }

  /// Whether this worker is one of those that release_half() ends.
  bool is_dismissed() {
    int count = dismissals_.load(std::memory_order_relaxed);
    while (count > 0) {
      if (dismissals_.compare_exchange_weak(count, count - 1)) return true;
    }
    return false;
  }

  int start_worker() {
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);

    pthread_t thread;
    auto serve = [](void* pool) -> void* {
      static_cast<Pool*>(pool)->serve();
      return nullptr;
    };
    const int failure = pthread_create(&thread, nullptr, serve, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (failure != 0) return failure;

    pthread_setname_np(thread, "torch_py worker");
    pthread_detach(thread);
    workers_.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }

  void warn_of_refusal(int wanted, int failure) const {
    static std::atomic_flag warned = ATOMIC_FLAG_INIT;
    if (warned.test_and_set()) return;
    warn("parallel_for: the system allows ", workers_.load() + 1, " of ", wanted,
         " threads: ", std::strerror(failure),
         ". The limits on processes and memory (ulimit -u, ulimit -v) may be too low; "
         "set_num_threads() or TORCH_PY_NUM_THREADS asks for fewer.");
  }

  std::mutex mutex_;           // for regions_ and the parts of regions that they say
  Region* regions_ = nullptr;  // those that may still give work away, the latest first
  Signal published_;           // another region wants workers
  Signal left_;                // a worker has left a region
  std::mutex hiring_;          // one thread starts workers at a time
  std::atomic<int> workers_{0};
  std::atomic<int> dismissals_{0};  // workers that still have to end
  std::atomic<bool> refused_{false};
};

/// Never destroyed: workers may still look at it while the process ends.
Pool& pool() {
  static Pool* const pool = new Pool;
  return *pool;
}

}  // namespace

void run_on_pool(int threads, int64_t begin, int64_t end, int64_t grain_size,
                 RangeFunction function) {
  Region region(threads, begin, end, grain_size, function);
  pool().run(region);
  region.rethrow();
}

int index_in_region() { return region_index; }
void ask_again_for_threads() { pool().forget_refusal(); }

RegionGuard::RegionGuard(int index) : previous_(region_index) { region_index = index; }
RegionGuard::~RegionGuard() { region_index = previous_; }

}  // namespace at::internal
