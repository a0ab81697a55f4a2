// The allocator of pinned host memory: see also Memory.h.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace c10::cuda {

/// Gives pinned memory back that nothing uses; waits for copies from and to it.
void empty_pinned_cache();
/// Names as torch.cuda.host_memory_stats has them.
std::vector<std::pair<std::string, int64_t>> pinned_memory_stats();
void reset_peak_pinned_memory_stats();
void reset_accumulated_pinned_memory_stats();

}  // namespace c10::cuda
