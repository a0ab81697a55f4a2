// Checks of at::parallel_for, run by tests/aten/test_parallel.py.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "aten/parallel/Parallel.h"
#include "c10/util/Exception.h"
#include "tests/c10/expect.h"

static void test_every_element_is_visited_once(int64_t length, int64_t grain) {
  std::vector<int> seen(static_cast<size_t>(length), 0);
  std::atomic<int> ranges{0};
  std::atomic<int> other_threads{0};

  at::parallel_for(0, length, grain, [&](int64_t begin, int64_t end) {
    ++ranges;
    other_threads += at::get_thread_num() != 0;
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

  // With a full grain for each of the 4 threads of main(), every thread gets exactly one range.
  if (length >= 4 * grain) EXPECT(ranges == at::get_num_threads() && other_threads == ranges - 1);
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
  EXPECT(!at::in_parallel_region());
}

static void test_forked_child_runs_on_one_thread() {
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
}

int main() {
  at::set_num_threads(4);
  EXPECT(at::get_num_threads() == 4);

  for (int64_t length : {0, 1, 7, 1000, 100003}) {
    for (int64_t grain : {1, 10, 5000}) test_every_element_is_visited_once(length, grain);
  }
  test_exception_reaches_the_caller();
  test_forked_child_runs_on_one_thread();

  if (failures == 0) std::puts("ok");
  return failures;
}
