// Emulated devices: their number, properties and errors.
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/emulation/streams.h"

namespace emulation {

namespace {

constexpr size_t kMiB = size_t{1} << 20;

thread_local int selected = 0;
thread_local cudaError_t last_error = cudaSuccess;

/// What cudaGetErrorString adds to CUDA's own words.
struct Explanation {
  cudaError_t error = cudaSuccess;
  std::string text;
  std::string shown;  // the two together, as long as the caller needs them
};
Explanation& explanation() {
  thread_local const auto of_thread = std::make_unique<Explanation>();
  return *of_thread;
}

bool forked = false;  // this process began as a copy of one that had used CUDA

std::vector<Device> make_devices() {
  std::vector<Device> made(setting("TORCH_PY_EMULATED_DEVICES", 2));
  for (size_t i = 0; i < made.size(); ++i) {
    made[i].index = static_cast<int>(i);
    made[i].total_memory = setting("TORCH_PY_EMULATED_MEMORY_MIB", 4096) * kMiB;
  }
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
  return made;
}

void copy_text(char* to, size_t size, const std::string& text) {
  std::strncpy(to, text.c_str(), size - 1);
  to[size - 1] = '\0';
}

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrorTexts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {cudaErrorOperatingSystem, "cudaErrorOperatingSystem",
     "OS call failed or operation not supported on this OS"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

const ErrorText* find_text(cudaError_t error) {
  for (const ErrorText& entry : kErrorTexts)
    if (entry.error == error) return &entry;
  return nullptr;
}

bool valid_device(int index) { return index >= 0 && index < static_cast<int>(devices().size()); }

}  // namespace

std::recursive_mutex& mutex() {
  static std::recursive_mutex& shared = *new std::recursive_mutex;
  return shared;
}

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::vector<Device>& devices() {
  static std::vector<Device>& all = *new std::vector<Device>(make_devices());
  return all;
}

Device& current_device() { return devices()[static_cast<size_t>(selected)]; }

cudaError_t refuse(cudaError_t error, const std::string& text) {
  explanation() = {error, text, {}};
  last_error = error;
  return error;
}

cudaError_t refuse(cudaError_t error, const char* text) { return refuse(error, std::string(text)); }

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

bool& in_host_function() {
  thread_local bool inside = false;
  return inside;
}

cudaError_t state_error() {
  if (in_host_function()) return refuse(cudaErrorNotPermitted, "called from a host function");
  if (forked)
    return refuse(cudaErrorInitializationError, "a process forked after CUDA began cannot use it");
  if (devices().empty()) return cudaErrorNoDevice;

  const Device& device = current_device();
  if (device.fault != cudaSuccess) explanation() = {device.fault, device.fault_text, {}};
  return device.fault;
}

void fault(int device, cudaError_t error, const std::string& text) {
  Device& faulty = devices()[static_cast<size_t>(device)];
  if (faulty.fault != cudaSuccess) return;
  faulty.fault = error;
  faulty.fault_text = text;
}

}  // namespace emulation

using namespace emulation;

extern "C" {

/// For tests: lets a device go on after a fault, which hardware cannot.
__attribute__((visibility("default"))) void torch_py_emulation_forget_faults() {
  const std::lock_guard lock(mutex());
  for (Device& device : devices()) device.fault = cudaSuccess;
  last_error = cudaSuccess;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* const found = find_text(error);
  return found != nullptr ? found->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* const found = find_text(error);
  const char* const words = found != nullptr ? found->text : "unrecognized error code";
  Explanation& known = explanation();
  if (known.error != error || error == cudaSuccess) return words;

  known.shown = std::string(words) + " (emulation: " + known.text + ")";
  return known.shown.c_str();
}

cudaError_t cudaGetDeviceCount(int* count) {
  const std::lock_guard lock(mutex());
  if (forked) return note(state_error());
  *count = static_cast<int>(devices().size());
  return *count == 0 ? note(cudaErrorNoDevice) : cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  const std::lock_guard lock(mutex());
  if (forked) return note(state_error());
  if (!valid_device(device)) return note(cudaErrorInvalidDevice);
  selected = device;
  return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  return note(valid_device(device) ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDevice(int* device) {
  if (devices().empty()) return note(cudaErrorNoDevice);
  *device = selected;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!valid_device(device)) return note(cudaErrorInvalidDevice);

  *properties = {};
  copy_text(properties->name, sizeof properties->name, "Emulated GPU");
  properties->uuid.bytes[15] = static_cast<char>(device);
  properties->totalGlobalMem = devices()[static_cast<size_t>(device)].total_memory;
  properties->sharedMemPerBlock = 48 << 10;
  properties->sharedMemPerBlockOptin = 227 << 10;
  properties->sharedMemPerMultiprocessor = 228 << 10;
  properties->reservedSharedMemPerBlock = 1 << 10;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 64 << 10;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->maxBlocksPerMultiProcessor = 32;
  const int block[] = {1024, 1024, 64};
  const int grid[] = {0x7fffffff, 65535, 65535};
  std::copy_n(block, 3, properties->maxThreadsDim);
  std::copy_n(grid, 3, properties->maxGridSize);
  properties->major = 9;
  // Few multiprocessors: grids that are sized by their number stay small and still take turns.
  properties->multiProcessorCount = static_cast<int>(setting("TORCH_PY_EMULATED_PROCESSORS", 4));
  properties->l2CacheSize = 4 << 20;
  properties->memoryBusWidth = 5120;
  properties->pciBusID = device + 1;
  properties->asyncEngineCount = 2;
  properties->canMapHostMemory = properties->concurrentKernels = 1;
  properties->unifiedAddressing = properties->streamPrioritiesSupported = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device)) return error;

  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = properties.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = properties.maxThreadsDim[0]; break;
    case cudaDevAttrMaxGridDimX: *value = properties.maxGridSize[0]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(properties.sharedMemPerBlock);
      break;
    case cudaDevAttrWarpSize: *value = properties.warpSize; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = properties.regsPerBlock; break;
    case cudaDevAttrClockRate: *value = 1'000'000; break;
    case cudaDevAttrMultiProcessorCount: *value = properties.multiProcessorCount; break;
    case cudaDevAttrMemoryClockRate: *value = 1'000'000; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = properties.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = properties.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = properties.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrComputeCapabilityMajor: *value = properties.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = properties.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(properties.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrPageableMemoryAccess: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(properties.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = properties.maxBlocksPerMultiProcessor;
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = static_cast<int>(properties.reservedSharedMemPerBlock);
      break;
    default: return note(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!valid_device(device)) return note(cudaErrorInvalidDevice);
  copy_text(text, static_cast<size_t>(length), "0000:0" + std::to_string(device + 1) + ":00.0");
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  return call([] {
    if (const cudaError_t error = refuse_while_capturing(current_device(), "cudaDeviceSynchronize"))
      return error;
    return drain(current_device());
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  if (!valid_device(device) || !valid_device(peer)) return note(cudaErrorInvalidDevice);
  *can_access = device != peer && setting("TORCH_PY_EMULATED_PEERS", 1) != 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return call([&]() -> cudaError_t {
    int possible = 0;
    if (flags != 0) return cudaErrorInvalidValue;
    if (const cudaError_t error = cudaDeviceCanAccessPeer(&possible, selected, peer)) return error;
    if (!possible)
      return peer == selected ? cudaErrorInvalidDevice : cudaErrorPeerAccessUnsupported;
    return current_device().peers.insert(peer).second ? cudaSuccess
                                                      : cudaErrorPeerAccessAlreadyEnabled;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&] {
    return current_device().peers.erase(peer) != 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"
