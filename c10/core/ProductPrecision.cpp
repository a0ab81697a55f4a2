// How exactly devices may multiply matrices of float32.
#include "c10/core/ProductPrecision.h"

#include <atomic>

namespace c10 {

namespace {

std::atomic<bool> allowed_now = false;

}  // namespace

bool tf32_allowed() { return allowed_now.load(std::memory_order_relaxed); }
void allow_tf32(bool allowed) { allowed_now.store(allowed, std::memory_order_relaxed); }

}  // namespace c10
