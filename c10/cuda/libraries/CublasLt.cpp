// Opens cuBLASLt, and keeps a handle for each device.
#include "c10/cuda/libraries/CublasLt.h"

#include <map>
#include <mutex>

#include "c10/cuda/Runtime.h"
#include "c10/cuda/libraries/Library.h"
#include "c10/util/Exception.h"

namespace c10::cuda::cublaslt {

namespace {

Functions opened() {
  Library library("libcublasLt.so.13", "nvidia-cublas");
  library.open();

  Functions f{};
  library.find(f.create, "cublasLtCreate");
  library.find(f.description_create, "cublasLtMatmulDescCreate");
  library.find(f.description_destroy, "cublasLtMatmulDescDestroy");
  library.find(f.description_set, "cublasLtMatmulDescSetAttribute");
  library.find(f.layout_create, "cublasLtMatrixLayoutCreate");
  library.find(f.layout_destroy, "cublasLtMatrixLayoutDestroy");
  library.find(f.layout_set, "cublasLtMatrixLayoutSetAttribute");
  library.find(f.preference_create, "cublasLtMatmulPreferenceCreate");
  library.find(f.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  library.find(f.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  library.find(f.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  library.find(f.multiply, "cublasLtMatmul");
  library.find(f.name_of, "cublasLtGetStatusName");
  return f;
}

}  // namespace

const Functions& functions() {
  static const Functions found = opened();
  return found;
}

Handle handle() {
  static std::mutex mutex;
  static auto* const handles = new std::map<DeviceIndex, Handle>;  // as long as the process

  const std::lock_guard lock(mutex);
  Handle& found = (*handles)[current_device()];
  if (found == nullptr) check(functions().create(&found), "cublasLtCreate");
  return found;
}

void check(Status status, const char* call) {
  TORCH_CHECK(status == kSuccess, "cuBLASLt: ", call, " failed with ", functions().name_of(status));
}

}  // namespace c10::cuda::cublaslt
