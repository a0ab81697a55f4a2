// BlockRun: which thread of a block runs next, and the end of threads and blocks.
#include "tests/emulation/block_run.h"

#include <memory>
#include <utility>

// Note [Fibers and threads]
// A fiber runs one thread after another as long as none of them waits, so a kernel without barriers
// needs one fiber and no switch. A thread that waits keeps its fiber, and another fiber goes on.
// Threads that can continue go before those that have not started: a warp that meets often needs 32
// stacks, not one for each thread of the block.
// Every thread of a watched block has a fiber of its own, made by the controller, so that the race
// detector sees as many threads as CUDA would have and nothing but barriers and meetings orders
// them. They are kept until the grid ends: the detector would give a later block's thread the
// identity of one that is gone, and take what both do for the doing of one.

// Note [Bookkeeping and the race detector]
// Every function that touches members of BlockRun does it while a HiddenFromRaceDetector lives, but
// no switch happens then: the detector counts those per fiber and refuses to end one in between.

namespace emulation {

thread_local constinit ThreadView* self = nullptr;

namespace {

// The race detector knows up to 8,000 threads.
constexpr size_t kSpentLimit = 2000;

}  // namespace

unsigned Dice::below(unsigned n) {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return static_cast<unsigned>((state_ >> 32) * n >> 32);
}

BlockRun& block_run() {
  // By pointer: what a library loaded late may have per thread is scarce.
  thread_local const auto run = std::make_unique<BlockRun>();
  return *run;
}

BlockRun::BlockRun() = default;
BlockRun::~BlockRun() = default;

// --- Threads, as their fibers run them ---

// The function of every fiber.
void run_threads(void* argument) {
  RunFiber& fiber = *static_cast<RunFiber*>(argument);
  BlockRun& run = *fiber.run;

  for (;;) {
    std::exception_ptr error;
    try {
      run.kernel_->call(run.kernel_->kernel);
      run.check_end();
    } catch (...) {
      error = std::current_exception();
    }

    Fiber* next = nullptr;
    {
      const HiddenFromRaceDetector hidden;
      if (error) run.error_ = std::exchange(error, nullptr);
      run.end_current();
      next = &run.next_fiber(false);
    }
    if (next != &fiber) run.continue_with(fiber, *next);
  }
}

void BlockRun::end_current() {
  current_->state = ThreadState::Ended;
  latest_ended_ = current_;
  idle_pauses_ = 0;
  ++ended_;
  warps_[current_->linear / 32].ended |= 1u << current_->linear % 32;

  if (!watched_) idle_.push_back(current_->fiber);
}

// The fiber to continue: of a thread that is ready, of one that starts, or the controller's if
// there is neither.
Fiber& BlockRun::next_fiber(bool fresh_first) {
  if (error_) return *controller_;

  const bool fresh = started_ < count_;
  if (ready_count_ != 0 && !(fresh && fresh_first)) {
    if (schedule_.order == Order::Shuffled) {
      const unsigned drawn = (ready_first_ + dice_.below(ready_count_)) % count_;
      std::swap(ready_[ready_first_], ready_[drawn]);
    }
    current_ = ready_[ready_first_];
    ready_first_ = ready_first_ + 1 == count_ ? 0 : ready_first_ + 1;
    --ready_count_;
  } else if (fresh) {
    current_ = &threads_[order_[started_++]];
    if (current_->fiber == nullptr) current_->fiber = &idle_fiber();
  } else {
    return *controller_;
  }

  current_->state = ThreadState::Running;
  spins_ = 0;
  self = current_;
  return *current_->fiber;
}

RunFiber& BlockRun::idle_fiber() {
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<RunFiber>());
    fibers_.back()->run = this;
    idle_.push_back(fibers_.back().get());
  }

  RunFiber& fiber = *idle_.back();
  idle_.pop_back();
  if (!fiber.started || fiber.watched != watched_) fiber.start(&run_threads, &fiber);
  fiber.started = true;
  fiber.watched = watched_;
  return fiber;
}

void BlockRun::make_ready(GridThread& thread) {
  const unsigned place = ready_first_ + ready_count_++;
  ready_[place < count_ ? place : place - count_] = &thread;
}

// Runs others until next_fiber() chooses the current thread again.
void BlockRun::leave_until_ready(bool fresh_first) {
  Fiber* mine = nullptr;
  Fiber* next = nullptr;
  {
    const HiddenFromRaceDetector hidden;
    mine = current_->fiber;
    next = &next_fiber(fresh_first);
  }
  if (next != mine) continue_with(*mine, *next);
}

void BlockRun::note_spin(const Where& where) {
  constexpr uint64_t kPatience = 30000000;
  const HiddenFromRaceDetector hidden;
  if (++spins_ > kPatience)
    fail(name(*current_) + " waits at " + where.file_name() + ":" + std::to_string(where.line()) +
         " without simt::pause()");
}

void BlockRun::pause(const Where& where) {
  constexpr uint64_t kPatience = 1000000;
  {
    const HiddenFromRaceDetector hidden;
    if (++idle_pauses_ > kPatience)
      fail(name(*current_) + " pauses at " + where.file_name() + ":" +
           std::to_string(where.line()) + " for what never comes");
    make_ready(*current_);
  }
  leave_until_ready(true);
}

// --- Blocks ---

void BlockRun::run(const Grid& grid, const KernelCall& kernel, uint3 block,
                   const Schedule& schedule, bool watched) {
  Fiber controller;
  Fiber* first = nullptr;
  {
    const HiddenFromRaceDetector hidden;
    watched_ = kRaceMode && watched;
    if (!watched_) finish_grid();
    kernel_ = &kernel;
    schedule_ = schedule;
    controller_ = &controller;
    prepare(grid, block);
    first = &next_fiber(false);
  }

  continue_with(controller, *first);

  const HiddenFromRaceDetector hidden;
  self = nullptr;
  const bool stuck = !error_ && ended_ != count_;
  if (stuck) {
    try {
      fail_deadlock();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  finish_block();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void BlockRun::prepare(const Grid& grid, uint3 block) {
  grid_ = &grid;
  view_.index = block;
  view_.grid_size = grid.size;
  const bool same_shape = view_.size.x == grid.block.x && view_.size.y == grid.block.y &&
                          view_.size.z == grid.block.z && count_ != 0;
  if (!same_shape) number_threads(grid.block);

  for (unsigned i = 0; i < count_; ++i) {
    threads_[i].fiber = nullptr;
    threads_[i].copies.clear();
  }
  marks_.reset();
  if (watched_) {
    give_fibers();
    marks_ = std::make_unique<char[]>(4 * (1 + count_));
  }
  for (unsigned w = 0; w < warps_.size(); ++w) {
    const unsigned lanes = count_ - w * 32;
    warps_[w] = {lanes >= 32 ? ~0u : (1u << lanes) - 1, 0, 0, 0};
  }

  started_ = ended_ = at_barrier_ = 0;
  ready_first_ = ready_count_ = 0;
  idle_pauses_ = 0;
  latest_ended_ = nullptr;
  uses_fences_ = false;
  shared_.begin_block(grid.dynamic_shared);
  order_threads(same_shape);
}

void BlockRun::give_fibers() {
  for (unsigned i = 0; i < count_; ++i) {
    threads_[i].fiber = &idle_fiber();
    threads_[i].fiber->set_name(name(threads_[i]).c_str());
  }
}

void BlockRun::number_threads(dim3 size) {
  view_.size = size;
  count_ = size.x * size.y * size.z;
  warps_.resize((count_ + 31) / 32);
  order_.resize(count_);
  if (threads_.size() < count_) {
    threads_.resize(count_);
    ready_.resize(count_);
  }

  for (unsigned i = 0; i < count_; ++i) {
    GridThread& thread = threads_[i];
    thread.index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    thread.linear = i;
    thread.block = &view_;
    thread.run = this;
  }
}

void BlockRun::order_threads(bool same_shape) {
  if (same_shape && order_made_ == schedule_.order && order_made_ != Order::Shuffled) return;
  order_made_ = schedule_.order;

  for (unsigned i = 0; i < count_; ++i)
    order_[i] = schedule_.order == Order::Descending ? count_ - 1 - i : i;
  if (schedule_.order != Order::Shuffled) return;

  const uint64_t linear =
      view_.index.x + uint64_t{65537} * view_.index.y + uint64_t{4295098369} * view_.index.z;
  dice_.seed(schedule_.seed * 1000003 + linear);
  shuffle_order();
}

void BlockRun::shuffle_order() {
  for (unsigned i = count_; i > 1; --i) std::swap(order_[i - 1], order_[dice_.below(i)]);
}

void BlockRun::finish_block() {
  if (watched_) {
    for (unsigned i = 0; i < count_; ++i) spent_.push_back(threads_[i].fiber);
    if (spent_.size() > kSpentLimit) finish_grid();
    return;
  }

  // Threads that still wait are abandoned with their stacks, which start() makes usable again.
  if (!error_) return;
  idle_.clear();
  for (const std::unique_ptr<RunFiber>& fiber : fibers_) {
    fiber->started = false;
    idle_.push_back(fiber.get());
  }
}

void BlockRun::finish_grid() {
  if (spent_.empty()) return;
  const HiddenFromRaceDetector hidden;
  for (RunFiber* fiber : spent_) {
    fiber->messenger.retire();
    fiber->retire();
    fiber->started = false;
    idle_.push_back(fiber);
  }
  spent_.clear();
}

// --- Faults ---

void BlockRun::fail(const std::string& text) const {
  throw KernelError(std::string("kernel ") + grid_->name + ": " + text);
}

std::string BlockRun::name(const GridThread& thread) const {
  const auto triple = [](uint3 index) {
    return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
           std::to_string(index.z) + ")";
  };
  return "thread " + triple(thread.index) + " of block " + triple(view_.index);
}

std::string BlockRun::name_and_place(const GridThread& thread) const {
  std::string text = name(thread);
  if (thread.state == ThreadState::Ended) return text + " has ended";

  return text + " is in " + thread.operation + " at " + thread.where.file_name() + ":" +
         std::to_string(thread.where.line());
}

// Nobody can go on, and not all have ended.
void BlockRun::fail_deadlock() {
  const GridThread* first = nullptr;
  const GridThread* other = nullptr;
  for (unsigned i = 0; i < count_; ++i) {
    const GridThread& thread = threads_[i];
    if (thread.state == ThreadState::Ended) continue;
    if (first == nullptr) first = &thread;
    const bool differs =
        thread.operation != first->operation || thread.where.line() != first->where.line();
    if (other == nullptr && differs) other = &thread;
  }
  if (other == nullptr) other = latest_ended_;

  std::string text = "waits for what never comes: " + name_and_place(*first);
  if (other != nullptr) text += ", while " + name_and_place(*other);
  fail(text);
}

}  // namespace emulation
