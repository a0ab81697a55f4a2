// Barriers and meetings of lanes: who must come, who may not, and what they exchange.
#include <bit>
#include <cstdio>
#include <cstring>

#include "tests/emulation/block_run.h"

namespace emulation {

namespace {

bool same_place(const Where& a, const Where& b) {
  const bool same_position = a.line() == b.line() && a.column() == b.column();
  const bool same_file =
      a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0;
  return same_position && same_file;
}

std::string place(const Where& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

std::string in_hex(unsigned mask) {
  char text[16];
  snprintf(text, sizeof(text), "0x%08x", mask);
  return text;
}

template <class F>
void for_lanes(unsigned mask, F f) {
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) f(std::countr_zero(rest));
}

// Two bytes after the mark by which threads meet is the one of their messengers.
void release_meeting(char* mark) {
  if (mark == nullptr) return;
  release_to(mark);
  pass_on_fences(mark + 2);
}

void acquire_meeting(char* mark) {
  if (mark == nullptr) return;
  acquire_from(mark);
  take_fences(mark + 2);
}

}  // namespace

void BlockRun::arrive(ThreadState state, const char* operation, const Where& where) {
  current_->state = state;
  current_->operation = operation;
  current_->where = where;
  idle_pauses_ = 0;
}

// Two in turn: while some threads leave a meeting, others may be at the next one already.
char* BlockRun::mark(unsigned place, unsigned meetings) {
  return marks_ == nullptr ? nullptr : &marks_[4 * place + meetings % 2];
}

// --- Barriers of the block ---

unsigned BlockRun::meet_block(const char* operation, bool vote, const Where& where) {
  char* own_mark = nullptr;
  {
    const HiddenFromRaceDetector hidden;
    check_barrier(operation, where);
    arrive(ThreadState::AtBarrier, operation, where);
    current_->vote = vote;
    if (at_barrier_++ == 0) first_at_barrier_ = current_;
    own_mark = mark(0, barriers_);
  }
  release_meeting(own_mark);
  {
    const HiddenFromRaceDetector hidden;
    if (at_barrier_ == count_) complete_barrier();
  }

  leave_until_ready(false);
  acquire_meeting(own_mark);

  const HiddenFromRaceDetector hidden;
  return votes_;
}

void BlockRun::check_barrier(const char* operation, const Where& where) const {
  if (ended_ != 0)
    fail(name(*current_) + " waits in " + operation + " at " + place(where) + " for " +
         name_and_place(*latest_ended_));
  if (at_barrier_ == 0) return;

  const GridThread& first = *first_at_barrier_;
  if (first.operation != operation || !same_place(first.where, where))
    fail("different barriers: " + name(*current_) + " is in " + operation + " at " + place(where) +
         ", while " + name_and_place(first));
}

void BlockRun::complete_barrier() {
  votes_ = 0;
  for (unsigned i = 0; i < count_; ++i) votes_ += threads_[i].vote;

  ++barriers_;
  at_barrier_ = 0;
  if (schedule_.order == Order::Shuffled) shuffle_order();
  for (unsigned i = 0; i < count_; ++i) make_ready(threads_[order_[i]]);
}

// --- Meetings of lanes ---

void BlockRun::meet_lanes(LaneRequest& request, bool orders_memory) {
  char* own_mark = nullptr;
  {
    const HiddenFromRaceDetector hidden;
    check_meeting(request);
    arrive(ThreadState::AtMeeting, request.operation, request.where);
    join_meeting(request);

    const GridThread& lowest = lane(std::countr_zero(request.mask));
    own_mark = mark(1 + lowest.linear, lowest.meetings);
  }
  if (orders_memory) release_meeting(own_mark);
  {
    const HiddenFromRaceDetector hidden;
    const bool complete = (warps_[current_->linear / 32].meeting & request.mask) == request.mask;
    if (complete) complete_meeting(request.mask);
  }

  leave_until_ready(false);
  if (orders_memory) acquire_meeting(own_mark);
}

void BlockRun::check_meeting(const LaneRequest& request) const {
  const Warp& warp = warps_[current_->linear / 32];
  const unsigned own = current_->linear % 32;
  const auto refuse = [&](const std::string& why) {
    fail(name(*current_) + " calls " + request.operation + " at " + place(request.where) +
         " with mask " + in_hex(request.mask) + ", " + why);
  };

  if ((request.mask >> own & 1) == 0)
    refuse("which does not name its own lane " + std::to_string(own));
  if (const unsigned absent = request.mask & ~warp.present)
    refuse("which names lane " + std::to_string(std::countr_zero(absent)) +
           "; the block has no such thread");
  if (const unsigned ended = request.mask & warp.ended)
    refuse("but " + name_and_place(lane(std::countr_zero(ended))));
  if (request.source >= 0 && (request.mask >> request.source & 1) == 0)
    refuse("and reads from lane " + std::to_string(request.source) +
           ", which the mask does not name");

  // Lanes that wait with the same mask agree with each other, so one of them is enough.
  if (warp.meeting == 0) return;
  if (warp.mask == request.mask) check_against(request, lane(std::countr_zero(warp.meeting)));
  else for_lanes(warp.meeting, [&](unsigned index) { check_against(request, lane(index)); });
}

void BlockRun::join_meeting(LaneRequest& request) {
  Warp& warp = warps_[current_->linear / 32];
  if (warp.meeting == 0) warp.mask = request.mask;
  else if (warp.mask != request.mask) warp.mask = 0;

  warp.meeting |= 1u << current_->linear % 32;
  current_->request = &request;
}

// Compares with a lane that waits already.
void BlockRun::check_against(const LaneRequest& request, const GridThread& other) const {
  const bool named = request.mask >> other.linear % 32 & 1;
  const bool names_us = other.request->mask >> current_->linear % 32 & 1;
  if (!named && !names_us) return;

  const auto refuse = [&](const char* what) {
    fail(std::string(what) + ": " + name(*current_) + " is in " + request.operation + " at " +
         place(request.where) + " with mask " + in_hex(request.mask) + ", while " +
         name_and_place(other) + " with mask " + in_hex(other.request->mask));
  };
  if (other.request->mask != request.mask) refuse("different masks");
  if (other.request->operation != request.operation ||
      !same_place(other.request->where, request.where))
    refuse("different calls");
  if (other.request->size != request.size) refuse("different types");
}

// Shuffles and votes.
void BlockRun::exchange_data(unsigned mask) {
  unsigned char given[32][16];
  unsigned votes = 0;
  for_lanes(mask, [&](unsigned index) {
    const LaneRequest& request = *lane(index).request;
    std::memcpy(given[index], request.data, sizeof(request.data));
    votes |= static_cast<unsigned>(request.vote) << index;
  });

  for_lanes(mask, [&](unsigned index) {
    LaneRequest& request = *lane(index).request;
    const unsigned source = request.source < 0 ? index : static_cast<unsigned>(request.source);
    std::memcpy(request.data, given[source], sizeof(request.data));
    request.votes = votes;
  });
}

void BlockRun::complete_meeting(unsigned mask) {
  const LaneRequest& any = *current_->request;
  if (any.exchange != nullptr) {
    void* payloads[32];
    for_lanes(mask, [&](unsigned index) { payloads[index] = lane(index).request->payload; });
    any.exchange(payloads);
  } else {
    exchange_data(mask);
  }

  ++lane(std::countr_zero(mask)).meetings;
  warps_[current_->linear / 32].meeting &= ~mask;
  if (schedule_.order == Order::Descending) {
    for (int index = 31; index >= 0; --index)
      if (mask >> index & 1) make_ready(lane(static_cast<unsigned>(index)));
  } else {
    for_lanes(mask, [&](unsigned index) { make_ready(lane(index)); });
  }
}

// --- Ends ---

// A thread that ends leaves nobody behind who waits for it.
void BlockRun::check_end() const {
  const HiddenFromRaceDetector hidden;
  if (at_barrier_ != 0)
    fail(name_and_place(*first_at_barrier_) + ", while " + name(*current_) + " has ended");

  for_lanes(warps_[current_->linear / 32].meeting, [&](unsigned index) {
    const GridThread& other = lane(index);
    if (other.request->mask >> current_->linear % 32 & 1)
      fail(name_and_place(other) + " with mask " + in_hex(other.request->mask) + ", while " +
           name(*current_) + " has ended");
  });
}

// --- What kernels call ---

unsigned meet_block(const char* operation, bool vote, const Where& where) {
  return running_block().meet_block(operation, vote, where);
}

void meet_lanes(LaneRequest& request) { running_block().meet_lanes(request, false); }

void synchronize_lanes(unsigned mask, const Where& where) {
  LaneRequest request{"sync_warp", where, mask};
  running_block().meet_lanes(request, true);
}

void pause(const Where& where) { running_block().pause(where); }

void note_spin(const Where& where) { running_block().note_spin(where); }

}  // namespace emulation
