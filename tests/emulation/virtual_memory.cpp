// Emulated virtual memory of the driver: reserved addresses, physical memory, mappings.
#include <cuda.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "tests/emulation/ipc.h"
#include "tests/emulation/memory.h"
#include "tests/emulation/streams.h"

namespace emulation {

namespace {

constexpr size_t kGranule = size_t{2} << 20;

/// Physical memory. It ends when it is released and no longer mapped.
struct Physical {
  size_t bytes = 0;
  int device = 0;
  int file = -1;  // our own, or a descriptor of another process's
  size_t offset = 0;
  int mappings = 0;
  bool released = false;
  bool imported = false;
  bool exportable = false;
};

std::map<uint64_t, Physical>& physical_memory() {
  static std::map<uint64_t, Physical>& all = *new std::map<uint64_t, Physical>;
  return all;
}

std::map<uintptr_t, size_t>& reservations() {
  static std::map<uintptr_t, size_t>& all = *new std::map<uintptr_t, size_t>;
  return all;
}

uint64_t handles = 0;

enum class Support { Missing = 0, Complete = 1, Refused = 2 };

/// TORCH_PY_EMULATED_VIRTUAL_MEMORY: 0 for devices without it, 2 for a system that refuses it.
Support support() {
  static const auto chosen = static_cast<Support>(setting("TORCH_PY_EMULATED_VIRTUAL_MEMORY", 1));
  return chosen;
}

bool is_aligned(uint64_t value) { return value % kGranule == 0; }

/// As `call`, for the driver's functions; they have no last error.
template <class Body>
CUresult driver_call(Body body) {
  const std::lock_guard lock(mutex());
  if (support() == Support::Missing) return CUDA_ERROR_NOT_SUPPORTED;
  if (support() == Support::Refused) return CUDA_ERROR_NOT_PERMITTED;
  if (const cudaError_t error = state_error()) return static_cast<CUresult>(error);
  return body();
}

/// The driver has no last error; the explanation waits for cudaGetErrorString.
CUresult explained(CUresult error, const std::string& text) {
  refuse(static_cast<cudaError_t>(error), text);
  cudaGetLastError();
  return error;
}

void destroy_if_unused(uint64_t handle) {
  const auto it = physical_memory().find(handle);
  const Physical& memory = it->second;
  if (!memory.released || memory.mappings > 0) return;

  if (memory.imported) {
    close(memory.file);
  } else {
    give_physical(memory.offset, memory.bytes);
    devices()[static_cast<size_t>(memory.device)].used_memory -= memory.bytes;
  }
  physical_memory().erase(it);
}

void fill_fresh(int file, size_t offset, size_t bytes) {
  void* const view =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  if (view == MAP_FAILED) std::abort();
  std::memset(view, 0xFF, bytes);
  munmap(view, bytes);
}

CUresult create(CUmemGenericAllocationHandle* handle, size_t bytes,
                const CUmemAllocationProp& properties) {
  const int index = properties.location.id;
  const bool valid = bytes > 0 && is_aligned(bytes) &&
                     properties.type == CU_MEM_ALLOCATION_TYPE_PINNED &&
                     properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE && index >= 0 &&
                     index < static_cast<int>(devices().size());
  if (!valid) return explained(CUDA_ERROR_INVALID_VALUE, "cuMemCreate: size or properties");

  Device& device = devices()[static_cast<size_t>(index)];
  if (device.used_memory + bytes > device.total_memory) return CUDA_ERROR_OUT_OF_MEMORY;
  const size_t offset = take_physical(bytes);
  if (offset == 0) return CUDA_ERROR_OUT_OF_MEMORY;

  fill_fresh(memory_file(), offset, bytes);
  device.used_memory += bytes;
  *handle = ++handles;
  Physical& memory = physical_memory()[*handle];
  memory.bytes = bytes;
  memory.device = index;
  memory.file = memory_file();
  memory.offset = offset;
  memory.exportable = properties.requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return CUDA_SUCCESS;
}

/// Whether a range lies in one reservation.
bool is_reserved(uintptr_t begin, size_t bytes) {
  auto it = reservations().upper_bound(begin);
  if (it == reservations().begin()) return false;
  --it;
  return begin + bytes <= it->first + it->second;
}

CUresult map(uintptr_t begin, size_t bytes, size_t offset, uint64_t handle) {
  const auto it = physical_memory().find(handle);
  if (it == physical_memory().end() || it->second.released)
    return explained(CUDA_ERROR_INVALID_VALUE, "cuMemMap: not a handle");
  Physical& memory = it->second;
  if (!is_aligned(begin) || offset != 0 || bytes != memory.bytes || !is_reserved(begin, bytes))
    return explained(CUDA_ERROR_INVALID_VALUE, "cuMemMap: the range is not reserved or aligned");
  for (uintptr_t at = begin; at < begin + bytes; at += kGranule)
    if (find_block(at) != nullptr)
      return explained(CUDA_ERROR_ALREADY_MAPPED, "cuMemMap: part of the range is mapped");

  insert_block({.begin = begin,
                .bytes = bytes,
                .capacity = bytes,
                .kind = Kind::Mapped,
                .device = memory.device,
                .offset = memory.offset,
                .handle = handle});
  memory.mappings += 1;
  return CUDA_SUCCESS;
}

/// The mappings that together are exactly the range; empty if it cuts one or has a gap.
std::vector<Block> mappings_of(uintptr_t begin, size_t bytes) {
  std::vector<Block> found;
  uintptr_t at = begin;
  while (at < begin + bytes) {
    const Block* const block = find_block(at);
    if (block == nullptr || block->kind != Kind::Mapped || block->begin != at) return {};
    found.push_back(*block);
    at += block->bytes;
  }
  if (at != begin + bytes) found.clear();
  return found;
}

CUresult unmap(uintptr_t begin, size_t bytes) {
  const std::vector<Block> mappings = mappings_of(begin, bytes);
  if (mappings.empty())
    return explained(CUDA_ERROR_INVALID_VALUE, "cuMemUnmap: not whole mappings");
  const std::string user = waiting_user(begin, bytes);
  if (!user.empty())
    return explained(CUDA_ERROR_ILLEGAL_STATE, "cuMemUnmap of memory in use: " + user);

  unmap_alias(begin, bytes);
  for (const Block& block : mappings) {
    erase_block(block.begin);
    physical_memory()[block.handle].mappings -= 1;
    destroy_if_unused(block.handle);
  }
  return CUDA_SUCCESS;
}

CUresult set_access(uintptr_t begin, size_t bytes, const CUmemAccessDesc& access) {
  const std::vector<Block> mappings = mappings_of(begin, bytes);
  const int device = access.location.id;
  const bool valid = access.location.type == CU_MEM_LOCATION_TYPE_DEVICE && device >= 0 &&
                     device < static_cast<int>(devices().size());
  if (mappings.empty() || !valid)
    return explained(CUDA_ERROR_INVALID_VALUE, "cuMemSetAccess: not whole mappings");

  for (Block block : mappings) {
    const uint32_t bit = 1u << device;
    const uint32_t before = block.readers;
    block.readers =
        access.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? before | bit : before & ~bit;
    const Physical& memory = physical_memory()[block.handle];
    if (before == 0 && block.readers != 0)
      map_alias(block.begin, block.bytes, memory.file, memory.offset);
    if (before != 0 && block.readers == 0) unmap_alias(block.begin, block.bytes);
    change_block(block);
  }
  return CUDA_SUCCESS;
}

struct EntryPoint {
  const char* name;
  void* function;
};

const EntryPoint kEntryPoints[] = {
    {"cuGetErrorString", reinterpret_cast<void*>(&cuGetErrorString)},
    {"cuDeviceGet", reinterpret_cast<void*>(&cuDeviceGet)},
    {"cuDeviceGetAttribute", reinterpret_cast<void*>(&cuDeviceGetAttribute)},
    {"cuMemGetAllocationGranularity", reinterpret_cast<void*>(&cuMemGetAllocationGranularity)},
    {"cuMemAddressReserve", reinterpret_cast<void*>(&cuMemAddressReserve)},
    {"cuMemAddressFree", reinterpret_cast<void*>(&cuMemAddressFree)},
    {"cuMemCreate", reinterpret_cast<void*>(&cuMemCreate)},
    {"cuMemRelease", reinterpret_cast<void*>(&cuMemRelease)},
    {"cuMemMap", reinterpret_cast<void*>(&cuMemMap)},
    {"cuMemUnmap", reinterpret_cast<void*>(&cuMemUnmap)},
    {"cuMemSetAccess", reinterpret_cast<void*>(&cuMemSetAccess)},
    {"cuMemExportToShareableHandle", reinterpret_cast<void*>(&cuMemExportToShareableHandle)},
    {"cuMemImportFromShareableHandle", reinterpret_cast<void*>(&cuMemImportFromShareableHandle)},
};

}  // namespace

}  // namespace emulation

using namespace emulation;

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  *function = nullptr;
  for (const EntryPoint& entry : kEntryPoints)
    if (std::strcmp(entry.name, symbol) == 0) *function = entry.function;

  const bool found = *function != nullptr;
  if (result != nullptr)
    *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return found || result != nullptr ? cudaSuccess : note(cudaErrorSymbolNotFound);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, result);
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (ordinal < 0 || ordinal >= static_cast<int>(devices().size()))
    return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
      *value = support() != Support::Missing;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  return driver_call([&] {
    *granularity = kGranule;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr,
                             unsigned long long) {
  return driver_call([&] {
    if (bytes == 0 || !is_aligned(bytes) || (alignment & (alignment - 1)) != 0)
      return explained(CUDA_ERROR_INVALID_VALUE, "cuMemAddressReserve: size or alignment");
    // A granule more than asked for, which nobody gets: the guard between reservations.
    const uintptr_t begin = take_addresses(bytes + kGranule, std::max(alignment, kGranule));
    if (begin == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    reservations()[begin] = bytes;
    *address = begin;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return driver_call([&] {
    const auto it = reservations().find(address);
    if (it == reservations().end() || it->second != bytes)
      return explained(CUDA_ERROR_INVALID_VALUE, "cuMemAddressFree: not a reservation");
    for (uintptr_t at = address; at < address + bytes; at += kGranule)
      if (find_block(at) != nullptr)
        return explained(CUDA_ERROR_INVALID_VALUE, "cuMemAddressFree: part of it is mapped");
    reservations().erase(it);
    give_addresses(address, bytes + kGranule);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long) {
  return driver_call([&] { return create(handle, bytes, *properties); });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return driver_call([&] {
    const auto it = physical_memory().find(handle);
    if (it == physical_memory().end() || it->second.released)
      return explained(CUDA_ERROR_INVALID_VALUE, "cuMemRelease: not a handle");
    it->second.released = true;
    destroy_if_unused(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long) {
  return driver_call([&] { return map(address, bytes, offset, handle); });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  return driver_call([&] { return unmap(address, bytes); });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* access,
                        size_t count) {
  return driver_call([&] {
    for (size_t i = 0; i < count; ++i)
      if (const CUresult error = set_access(address, bytes, access[i])) return error;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long) {
  return driver_call([&] {
    const auto it = physical_memory().find(handle);
    if (it == physical_memory().end() || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !it->second.exportable)
      return explained(CUDA_ERROR_INVALID_VALUE, "the memory was not created for export");
    const Physical& memory = it->second;
    const int file = export_place({.file = memory.file,
                                   .device = memory.device,
                                   .offset = memory.offset,
                                   .bytes = memory.bytes});
    if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
    std::memcpy(shareable, &file, sizeof file);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type) {
  return driver_call([&] {
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
    const Place place = import_place(static_cast<int>(reinterpret_cast<intptr_t>(shareable)));
    if (place.file < 0) return explained(CUDA_ERROR_INVALID_VALUE, "not an exported handle");

    *handle = ++handles;
    Physical& memory = physical_memory()[*handle];
    memory.bytes = place.bytes;
    memory.device = place.device;
    memory.file = place.file;
    memory.offset = place.offset;
    memory.imported = true;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
