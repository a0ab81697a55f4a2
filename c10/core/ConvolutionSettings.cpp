// How devices compute convolutions: what torch.backends.cudnn sets and asks.
#include "c10/core/ConvolutionSettings.h"

namespace c10 {

namespace {

std::atomic<const ConvolutionLibrary*> library = nullptr;

}  // namespace

ConvolutionSettings& convolution_settings() {
  static ConvolutionSettings settings;
  return settings;
}

const ConvolutionLibrary* convolution_library() { return library.load(std::memory_order_acquire); }

void set_convolution_library(const ConvolutionLibrary* added) {
  library.store(added, std::memory_order_release);
}

}  // namespace c10
