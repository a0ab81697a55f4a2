// Opens cuDNN, and keeps handles for each thread and device.
#include "c10/cuda/libraries/Cudnn.h"

#include <map>

#include "c10/cuda/Runtime.h"
#include "c10/cuda/libraries/Library.h"
#include "c10/cuda/libraries/PerThread.h"
#include "c10/util/Exception.h"

namespace c10::cuda::cudnn {

namespace {

/// The library, or why it cannot be used.
struct Opened {
  Functions functions{};
  std::string absence;

  Opened() {
    try {
      open();
    } catch (const Error& error) {
      absence = error.message();
    }
  }

 private:
  void open() {
    Library library("libcudnn.so.9", "nvidia-cudnn-cu13");
    library.open();

    Functions& f = functions;
    library.find(f.version, "cudnnGetVersion");
    TORCH_CHECK(f.version() >= kOldestVersion, "convolutions need cuDNN 9.0 or later, found ",
                static_cast<int64_t>(f.version()));

    library.find(f.error_string, "cudnnGetErrorString");
    library.find(f.last_error_string, "cudnnGetLastErrorString");
    library.find(f.create, "cudnnCreate");
    library.find(f.set_stream, "cudnnSetStream");
    library.find(f.create_descriptor, "cudnnBackendCreateDescriptor");
    library.find(f.destroy_descriptor, "cudnnBackendDestroyDescriptor");
    library.find(f.set_attribute, "cudnnBackendSetAttribute");
    library.find(f.get_attribute, "cudnnBackendGetAttribute");
    library.find(f.finalize, "cudnnBackendFinalize");
    library.find(f.execute, "cudnnBackendExecute");
  }
};

const Opened& opened() {
  static const auto* const library = new Opened;
  return *library;
}

}  // namespace

const Functions* functions() {
  const Opened& library = opened();
  return library.absence.empty() ? &library.functions : nullptr;
}

const std::string& absence() { return opened().absence; }

Handle handle() {
  Handle& found = PerThread<std::map<DeviceIndex, Handle>>::current()[current_device()];
  if (found == nullptr) check(functions()->create(&found), "cudnnCreate");
  check(functions()->set_stream(found, current_stream()), "cudnnSetStream");
  return found;
}

void check(Status status, const char* call) {
  if (status == kSuccess) return;
  char message[512] = "";
  functions()->last_error_string(message, sizeof(message));
  TORCH_CHECK(false, call, " failed with ", functions()->error_string(status),
              message[0] == '\0' ? "" : ": ", message);
}

}  // namespace c10::cuda::cudnn
