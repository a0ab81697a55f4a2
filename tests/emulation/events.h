// Emulated events: points in the work of streams.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "tests/emulation/graphs.h"

namespace emulation {

/// How often an interprocess event was recorded, and how often that point was reached.
struct SharedCounters {
  std::atomic<uint64_t> recorded;
  std::atomic<uint64_t> reached;
};

bool is_event(cudaEvent_t event);
cudaEvent_t add_event(int device, unsigned int flags);

/// Gives an event counters that other processes can open; false where the system refuses.
bool share_counters(cudaEvent_t event);

}  // namespace emulation

struct CUevent_st {
  int device = 0;
  unsigned int flags = 0;
  emulation::MarkPtr mark;                              // of the last record; null before the first
  std::shared_ptr<emulation::Capture> capture;          // where the last record belongs to a graph
  std::vector<size_t> nodes;                            // of that graph: what a wait follows
  std::shared_ptr<emulation::SharedCounters> counters;  // null unless interprocess
  int file = -1;                                        // with the counters
};
