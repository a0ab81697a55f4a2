// Memory of a CUDA device: granules of the driver's virtual memory, or segments of cudaMalloc.
#include "c10/cuda/allocator/Segments.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "c10/cuda/Runtime.h"
#include "c10/cuda/Sharing.h"
#include "c10/cuda/allocator/CaptureScope.h"

namespace c10::cuda {

namespace {

/// The device is selected and captures are relaxed.
struct DeviceScope {
  explicit DeviceScope(int device) : selected(static_cast<DeviceIndex>(device)) {}

  SelectedDevice selected;
  RelaxedCapture relaxed;
};

std::pair<size_t, size_t> memory_info_of(int device) {
  const DeviceScope scope(device);
  size_t free = 0;
  size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return {free, total};
}

// --- Segments of cudaMalloc ---

class PlainSegments final : public Segments {
 public:
  explicit PlainSegments(int device) : device_(device) {}

  bool maps_granules() const override { return false; }
  uintptr_t reserve(size_t) override { return 0; }
  void release(uintptr_t, size_t) noexcept override {}
  GranuleHandle create_granule() override { return 0; }
  void destroy_granule(GranuleHandle) noexcept override {}
  bool map(uintptr_t, const GranuleHandle*, size_t) override { return false; }
  void unmap(uintptr_t, size_t) noexcept override {}

  uintptr_t allocate(size_t bytes) override {
    const DeviceScope scope(device_);
    void* segment = nullptr;
    const cudaError_t status = cudaMalloc(&segment, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      return 0;
    }
    C10_CUDA_CHECK(status);
    return reinterpret_cast<uintptr_t>(segment);
  }

  void free(uintptr_t address) noexcept override {
    const DeviceScope scope(device_);
    C10_CUDA_IGNORE(cudaFree(reinterpret_cast<void*>(address)));
  }

  std::pair<size_t, size_t> memory_info() override { return memory_info_of(device_); }

 private:
  const int device_;
};

// --- Granules ---

/// The driver's functions, looked up at run time: nothing links to libcuda.
struct Driver {
  decltype(&cuDeviceGet) device_get = nullptr;
  decltype(&cuDeviceGetAttribute) device_get_attribute = nullptr;
  decltype(&cuMemAddressReserve) address_reserve = nullptr;
  decltype(&cuMemAddressFree) address_free = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  bool is_complete = true;
};

template <class Function>
void look_up(Driver& driver, Function& function, const char* name) {
  constexpr unsigned int kVersion = 12000;  // of the functions' signatures
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;

  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &found, kVersion, 0, &result);
  if (status != cudaSuccess) cudaGetLastError();
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) driver.is_complete = false;
  function = reinterpret_cast<Function>(found);
}

const Driver& driver() {
  static const Driver only = [] {
    Driver driver;
    look_up(driver, driver.device_get, "cuDeviceGet");
    look_up(driver, driver.device_get_attribute, "cuDeviceGetAttribute");
    look_up(driver, driver.address_reserve, "cuMemAddressReserve");
    look_up(driver, driver.address_free, "cuMemAddressFree");
    look_up(driver, driver.create, "cuMemCreate");
    look_up(driver, driver.release, "cuMemRelease");
    look_up(driver, driver.map, "cuMemMap");
    look_up(driver, driver.unmap, "cuMemUnmap");
    look_up(driver, driver.set_access, "cuMemSetAccess");
    return driver;
  }();
  return only;
}

bool has_attribute(int device, CUdevice_attribute attribute) {
  CUdevice handle = 0;
  int value = 0;
  return driver().device_get(&handle, device) == CUDA_SUCCESS &&
         driver().device_get_attribute(&value, attribute, handle) == CUDA_SUCCESS && value != 0;
}

class GranuleSegments final : public Segments {
 public:
  explicit GranuleSegments(int device) : device_(device) {
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties_.location.id = device;
    // Other processes get a granule as a file descriptor.
    if (has_attribute(device, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED))
      properties_.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  }

  /// Whether the system permits what the driver offers: some sandboxes do not.
  bool works() {
    const uintptr_t address = reserve(kGranule);
    if (address == 0) return false;
    GranuleHandle granule = create_granule();
    if (granule == 0 && properties_.requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) {
      properties_.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
      granule = create_granule();
    }

    const bool mapped = granule != 0 && map(address, &granule, 1);
    if (mapped) unmap(address, 1);
    if (granule != 0) destroy_granule(granule);
    release(address, kGranule);
    return mapped;
  }

  bool maps_granules() const override { return true; }

  uintptr_t reserve(size_t bytes) override {
    const DeviceScope scope(device_);
    CUdeviceptr address = 0;
    const CUresult status = driver().address_reserve(&address, bytes, kGranule, 0, 0);
    return status == CUDA_SUCCESS ? address : 0;
  }

  void release(uintptr_t address, size_t bytes) noexcept override {
    const DeviceScope scope(device_);
    driver().address_free(address, bytes);
  }

  GranuleHandle create_granule() override {
    const DeviceScope scope(device_);
    CUmemGenericAllocationHandle handle = 0;
    const CUresult status = driver().create(&handle, kGranule, &properties_, 0);
    return status == CUDA_SUCCESS ? handle : 0;
  }

  void destroy_granule(GranuleHandle granule) noexcept override {
    const DeviceScope scope(device_);
    forget_shared_granule(granule);
    driver().release(granule);
  }

  bool map(uintptr_t address, const GranuleHandle* granules, size_t count) override {
    const DeviceScope scope(device_);
    for (size_t i = 0; i < count; ++i) {
      if (driver().map(address + i * kGranule, kGranule, 0, granules[i], 0) == CUDA_SUCCESS)
        continue;
      if (i != 0) driver().unmap(address, i * kGranule);
      return false;
    }

    CUmemAccessDesc access = {};
    access.location = properties_.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (driver().set_access(address, count * kGranule, &access, 1) == CUDA_SUCCESS) return true;
    driver().unmap(address, count * kGranule);
    return false;
  }

  void unmap(uintptr_t address, size_t count) noexcept override {
    const DeviceScope scope(device_);
    driver().unmap(address, count * kGranule);
  }

  uintptr_t allocate(size_t) override { return 0; }
  void free(uintptr_t) noexcept override {}
  std::pair<size_t, size_t> memory_info() override { return memory_info_of(device_); }

 private:
  const int device_;
  CUmemAllocationProp properties_ = {};
};

}  // namespace

std::unique_ptr<Segments> make_cuda_segments(int device) {
  const DeviceScope scope(device);
  if (driver().is_complete &&
      has_attribute(device, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)) {
    auto granules = std::make_unique<GranuleSegments>(device);
    if (granules->works()) return granules;
  }
  return make_plain_segments(device);
}

std::unique_ptr<Segments> make_plain_segments(int device) {
  return std::make_unique<PlainSegments>(device);
}

}  // namespace c10::cuda
