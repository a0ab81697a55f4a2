// Device memory for other processes: handles of segments, descriptors of granules.
#include "c10/cuda/Sharing.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "c10/cuda/Memory.h"
#include "c10/cuda/Runtime.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

constexpr size_t kGranule = size_t{2} << 20;

/// The driver's functions, looked up when first needed.
struct Driver {
  decltype(&cuMemExportToShareableHandle) export_handle;
  decltype(&cuMemImportFromShareableHandle) import_handle;
  decltype(&cuMemAddressReserve) reserve;
  decltype(&cuMemAddressFree) free_addresses;
  decltype(&cuMemMap) map;
  decltype(&cuMemUnmap) unmap;
  decltype(&cuMemSetAccess) set_access;
  decltype(&cuMemRelease) release;
};

template <class Function>
void look_up(Function& function, const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  C10_CUDA_CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, 0, &result));
  TORCH_CHECK(result == cudaDriverEntryPointSuccess, "the CUDA driver has no ", name);
  function = reinterpret_cast<Function>(found);
}

const Driver& driver() {
  static const Driver only = [] {
    Driver found;
    look_up(found.export_handle, "cuMemExportToShareableHandle");
    look_up(found.import_handle, "cuMemImportFromShareableHandle");
    look_up(found.reserve, "cuMemAddressReserve");
    look_up(found.free_addresses, "cuMemAddressFree");
    look_up(found.map, "cuMemMap");
    look_up(found.unmap, "cuMemUnmap");
    look_up(found.set_access, "cuMemSetAccess");
    look_up(found.release, "cuMemRelease");
    return found;
  }();
  return only;
}

void check(CUresult status, const char* what) {
  TORCH_CHECK(status == CUDA_SUCCESS, "CUDA error ", static_cast<int>(status), " in ", what);
}

// --- The text of a handle: 'S' and CUDA's handle, or 'G', the process and descriptors ---

struct Descriptors {
  int32_t process = 0;
  std::vector<int32_t> files;
};

std::string text_of(const Descriptors& descriptors) {
  std::string text = "G";
  text.append(reinterpret_cast<const char*>(&descriptors.process), sizeof(int32_t));
  text.append(reinterpret_cast<const char*>(descriptors.files.data()),
              descriptors.files.size() * sizeof(int32_t));
  return text;
}

Descriptors descriptors_of(const std::string& text) {
  TORCH_CHECK(text.size() % sizeof(int32_t) == 1 && text.size() > 2 * sizeof(int32_t),
              "not a handle of device memory");
  Descriptors descriptors;
  std::memcpy(&descriptors.process, text.data() + 1, sizeof(int32_t));
  descriptors.files.resize(text.size() / sizeof(int32_t) - 1);
  std::memcpy(descriptors.files.data(), text.data() + 1 + sizeof(int32_t),
              descriptors.files.size() * sizeof(int32_t));
  return descriptors;
}

// --- What this process shares ---

struct Exports {
  std::mutex mutex;
  std::map<uint64_t, int> file_of_granule;
};

Exports& exports() {
  static Exports& all = *new Exports;
  return all;
}

int exported(uint64_t granule) {
  Exports& all = exports();
  const std::lock_guard lock(all.mutex);
  const auto known = all.file_of_granule.find(granule);
  if (known != all.file_of_granule.end()) return known->second;

  int file = -1;
  check(driver().export_handle(&file, granule, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        "cuMemExportToShareableHandle");
  all.file_of_granule[granule] = file;
  return file;
}

SharedBlock share_granules(const Segment& segment, size_t offset, size_t bytes) {
  const size_t first = offset / kGranule;
  const size_t last = (offset + bytes - 1) / kGranule;
  TORCH_CHECK(last < segment.granules.size(), "memory outside of its segment");

  Descriptors descriptors;
  descriptors.process = static_cast<int32_t>(getpid());
  for (size_t i = first; i <= last; ++i) descriptors.files.push_back(exported(segment.granules[i]));
  return {text_of(descriptors), offset - first * kGranule, bytes};
}

// --- What other processes share ---

/// A mapping, used by any number of tensors.
struct Opened {
  std::string key;
  DeviceIndex device = 0;
  void* base = nullptr;
  size_t bytes = 0;  // of granules; 0 for a segment
  size_t uses = 0;
};

struct Imports {
  std::mutex mutex;
  std::map<std::string, Opened> opened;
};

Imports& imports() {
  static Imports& all = *new Imports;
  return all;
}

/// Our descriptor for a file of another process.
int taken_from(const Descriptors& descriptors, int32_t file) {
  const long process = syscall(SYS_pidfd_open, descriptors.process, 0);
  TORCH_CHECK(process >= 0, "the process that shared the memory has ended");
  const long own = syscall(SYS_pidfd_getfd, process, file, 0);
  const int reason = errno;
  close(static_cast<int>(process));
  TORCH_CHECK(own >= 0, "device memory of process ", descriptors.process,
              " cannot be opened: ", std::strerror(reason),
              "; the system must let processes of one user inspect each other "
              "(kernel.yama.ptrace_scope=0, or prctl(PR_SET_PTRACER) there)");
  return static_cast<int>(own);
}

CUmemGenericAllocationHandle imported(const Descriptors& descriptors, int32_t file) {
  const int own = taken_from(descriptors, file);
  CUmemGenericAllocationHandle granule = 0;
  const CUresult status =
      driver().import_handle(&granule, reinterpret_cast<void*>(static_cast<intptr_t>(own)),
                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  close(own);
  check(status, "cuMemImportFromShareableHandle");
  return granule;
}

void map_granules(Opened& opened, const Descriptors& descriptors) {
  const size_t bytes = descriptors.files.size() * kGranule;
  CUdeviceptr range = 0;
  check(driver().reserve(&range, bytes, 0, 0, 0), "cuMemAddressReserve");
  opened.base = reinterpret_cast<void*>(range);
  opened.bytes = bytes;

  for (const int32_t file : descriptors.files) {
    const CUmemGenericAllocationHandle granule = imported(descriptors, file);
    const CUresult status = driver().map(range, kGranule, 0, granule, 0);
    driver().release(granule);  // the mapping keeps the memory
    check(status, "cuMemMap");
    range += kGranule;
  }

  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = opened.device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  check(driver().set_access(reinterpret_cast<CUdeviceptr>(opened.base), bytes, &access, 1),
        "cuMemSetAccess");
}

void open_segment(Opened& opened, const std::string& text) {
  cudaIpcMemHandle_t handle;
  TORCH_CHECK(text.size() == 1 + sizeof handle, "not a handle of device memory");
  std::memcpy(&handle, text.data() + 1, sizeof handle);
  C10_CUDA_CHECK(cudaIpcOpenMemHandle(&opened.base, handle, cudaIpcMemLazyEnablePeerAccess));
}

void unmap(const Opened& opened) {
  const SelectedDevice guard(opened.device);
  C10_CUDA_IGNORE(cudaDeviceSynchronize());
  if (opened.bytes == 0) {
    C10_CUDA_IGNORE(cudaIpcCloseMemHandle(opened.base));
    return;
  }
  const auto begin = reinterpret_cast<CUdeviceptr>(opened.base);
  for (size_t at = 0; at < opened.bytes; at += kGranule) driver().unmap(begin + at, kGranule);
  driver().free_addresses(begin, opened.bytes);
}

/// The deleter of opened memory.
void close_one(void* context) {
  Imports& all = imports();
  const std::lock_guard lock(all.mutex);
  auto* const opened = static_cast<Opened*>(context);
  if (--opened->uses > 0) return;
  unmap(*opened);
  all.opened.erase(std::string(opened->key));
}

}  // namespace

SharedBlock share_memory(const DataPtr& data, size_t bytes) {
  TORCH_CHECK(bytes > 0, "there is nothing to share in an empty storage");
  const SelectedDevice guard(data.device().index);
  const Segment segment = segment_of(data.get(), bytes);
  const auto offset = static_cast<size_t>(static_cast<const char*>(data.get()) -
                                          static_cast<const char*>(segment.begin));
  if (!segment.granules.empty()) return share_granules(segment, offset, bytes);

  cudaIpcMemHandle_t handle;
  C10_CUDA_CHECK(cudaIpcGetMemHandle(&handle, segment.begin));
  std::string text = "S";
  text.append(reinterpret_cast<const char*>(&handle), sizeof handle);
  return {std::move(text), offset, bytes};
}

DataPtr open_memory(DeviceIndex device, const SharedBlock& block) {
  Imports& all = imports();
  const std::lock_guard lock(all.mutex);
  const SelectedDevice guard(device);
  const std::string key = std::to_string(device) + ":" + block.handle;

  Opened& opened = all.opened[key];
  if (opened.uses == 0) {
    opened.key = key;
    opened.device = device;
    try {
      if (!block.handle.empty() && block.handle[0] == 'G')
        map_granules(opened, descriptors_of(block.handle));
      else open_segment(opened, block.handle);
    } catch (...) {
      if (opened.base != nullptr) unmap(opened);
      all.opened.erase(key);
      throw;
    }
  }
  opened.uses += 1;
  return DataPtr(static_cast<char*>(opened.base) + block.offset, &opened, &close_one,
                 Device(DeviceType::CUDA, device));
}

void forget_shared_granule(uint64_t granule) noexcept {
  Exports& all = exports();
  const std::lock_guard lock(all.mutex);
  const auto known = all.file_of_granule.find(granule);
  if (known == all.file_of_granule.end()) return;
  close(known->second);
  all.file_of_granule.erase(known);
}

}  // namespace c10::cuda
