#include "aten/core/Determinism.h"

#include <atomic>

namespace at {

namespace {

std::atomic<bool> deterministic{false};

}  // namespace

bool deterministic_algorithms() { return deterministic.load(std::memory_order_relaxed); }
void set_deterministic_algorithms(bool wanted) { deterministic.store(wanted); }

}  // namespace at
