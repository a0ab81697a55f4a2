// Marks in the time line of a profiler, after the protocol of NVTX 3.
#pragma once
#include <cstdint>

namespace c10::cuda {

// A profiler names its library in the environment variable NVTX_INJECTION64_PATH. It is opened with
// the first mark; without one, only the depth of ranges is counted.

void mark(const char* text);
/// Begins a range inside of the thread's last one. Returns its depth, from 0 on.
int push_range(const char* text);
/// Ends the thread's last range and returns its depth, or -2 without one, as NVTX does.
int pop_range();
/// Begins a range that any thread can end, and returns its number.
uint64_t start_range(const char* text);
void end_range(uint64_t id);

}  // namespace c10::cuda
