// Grids: checks of a launch, the order of its blocks, and the OS threads that run them.
#include "tests/emulation/grid.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/emulation/block_run.h"
#include "tests/emulation/watching.h"

namespace emulation {

namespace {

constexpr unsigned kThreadLimit = 1024;

std::mutex schedule_mutex;

Schedule schedule_of_environment() {
  Schedule result;
  if (const char* order = std::getenv("TORCH_PY_EMULATION_ORDER")) parse_order(order, result);
  if (const char* threads = std::getenv("TORCH_PY_EMULATION_THREADS"))
    result.os_threads = static_cast<unsigned>(std::max(1, std::atoi(threads)));
  return result;
}

Schedule& current_schedule() {
  static Schedule current = schedule_of_environment();
  return current;
}

/// The blocks of a grid, taken one by one by the OS threads that run it.
class Blocks {
 public:
  Blocks(const Grid& grid, const KernelCall& kernel, const Schedule& schedule);

  void run_on_this_thread() noexcept;
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  uint3 block_at(uint64_t place) const;

  const Grid& grid_;
  const KernelCall& kernel_;
  const Schedule schedule_;
  const uint64_t count_;
  const uint64_t watched_;
  std::vector<unsigned> order_;  // empty unless shuffled
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

Blocks::Blocks(const Grid& grid, const KernelCall& kernel, const Schedule& schedule)
    : grid_(grid),
      kernel_(kernel),
      schedule_(schedule),
      count_(uint64_t{grid.size.x} * grid.size.y * grid.size.z),
      watched_(blocks_to_watch(grid, count_)) {
  if (schedule.order != Order::Shuffled) return;

  Dice dice;
  dice.seed(schedule.seed);
  order_.resize(count_);
  std::iota(order_.begin(), order_.end(), 0u);
  for (uint64_t i = count_; i > 1; --i)
    std::swap(order_[i - 1], order_[dice.below(static_cast<unsigned>(i))]);
}

uint3 Blocks::block_at(uint64_t place) const {
  uint64_t linear = place;
  if (schedule_.order == Order::Descending) linear = count_ - 1 - place;
  if (schedule_.order == Order::Shuffled) linear = order_[place];

  const uint64_t row = linear / grid_.size.x;
  return {static_cast<unsigned>(linear % grid_.size.x), static_cast<unsigned>(row % grid_.size.y),
          static_cast<unsigned>(row / grid_.size.y)};
}

void Blocks::run_on_this_thread() noexcept {
  BlockRun& run = block_run();
  for (;;) {
    const uint64_t place = next_.fetch_add(1);
    if (place >= count_ || failed_) break;
    try {
      run.run(grid_, kernel_, block_at(place), schedule_, place < watched_);
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }
  run.finish_grid();
}

}  // namespace

void parse_order(const std::string& text, Schedule& schedule) {
  const size_t colon = text.find(':');
  const std::string order = text.substr(0, colon);
  schedule.seed = colon == std::string::npos ? 0 : std::stoull(text.substr(colon + 1));

  if (order == "ascending") schedule.order = Order::Ascending;
  else if (order == "descending") schedule.order = Order::Descending;
  else if (order == "shuffled") schedule.order = Order::Shuffled;
  else
    throw std::invalid_argument("the order of threads is ascending, descending or shuffled, not " +
                                order);
}

Schedule schedule() {
  const std::lock_guard lock(schedule_mutex);
  return current_schedule();
}

void set_schedule(const Schedule& schedule) {
  const std::lock_guard lock(schedule_mutex);
  current_schedule() = schedule;
}

const char* problem_with_grid(const Grid& grid) {
  const dim3 size = grid.size;
  const dim3 block = grid.block;
  if (size.x == 0 || size.y == 0 || size.z == 0) return "the grid has no blocks";
  if (block.x == 0 || block.y == 0 || block.z == 0) return "the blocks have no threads";
  if (size.x > 0x7fffffffu || size.y > 65535 || size.z > 65535)
    return "the grid has more than 2147483647 x 65535 x 65535 blocks";
  if (block.z > 64 || uint64_t{block.x} * block.y * block.z > kThreadLimit)
    return "a block has more than 1024 threads, or more than 64 along z";
  if (grid.dynamic_shared > SharedMemory::kLimit)
    return "a block has at most 227 KiB of shared memory";
  return nullptr;
}

void run_grid(const Grid& grid, const KernelCall& kernel) {
  Schedule how = schedule();
  if (kRaceMode) how.os_threads = 1;  // nothing orders blocks anyway
  Blocks blocks(grid, kernel, how);

  const uint64_t count = uint64_t{grid.size.x} * grid.size.y * grid.size.z;
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < how.os_threads && i < count; ++i)
    helpers.emplace_back([&] { blocks.run_on_this_thread(); });
  blocks.run_on_this_thread();
  for (std::thread& helper : helpers) helper.join();

  blocks.rethrow();
}

}  // namespace emulation

int torch_py_emulation_set_order(const char* text) {
  try {
    emulation::Schedule schedule = emulation::schedule();
    emulation::parse_order(text, schedule);
    emulation::set_schedule(schedule);
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}
