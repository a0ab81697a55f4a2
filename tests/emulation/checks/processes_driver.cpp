// Emulated devices and other processes: shared memory and events, forks, waits without end.
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/emulation/checks/cases.h"

using namespace cases;

namespace {

template <class Handle>
Handle parsed(const char* text) {
  Handle handle;
  for (size_t i = 0; i < sizeof handle; ++i)
    std::sscanf(text + 2 * i, "%2hhx", reinterpret_cast<unsigned char*>(&handle) + i);
  return handle;
}

void memory_and_events_are_shared() {
  unsigned char* const block = device_bytes(100);
  EXPECT_OK(cudaMemset(block, 5, 100));
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  EXPECT_OK(cudaEventRecord(event, nullptr));

  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t point;
  EXPECT_OK(cudaIpcGetMemHandle(&memory, block));
  EXPECT_OK(cudaIpcGetEventHandle(&point, event));
  void* opened = nullptr;
  EXPECT(failed_with(cudaIpcOpenMemHandle(&opened, memory, cudaIpcMemLazyEnablePeerAccess),
                     cudaErrorDeviceUninitialized));
  EXPECT(failed_with(cudaIpcGetMemHandle(&memory, block + 1), cudaErrorInvalidValue));

  EXPECT(run_other("open", hexadecimal(&memory, sizeof memory),
                   hexadecimal(&point, sizeof point)) == 0);
  EXPECT(contents(block, 1)[0] == 6);
}

/// The other process of memory_and_events_are_shared.
void open_shared(const char* memory, const char* point) {
  void* pointer = nullptr;
  cudaEvent_t event = nullptr;
  EXPECT_OK(cudaIpcOpenMemHandle(&pointer, parsed<cudaIpcMemHandle_t>(memory),
                                 cudaIpcMemLazyEnablePeerAccess));
  EXPECT_OK(cudaIpcOpenEventHandle(&event, parsed<cudaIpcEventHandle_t>(point)));
  auto* const block = static_cast<unsigned char*>(pointer);

  const cudaStream_t stream = new_stream();
  EXPECT_OK(cudaStreamWaitEvent(stream, event));
  EXPECT_OK(put_increment(stream, block, block));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(contents(block, 2) == (Bytes{6, 5}));

  EXPECT(failed_with(cudaMemset(block, 0, 101), cudaErrorInvalidValue));
  EXPECT(failed_with(cudaFree(block), cudaErrorInvalidValue));
  EXPECT_OK(cudaIpcCloseMemHandle(block));
  EXPECT(failed_with(cudaIpcCloseMemHandle(block), cudaErrorInvalidValue));
}

void granules_are_exported() {
  constexpr size_t kGranule = size_t{2} << 20;
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  const CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemGenericAllocationHandle granule = 0;
  CUmemGenericAllocationHandle imported = 0;
  int file = -1;
  EXPECT(cuMemCreate(&granule, kGranule, &properties, 0) == CUDA_SUCCESS);
  EXPECT(cuMemExportToShareableHandle(&file, granule, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      0) == CUDA_ERROR_INVALID_VALUE);  // not made for it

  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  EXPECT(cuMemCreate(&granule, kGranule, &properties, 0) == CUDA_SUCCESS);
  EXPECT(cuMemExportToShareableHandle(&file, granule, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      0) == CUDA_SUCCESS);
  EXPECT(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(intptr_t{file}),
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == CUDA_SUCCESS);

  // The same memory at two addresses.
  CUdeviceptr range = 0;
  EXPECT(cuMemAddressReserve(&range, 2 * kGranule, 0, 0, 0) == CUDA_SUCCESS);
  EXPECT(cuMemMap(range, kGranule, 0, granule, 0) == CUDA_SUCCESS);
  EXPECT(cuMemMap(range + kGranule, kGranule, 0, imported, 0) == CUDA_SUCCESS);
  EXPECT(cuMemSetAccess(range, 2 * kGranule, &access, 1) == CUDA_SUCCESS);
  auto* const memory = reinterpret_cast<unsigned char*>(range);
  EXPECT_OK(cudaMemset(memory, 3, 10));
  EXPECT(contents(memory + kGranule, 10) == Bytes(10, 3));
}

void forked_processes_cannot_use_cuda() {
  EXPECT_OK(cudaFree(device_bytes(1)));
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    void* block = nullptr;
    const bool refused = cudaMalloc(&block, 1) == cudaErrorInitializationError &&
                         cudaSetDevice(0) == cudaErrorInitializationError &&
                         cudaGetDeviceCount(&count) == cudaErrorInitializationError;
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_OK(cudaFree(device_bytes(1)));
}

/// Run with TORCH_PY_EMULATED_PATIENCE_SECONDS=1.
void waits_without_end_are_found() {
  const cudaStream_t stream = new_stream();
  EXPECT_OK(emulation::enqueue(stream, "waits for itself", [stream] {
    EXPECT(cudaStreamSynchronize(stream) == cudaErrorLaunchTimeout);
  }));
  EXPECT_OK(cudaStreamSynchronize(stream));
}

void no_devices() {
  int count = -1;
  EXPECT(failed_with(cudaGetDeviceCount(&count), cudaErrorNoDevice));
  EXPECT(count == 0);
}

constexpr Case kCases[] = {
    {"memory_and_events_are_shared", memory_and_events_are_shared},
    {"granules_are_exported", granules_are_exported},
    {"forked_processes_cannot_use_cuda", forked_processes_cannot_use_cuda},
    {"waits_without_end_are_found", waits_without_end_are_found},
    {"no_devices", no_devices},
};

}  // namespace

int main(int argc, char** argv) {
  cases::program = argv[0];
  if (argc == 4 && std::strcmp(argv[1], "open") == 0) {
    open_shared(argv[2], argv[3]);
    return 0;
  }
  return cases::run(argc, argv, kCases);
}
