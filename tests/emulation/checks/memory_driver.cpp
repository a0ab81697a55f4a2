// Emulated memory: what may be read, copied and freed, and what is refused.
#include <cuda.h>

#include <string>

#include "tests/emulation/checks/cases.h"

using namespace cases;

namespace {

constexpr size_t kGranule = size_t{2} << 20;

void fresh_memory_is_filled() {
  unsigned char* const block = device_bytes(1000);
  EXPECT(contents(block, 1000) == Bytes(1000, 0xFF));
  EXPECT_OK(cudaMemset(block, 1, 1000));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaFree(block));
  unsigned char* const again = device_bytes(1000);
  EXPECT(contents(again, 1000) == Bytes(1000, 0xFF));
  EXPECT(pinned_bytes(10)[9] == 0xFF);
}

void copies_stay_in_their_block() {
  unsigned char* const block = device_bytes(1000);
  Bytes host(4000);
  EXPECT(failed_with(cudaMemcpy(host.data(), block, 1001, cudaMemcpyDeviceToHost),
                     cudaErrorInvalidValue));
  EXPECT(failed_with(cudaMemcpy(block + 500, host.data(), 501, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue));
  EXPECT(failed_with(cudaMemset(block, 0, 1001), cudaErrorInvalidValue));
  EXPECT_OK(cudaMemcpy(block + 500, host.data(), 500, cudaMemcpyHostToDevice));

  EXPECT(failed_with(cudaMemcpy(host.data(), block, 10, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue));
  EXPECT(failed_with(cudaMemcpy(block, host.data(), 10, cudaMemcpyDeviceToDevice),
                     cudaErrorInvalidValue));
  EXPECT_OK(cudaMemcpy(block, host.data(), 10, cudaMemcpyDefault));
  EXPECT_OK(cudaFree(block));
  EXPECT(failed_with(cudaMemcpy(host.data(), block, 1, cudaMemcpyDeviceToHost),
                     cudaErrorInvalidValue));
  EXPECT(failed_with(cudaFree(block), cudaErrorInvalidValue));
}

void rows_are_copied_with_pitch() {
  unsigned char* const block = device_bytes(64);
  Bytes rows(12);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<unsigned char>(i);
  EXPECT_OK(cudaMemset(block, 0, 64));
  EXPECT_OK(cudaMemcpy2DAsync(block, 16, rows.data(), 4, 3, 3, cudaMemcpyHostToDevice));
  const Bytes result = contents(block, 64);
  EXPECT(result[16] == 4 && result[18] == 6 && result[19] == 0 && result[34] == 10);
}

void memory_ends() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_OK(cudaMemGetInfo(&free, &total));
  EXPECT(free == total);
  void* block = nullptr;
  EXPECT(failed_with(cudaMalloc(&block, total + 1), cudaErrorMemoryAllocation));
  EXPECT(block == nullptr);
  unsigned char* const half = device_bytes(total / 2);
  EXPECT(failed_with(cudaMalloc(&block, total / 2 + 1), cudaErrorMemoryAllocation));
  EXPECT_OK(cudaFree(half));
  EXPECT_OK(cudaMalloc(&block, total));
}

void host_reads_device_memory() {
  const volatile unsigned char* const block = device_bytes(16);
  std::printf("before\n");
  std::fflush(stdout);
  std::printf("%d\n", *block);  // ends the process
}

void kernel_writes_behind_a_block() {
  unsigned char* const block = device_bytes(100);
  unsigned char* to = block;
  emulation::readable_argument(&to, sizeof to);
  EXPECT_OK(emulation::enqueue(nullptr, "too far", [=] { to[101] = 7; }));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(cudaFree(block) == cudaErrorIllegalAddress);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

void memory_in_use_is_not_freed() {
  unsigned char* const block = device_bytes(16);
  unsigned char* const pinned = pinned_bytes(16);
  const cudaStream_t stream = new_stream();
  EXPECT_OK(cudaMemcpyAsync(block, pinned, 16, cudaMemcpyHostToDevice, stream));
  if (runs_late()) {
    EXPECT(failed_with(cudaFree(block), cudaErrorIllegalState));
    EXPECT(failed_with(cudaFreeHost(pinned), cudaErrorIllegalState));
  }
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaFree(block));
  EXPECT_OK(cudaFreeHost(pinned));
}

void pointers_are_known() {
  unsigned char* const block = device_bytes(16);
  unsigned char* const pinned = pinned_bytes(16);
  int pageable = 0;
  cudaPointerAttributes attributes;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, block + 15));
  EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.hostPointer == nullptr);
  EXPECT_OK(cudaPointerGetAttributes(&attributes, pinned + 15));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  EXPECT_OK(cudaPointerGetAttributes(&attributes, &pageable));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);

  EXPECT_OK(cudaHostRegister(&pageable, sizeof pageable, cudaHostRegisterDefault));
  EXPECT_OK(cudaPointerGetAttributes(&attributes, &pageable));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  EXPECT(failed_with(cudaHostRegister(&pageable, 1, 0), cudaErrorHostMemoryAlreadyRegistered));
  EXPECT_OK(cudaHostUnregister(&pageable));
  EXPECT(failed_with(cudaHostUnregister(&pageable), cudaErrorHostMemoryNotRegistered));
}

void host_arguments_are_refused() {
  auto* pageable = new unsigned char[16];
  unsigned char* const block = device_bytes(16);
  EXPECT(failed_with(put_increment(nullptr, block, pageable), cudaErrorInvalidValue));
  unsigned char* const pinned = pinned_bytes(16);
  *pinned = 4;
  EXPECT_OK(put_increment(nullptr, block, pinned));
  EXPECT(contents(block, 1)[0] == 5);

  // Numbers are not taken for addresses.
  struct {
    int64_t size = int64_t{3} << 33;
    double number = 1.5;
    int32_t pair[2] = {5, 7};
  } numbers;
  emulation::readable_argument(&numbers, sizeof numbers);
  EXPECT_OK(emulation::enqueue(nullptr, "numbers", [] {}));
  EXPECT(numbers.size == int64_t{3} << 33 && numbers.pair[1] == 7);
  delete[] pageable;
}

void peers_need_access() {
  unsigned char* const here = device_bytes(16);
  EXPECT_OK(cudaSetDevice(1));
  unsigned char* const there = device_bytes(16);
  EXPECT_OK(cudaMemset(there, 3, 16));
  EXPECT_OK(cudaDeviceSynchronize());

  EXPECT_OK(cudaSetDevice(0));
  EXPECT_OK(cudaMemcpyPeer(here, 0, there, 1, 16));
  EXPECT(contents(here, 16) == Bytes(16, 3));
  EXPECT(failed_with(cudaMemcpyPeer(here, 1, there, 1, 16), cudaErrorInvalidValue));
  EXPECT_OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_OK(put_increment(nullptr, here, there));
  EXPECT(contents(here, 1)[0] == 4);

  EXPECT_OK(cudaDeviceDisablePeerAccess(1));
  EXPECT_OK(put_increment(nullptr, here, there));
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  // A fault stays, and is the device's alone.
  EXPECT(cudaStreamSynchronize(nullptr) == cudaErrorIllegalAddress);
  EXPECT(std::strstr(cudaGetErrorString(cudaErrorIllegalAddress), "increment") != nullptr);
  EXPECT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaDeviceSynchronize());
}

CUmemAllocationProp device_memory(int device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return properties;
}

CUmemAccessDesc access_for(int device) {
  return {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
}

void granules_move() {
  const CUmemAllocationProp properties = device_memory(0);
  const CUmemAccessDesc access = access_for(0);
  CUdeviceptr range = 0;
  CUmemGenericAllocationHandle granule = 0;
  EXPECT(cuMemAddressReserve(&range, 4 * kGranule, 0, 0, 0) == CUDA_SUCCESS);
  EXPECT(cuMemCreate(&granule, kGranule, &properties, 0) == CUDA_SUCCESS);
  EXPECT(cuMemMap(range, kGranule, 0, granule, 0) == CUDA_SUCCESS);
  EXPECT(cuMemSetAccess(range, kGranule, &access, 1) == CUDA_SUCCESS);

  auto* const first = reinterpret_cast<unsigned char*>(range);
  EXPECT(contents(first, kGranule) == Bytes(kGranule, 0xFF));
  EXPECT_OK(cudaMemset(first, 9, kGranule));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(cuMemUnmap(range, kGranule) == CUDA_SUCCESS);
  EXPECT(cudaMemset(first, 9, 1) == cudaErrorInvalidValue);

  EXPECT(cuMemMap(range + kGranule, kGranule, 0, granule, 0) == CUDA_SUCCESS);
  EXPECT(cuMemSetAccess(range + kGranule, kGranule, &access, 1) == CUDA_SUCCESS);
  EXPECT(contents(first + kGranule, 100) == Bytes(100, 9));

  size_t free = 0;
  size_t total = 0;
  EXPECT(cuMemRelease(granule) == CUDA_SUCCESS);
  EXPECT_OK(cudaMemGetInfo(&free, &total));
  EXPECT(free == total - kGranule);  // still mapped
  EXPECT(cuMemUnmap(range + kGranule, kGranule) == CUDA_SUCCESS);
  EXPECT_OK(cudaMemGetInfo(&free, &total));
  EXPECT(free == total);
  EXPECT(cuMemAddressFree(range, 4 * kGranule) == CUDA_SUCCESS);
}

void wrong_mappings_are_refused() {
  const CUmemAllocationProp properties = device_memory(0);
  const CUmemAccessDesc access = access_for(0);
  CUdeviceptr range = 0;
  CUmemGenericAllocationHandle granule = 0;
  EXPECT(cuMemAddressReserve(&range, 2 * kGranule, 0, 0, 0) == CUDA_SUCCESS);
  EXPECT(cuMemCreate(&granule, 4096, &properties, 0) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemCreate(&granule, kGranule, &properties, 0) == CUDA_SUCCESS);
  EXPECT(cuMemMap(range + 4096, kGranule, 0, granule, 0) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemMap(range + 2 * kGranule, kGranule, 0, granule, 0) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemMap(range, 2 * kGranule, 0, granule, 0) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemMap(range, kGranule, 0, granule, 0) == CUDA_SUCCESS);
  EXPECT(cuMemMap(range, kGranule, 0, granule, 0) == CUDA_ERROR_ALREADY_MAPPED);

  // Mapped, but nobody may touch it yet.
  auto* const memory = reinterpret_cast<unsigned char*>(range);
  EXPECT_OK(cudaSetDevice(0));
  EXPECT(cuMemSetAccess(range, 2 * kGranule, &access, 1) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cudaMemset(memory, 0, 1) == cudaErrorInvalidValue);
  EXPECT(cuMemSetAccess(range, kGranule, &access, 1) == CUDA_SUCCESS);

  EXPECT_OK(put_increment(new_stream(), memory, memory));
  if (runs_late()) EXPECT(cuMemUnmap(range, kGranule) == CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(cuMemUnmap(range, kGranule) == CUDA_SUCCESS);
  EXPECT(cuMemUnmap(range, kGranule) == CUDA_ERROR_INVALID_VALUE);
}

/// Run with TORCH_PY_EMULATED_VIRTUAL_MEMORY=0 and =2.
void virtual_memory_is_absent() {
  const bool refused = std::strcmp(std::getenv("TORCH_PY_EMULATED_VIRTUAL_MEMORY"), "2") == 0;
  int supported = -1;
  EXPECT(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                              0) == CUDA_SUCCESS);
  EXPECT(supported == (refused ? 1 : 0));
  CUdeviceptr range = 0;
  EXPECT(cuMemAddressReserve(&range, kGranule, 0, 0, 0) ==
         (refused ? CUDA_ERROR_NOT_PERMITTED : CUDA_ERROR_NOT_SUPPORTED));
  EXPECT_OK(cudaFree(device_bytes(16)));
}

void driver_functions_are_found() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result;
  EXPECT_OK(cudaGetDriverEntryPointByVersion("cuMemCreate", &function, 12000, 0, &result));
  EXPECT(result == cudaDriverEntryPointSuccess && function != nullptr);
  EXPECT_OK(cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, 0, &result));
  EXPECT(result == cudaDriverEntryPointSymbolNotFound && function == nullptr);
}

constexpr Case kCases[] = {
    {"fresh_memory_is_filled", fresh_memory_is_filled},
    {"copies_stay_in_their_block", copies_stay_in_their_block},
    {"rows_are_copied_with_pitch", rows_are_copied_with_pitch},
    {"memory_ends", memory_ends},
    {"memory_in_use_is_not_freed", memory_in_use_is_not_freed},
    {"pointers_are_known", pointers_are_known},
    {"host_arguments_are_refused", host_arguments_are_refused},
    {"peers_need_access", peers_need_access},
    {"granules_move", granules_move},
    {"wrong_mappings_are_refused", wrong_mappings_are_refused},
    {"driver_functions_are_found", driver_functions_are_found},
    {"kernel_writes_behind_a_block", kernel_writes_behind_a_block},
    {"host_reads_device_memory", host_reads_device_memory},
    {"virtual_memory_is_absent", virtual_memory_is_absent},
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
