// Checks of at::parallel_for, run by tests/aten/test_parallel.py.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "aten/parallel/Parallel.h"
#include "c10/util/Exception.h"
#include "tests/c10/expect.h"

static void test_every_element_is_visited_once(int64_t length, int64_t grain) {
  std::vector<int> seen(static_cast<size_t>(length), 0);
  std::atomic<int> ranges{0};

  at::parallel_for(0, length, grain, [&](int64_t begin, int64_t end) {
    ++ranges;
    EXPECT(at::get_thread_num() < at::get_num_threads());
    for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
    // A nested loop is not split again.
    if (at::in_parallel_region()) {
      at::parallel_for(begin, end, 1, [&](int64_t inner_begin, int64_t inner_end) {
        EXPECT(inner_begin == begin && inner_end == end);
      });
    }
  });

  for (int count : seen) EXPECT(count == 1);
  EXPECT(!at::in_parallel_region() && at::get_thread_num() == 0);

  // Ranges have at least a grain each, and at most four are made for each of the 4 threads of
  // main().
  EXPECT(ranges <= std::max<int64_t>(1, std::min<int64_t>(16, length / grain)));
}

/// Other threads take part, if the system gives them time within a second.
static void test_other_threads_help() {
  std::atomic<bool> helped{false};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);

  while (!helped && std::chrono::steady_clock::now() < end) {
    at::parallel_for(0, 16, 1, [&](int64_t, int64_t) {
      if (at::get_thread_num() != 0) helped = true;
      usleep(100);
    });
  }
  EXPECT(helped);
}

/// Waits for `condition`, for ten seconds at most.
template <class Condition>
static bool wait_until(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    usleep(100);
  }
  return true;
}

/// A thread that makes no progress costs the range that it has begun: the other takes the rest.
static void test_a_stuck_thread_holds_up_one_range() {
  at::set_num_threads(2);
  for (const int stuck : {0, 1}) {
    std::atomic<int> ranges{0}, done{0};
    std::atomic<bool> holds{false};
    at::parallel_for(0, 8, 1, [&](int64_t, int64_t) {
      ++ranges;
      if (at::get_thread_num() == stuck && !holds.exchange(true))
        EXPECT(wait_until([&] { return done == 7; }));
      ++done;
    });
    EXPECT(ranges == 8 && done == 8);
  }
  at::set_num_threads(4);
}

/// Workers without work use no processor.
static void test_idle_threads_sleep() {
  at::parallel_for(0, 16, 1, [](int64_t, int64_t) { usleep(100); });
  const std::clock_t before = std::clock();
  usleep(300'000);
  EXPECT(std::clock() - before < CLOCKS_PER_SEC / 20);
}

/// Threads of one region have different numbers, which index scratch memory.
static void test_numbers_are_different() {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> inside[4] = {};
    at::parallel_for(0, 64, 1, [&](int64_t, int64_t) {
      std::atomic<int>& mine = inside[at::get_thread_num()];
      EXPECT(++mine == 1);
      sched_yield();
      --mine;
    });
  }
}

static void test_several_threads_ask_at_once() {
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        at::parallel_for(0, 100, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
      }
    });
  }

  for (std::thread& thread : threads) thread.join();
  EXPECT(sum == 4 * 500 * 100);
}

static void test_the_number_of_threads_changes_while_loops_run() {
  std::atomic<bool> done{false};
  std::thread other([&] {
    for (int count = 1; !done; count = count % 4 + 1) at::set_num_threads(count);
  });

  for (int round = 0; round < 500; ++round) {
    std::atomic<int64_t> sum{0};
    at::parallel_for(0, 100, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    EXPECT(sum == 100);
  }
  done = true;
  other.join();
  at::set_num_threads(4);
}

static void test_exception_reaches_the_caller() {
  std::string message;
  try {
    at::parallel_for(0, 100, 1,
                     [](int64_t begin, int64_t) { TORCH_CHECK_INDEX(false, "range at ", begin); });
  } catch (const c10::IndexError& error) {
    message = error.what();
  }
  EXPECT(message.find("range at ") == 0);

  // The pool is as good as before.
  std::atomic<int64_t> sum{0};
  at::parallel_for(0, 100, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT(sum == 100);
  EXPECT(!at::in_parallel_region());
}

static void test_forked_child_runs_on_one_thread() {
  // Also while another thread of the parent is in a loop.
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) at::parallel_for(0, 100, 1, [](int64_t, int64_t) {});
  });

  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends a child that hangs
    int64_t sum = 0;
    at::parallel_for(0, 1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    _exit(sum == 1000 && at::get_num_threads() == 1 ? 0 : 1);
  }

  int status = -1;
  waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);

  done = true;
  other.join();
}

int main() {
  at::set_num_threads(4);
  EXPECT(at::get_num_threads() == 4);

  for (int64_t length : {0, 1, 7, 1000, 100003}) {
    for (int64_t grain : {1, 10, 5000}) test_every_element_is_visited_once(length, grain);
  }
  test_other_threads_help();
  test_a_stuck_thread_holds_up_one_range();
  test_idle_threads_sleep();
  test_numbers_are_different();
  test_several_threads_ask_at_once();
  test_the_number_of_threads_changes_while_loops_run();
  test_exception_reaches_the_caller();
  test_forked_child_runs_on_one_thread();

  if (failures == 0) std::puts("ok");
  return failures;
}
