// A warning that a process gives once.
#pragma once
#include <atomic>

#include "aten/core/Warning.h"

namespace torch::python {

/// Of a deprecated operator, or of the former name of one: the first call warns.
struct Notice {
  const char* text;
  std::atomic<bool> is_given{false};

  void give() {
    if (!is_given.load(std::memory_order_relaxed) && !is_given.exchange(true)) at::warn(text);
  }
};

}  // namespace torch::python
