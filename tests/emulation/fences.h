// Messenger: the part of a thread that its fences and atomics order, for the race detector.
#pragma once

namespace emulation {

/// See Note [Fences in race mode].
struct Messenger {
  void* context = nullptr;
  char to_messenger = 0;  // addresses that the detector orders by
  char to_thread = 0;

  void retire();
};

/// At a barrier, hands what the thread's fences published to the messengers of the others.
void pass_on_fences(void* mark);
void take_fences(void* mark);

}  // namespace emulation
