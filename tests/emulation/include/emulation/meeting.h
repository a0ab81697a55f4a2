// What threads of a block do together: barriers, lanes that meet, shared memory, pauses.
#pragma once

#include <cstring>
#include <type_traits>

#include "emulation/device.h"

namespace emulation {

/// Waits until every thread of the block waits at the same place. Returns in how many of them
/// `vote` held.
unsigned meet_block(const char* operation, bool vote, const Where& where);

/// What a lane brings to a meeting of the lanes of a mask, and what it takes away. It lies on the
/// lane's stack, where the last lane to arrive reads and writes it.
struct LaneRequest {
  const char* operation;
  Where where;
  unsigned mask;
  unsigned size = 0;  // bytes of `data`
  int source = -1;    // the lane a shuffle reads from; -1 reads its own
  bool vote = false;
  unsigned votes = 0;  // the lanes for which `vote` holds
  alignas(16) unsigned char data[16] = {};

  // Instead of shuffles and votes: what is done with the payloads of all 32 lanes.
  void* payload = nullptr;
  void (*exchange)(void* const (&payloads)[32]) = nullptr;
};

/// Waits until all lanes of request.mask have come with the same request, then exchanges data.
void meet_lanes(LaneRequest& request);
/// Likewise, and orders memory accesses of the lanes: for the race detector only.
void synchronize_lanes(unsigned mask, const Where& where);

/// A variable of the block's shared memory, named by SIMT_SHARED. One object per place in the
/// program (and per instance, within a template).
struct SharedSite {
  const char* name;
  size_t size;
  size_t alignment;
};
void* shared_memory(const SharedSite& site);
void* dynamic_shared_memory();

/// Lets other threads of the block run, and other blocks where they run at the same time.
void pause(const Where& where);
/// Counts reads that may be a loop waiting for another thread; without pause() it would not end.
void note_spin(const Where& where);

/// Deferred copies into shared memory (cp.async): made at the wait, not before.
void copy_later(void* to, const void* from, unsigned size);
void close_copy_group();
void wait_for_copy_groups(unsigned open);

/// Tells the race detector what CUDA orders: a fence before an atomic publishes what was written
/// before the fence, a fence after an atomic receives it.
void fence();
#if defined(__SANITIZE_THREAD__)
void note_atomic(void* address);
#else
inline void note_atomic(void*) {}
#endif

}  // namespace emulation
