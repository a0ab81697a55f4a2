// BlockRun: runs the threads of one block after another as fibers of one OS thread.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "emulation/meeting.h"
#include "tests/emulation/fences.h"
#include "tests/emulation/fiber.h"
#include "tests/emulation/grid.h"
#include "tests/emulation/shared_memory.h"

namespace emulation {

class BlockRun;

/// A fiber of a BlockRun.
struct RunFiber : Fiber {
  BlockRun* run = nullptr;
  bool started = false;
  bool watched = false;
  Messenger messenger;
};

enum class ThreadState : uint8_t { Unstarted, Running, AtBarrier, AtMeeting, Ended };

/// A copy into shared memory that was started and not waited for.
struct DeferredCopy {
  void* to;
  const void* from;
  unsigned size;
  unsigned group;
};

/// A thread of the block with what it waits for.
struct GridThread : ThreadView {
  BlockRun* run = nullptr;
  ThreadState state = ThreadState::Unstarted;
  RunFiber* fiber = nullptr;

  const char* operation = "";  // the barrier's or the meeting's
  Where where;
  bool vote = false;               // at a barrier
  LaneRequest* request = nullptr;  // at a meeting

  std::vector<DeferredCopy> copies;
  unsigned copy_group = 0;

  unsigned meetings = 0;  // passed whose lowest lane this is
};

/// Numbers that depend on the seed only.
class Dice {
 public:
  void seed(uint64_t seed) { state_ = seed * 0x9e3779b97f4a7c15u + 0xd1b54a32d192ed03u; }
  /// From 0 to n - 1.
  unsigned below(unsigned n);

 private:
  uint64_t state_ = 1;
};

/// One per OS thread. Its fibers, stacks and tables are used again for every block.
class BlockRun {
 public:
  BlockRun();
  ~BlockRun();
  BlockRun(const BlockRun&) = delete;
  BlockRun& operator=(const BlockRun&) = delete;

  /// Throws KernelError, or whatever the kernel threw. In race mode, `watched` says whether to look
  /// for races: see Note [Watched blocks].
  void run(const Grid& grid, const KernelCall& kernel, uint3 block, const Schedule& schedule,
           bool watched);
  /// Orders, for the race detector, what the blocks did before what the caller does next.
  void finish_grid();

  // For the thread that runs.
  GridThread& current() { return *current_; }
  SharedMemory& shared() { return shared_; }
  const Grid& grid() const { return *grid_; }
  unsigned meet_block(const char* operation, bool vote, const Where& where);
  void meet_lanes(LaneRequest& request, bool orders_memory);
  void pause(const Where& where);
  void note_spin(const Where& where);
  bool is_watched() const { return watched_; }
  bool& uses_fences() { return uses_fences_; }
  void* controller_race_context() const { return controller_->race_context(); }
  [[noreturn]] void fail(const std::string& text) const;

  /// "thread (1,0,0) of block (2,0,0)"
  std::string name(const GridThread& thread) const;
  /// The same with the place where the thread waits.
  std::string name_and_place(const GridThread& thread) const;

 private:
  friend void run_threads(void* fiber);

  void prepare(const Grid& grid, uint3 block);
  void give_fibers();
  void number_threads(dim3 size);
  void order_threads(bool same_shape);
  void shuffle_order();
  void finish_block();
  [[noreturn]] void fail_deadlock();

  void end_current();
  Fiber& next_fiber(bool fresh_first);
  RunFiber& idle_fiber();
  void leave_until_ready(bool fresh_first);
  void continue_with(Fiber& own, Fiber& next) { own.switch_to(next, !watched_); }

  void make_ready(GridThread& thread);
  char* mark(unsigned place, unsigned meetings);

  void arrive(ThreadState state, const char* operation, const Where& where);
  void check_barrier(const char* operation, const Where& where) const;
  void complete_barrier();
  void check_meeting(const LaneRequest& request) const;
  void check_against(const LaneRequest& request, const GridThread& other) const;
  void join_meeting(LaneRequest& request);
  void exchange_data(unsigned mask);
  void complete_meeting(unsigned mask);
  void check_end() const;
  GridThread& lane(unsigned index) { return threads_[current_->linear / 32 * 32 + index]; }
  const GridThread& lane(unsigned index) const {
    return threads_[current_->linear / 32 * 32 + index];
  }

  // Of the launch.
  const Grid* grid_ = nullptr;
  const KernelCall* kernel_ = nullptr;
  Schedule schedule_;

  // Of the block.
  BlockView view_{};
  std::vector<GridThread> threads_;
  unsigned count_ = 0;
  std::vector<unsigned> order_;  // in which threads start and leave barriers
  Order order_made_ = Order::Ascending;
  bool watched_ = false;      // for races
  bool uses_fences_ = false;  // or atomics; known in race mode only
  unsigned started_ = 0;
  unsigned ended_ = 0;
  unsigned at_barrier_ = 0;
  GridThread* first_at_barrier_ = nullptr;
  unsigned votes_ = 0;     // of the barrier that was passed last
  unsigned barriers_ = 0;  // passed so far
  GridThread* latest_ended_ = nullptr;
  uint64_t idle_pauses_ = 0;  // since a thread did anything else
  uint64_t spins_ = 0;        // reads that may wait, since the thread began to run
  std::exception_ptr error_;
  SharedMemory shared_;

  // Addresses by which the race detector orders meetings: four for barriers, then four for the
  // meetings of each thread as lowest lane. New ones for every block, or they would order blocks.
  std::unique_ptr<char[]> marks_;

  Dice dice_;

  struct Warp {
    unsigned present;  // lanes that the block has
    unsigned ended;
    unsigned meeting;  // that wait for others
    unsigned mask;     // of the lanes that wait; 0 if they wait with different ones
  };
  std::vector<Warp> warps_;

  // Threads that can go on: a ring of count_ places.
  std::vector<GridThread*> ready_;
  unsigned ready_first_ = 0;
  unsigned ready_count_ = 0;

  GridThread* current_ = nullptr;
  Fiber* controller_ = nullptr;  // the OS thread's own stack, in run()
  std::vector<std::unique_ptr<RunFiber>> fibers_;
  std::vector<RunFiber*> idle_;
  std::vector<RunFiber*> spent_;  // of threads that ran in earlier, watched blocks
};

/// Of the calling OS thread.
BlockRun& block_run();

/// The same from inside a kernel, faster.
inline BlockRun& running_block() { return *static_cast<GridThread*>(self)->run; }

}  // namespace emulation
