// How exactly devices may multiply matrices of float32.
#include "c10/core/ProductPrecision.h"

#include <atomic>

namespace c10 {

namespace {

std::atomic<bool> in_products = false;
std::atomic<bool> in_convolutions = true;

std::atomic<bool>& setting_of(Tf32Use use) {
  return use == Tf32Use::Products ? in_products : in_convolutions;
}

}  // namespace

bool tf32_allowed(Tf32Use use) { return setting_of(use).load(std::memory_order_relaxed); }

void allow_tf32(Tf32Use use, bool allowed) {
  setting_of(use).store(allowed, std::memory_order_relaxed);
}

}  // namespace c10
