// How devices compute convolutions: what torch.backends.cudnn sets and asks.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "c10/util/Export.h"

namespace c10 {

/// Settings of the process; ProductPrecision.h has the one for TF32.
struct ConvolutionSettings {
  /// Whether a library for convolutions may compute them.
  std::atomic<bool> enabled = true;
  /// Whether the ways to compute a convolution are timed when it is first computed.
  std::atomic<bool> benchmark = false;
  /// How many ways are timed at most; 0: all.
  std::atomic<int64_t> benchmark_limit = 10;
  /// Whether only ways that always give the same bits are taken.
  std::atomic<bool> deterministic = false;
};

TORCH_PY_API ConvolutionSettings& convolution_settings();

/// What a backend tells about the library that computes its convolutions.
struct ConvolutionLibrary {
  /// The version as the library counts it, such as 91002 for 9.10.2; 0 if it is not installed.
  int64_t (*version)();
  /// Convolutions that the library refused and that were computed without it, each with a reason.
  std::vector<std::pair<std::string, std::string>> (*refused)();
};

/// Null until a backend that has such a library is loaded.
TORCH_PY_API const ConvolutionLibrary* convolution_library();
TORCH_PY_API void set_convolution_library(const ConvolutionLibrary* library);

}  // namespace c10
