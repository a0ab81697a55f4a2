// Emulated device and pinned memory: addresses, aliases, allocation.
#include "tests/emulation/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <iterator>
#include <map>

#include "tests/emulation/streams.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) static_cast<void>(0)
#endif

namespace emulation {

namespace {

constexpr size_t kGiB = size_t{1} << 30;
constexpr int kFresh = 0xFF;  // NaN as floats, -1 as integers

/// The ranges of Note [Addresses] and the file behind them.
struct AddressSpace {
  uintptr_t begin = 0;
  size_t bytes = 0;
  ptrdiff_t to_alias = 0;  // alias = address + to_alias
  int file = -1;
};

uintptr_t reserve(uintptr_t wanted, size_t bytes) {
  void* const range = mmap(reinterpret_cast<void*>(wanted), bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return range == MAP_FAILED ? 0 : reinterpret_cast<uintptr_t>(range);
}

AddressSpace make_space() {
  AddressSpace space;
  // An address of which no half looks like a usual number, so that few integers are mistaken for
  // device addresses when arguments are scanned. Smaller where the process may not reserve much.
  for (size_t bytes = 256 * kGiB; bytes >= 2 * kGiB; bytes /= 2) {
    space.begin = reserve(0x2b5d'0000'0000, bytes);
    const uintptr_t alias = space.begin != 0 ? reserve(0x3b5d'0000'0000, bytes) : 0;
    if (alias != 0) {
      space.bytes = bytes;
      space.to_alias = static_cast<ptrdiff_t>(alias - space.begin);
      break;
    }
    if (space.begin != 0) munmap(reinterpret_cast<void*>(space.begin), bytes);
  }
  space.file = memfd_create("emulated device memory", MFD_CLOEXEC);
  if (space.bytes == 0 || space.file < 0 ||
      ftruncate(space.file, static_cast<off_t>(space.bytes * 2)))
    return {};
  return space;
}

const AddressSpace& space() {
  static const AddressSpace& only = *new AddressSpace(make_space());
  return only;
}

/// Free stretches of something that is counted in bytes; first fit.
class FreeList {
 public:
  FreeList(uintptr_t begin, size_t bytes) { free_[begin] = bytes; }

  uintptr_t take(size_t bytes, size_t alignment) {
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const uintptr_t begin = rounded_up(it->first, alignment);
      const uintptr_t end = it->first + it->second;
      if (begin + bytes > end) continue;

      const size_t before = begin - it->first;
      if (begin + bytes < end) free_[begin + bytes] = end - (begin + bytes);
      if (before != 0) it->second = before;
      else free_.erase(it);
      return begin;
    }
    return 0;
  }

  void give(uintptr_t begin, size_t bytes) {
    auto [it, inserted] = free_.emplace(begin, bytes);
    const auto next = std::next(it);
    if (next != free_.end() && it->first + it->second == next->first) {
      it->second += next->second;
      free_.erase(next);
    }
    if (it == free_.begin()) return;

    const auto before = std::prev(it);
    if (before->first + before->second != it->first) return;
    before->second += it->second;
    free_.erase(it);
  }

 private:
  std::map<uintptr_t, size_t> free_;
};

FreeList& addresses() {
  static FreeList& list = *new FreeList(space().begin, space().bytes);
  return list;
}

FreeList& physical() {
  static FreeList& list = *new FreeList(space().bytes, space().bytes);
  return list;
}

std::map<uintptr_t, Block>& blocks() {
  static std::map<uintptr_t, Block>& all = *new std::map<uintptr_t, Block>;
  return all;
}

uint64_t serials = 0;

/// Fills the bytes after the end of a block, so that a write there is seen when it is freed.
void write_canary(uint8_t* begin, size_t used, size_t capacity) {
  std::memset(begin + used, 0xC5, capacity - used);
  ASAN_POISON_MEMORY_REGION(begin + used, capacity - used);
}

bool canary_is_whole(uint8_t* begin, size_t used, size_t capacity) {
  ASAN_UNPOISON_MEMORY_REGION(begin, capacity);
  for (size_t i = used; i < capacity; ++i)
    if (begin[i] != 0xC5) return false;
  return true;
}

cudaError_t allocate(void** pointer, size_t bytes) {
  Device& device = current_device();
  const size_t capacity = rounded_up(bytes, page_size());
  if (device.used_memory + capacity > device.total_memory) return cudaErrorMemoryAllocation;
  // One page more, which nobody gets: the guard between blocks.
  const uintptr_t begin = take_addresses(capacity + page_size(), page_size());
  if (begin == 0) return cudaErrorMemoryAllocation;

  const size_t offset = begin - space().begin;
  map_alias(begin, capacity, space().file, offset);
  auto* const alias = static_cast<uint8_t*>(readable(reinterpret_cast<void*>(begin)));
  std::memset(alias, kFresh, bytes);
  write_canary(alias, bytes, capacity);

  insert_block({.begin = begin,
                .bytes = bytes,
                .capacity = capacity,
                .device = device.index,
                .offset = offset});
  device.used_memory += capacity;
  *pointer = reinterpret_cast<void*>(begin);
  return cudaSuccess;
}

cudaError_t release(void* pointer) {
  const auto it = blocks().find(reinterpret_cast<uintptr_t>(pointer));
  if (it == blocks().end() || it->second.kind != Kind::Device)
    return refuse(cudaErrorInvalidValue, "cudaFree of what cudaMalloc did not return");

  // CUDA waits here for the device; a program that relies on it gets no concurrency.
  Block block = it->second;
  const std::string user = waiting_user(block.begin, block.capacity);
  if (!user.empty()) return refuse(cudaErrorIllegalState, "cudaFree of memory in use: " + user);

  auto* const alias = static_cast<uint8_t*>(readable(pointer));
  const bool whole = canary_is_whole(alias, block.bytes, block.capacity);
  erase_block(block.begin);
  unmap_alias(block.begin, block.capacity);
  fallocate(space().file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(block.offset), static_cast<off_t>(block.capacity));
  give_addresses(block.begin, block.capacity + page_size());
  devices()[static_cast<size_t>(block.device)].used_memory -= block.capacity;
  if (whole) return cudaSuccess;

  const std::string text =
      "something wrote behind the end of a block of " + std::to_string(block.bytes) + " bytes";
  fault(block.device, cudaErrorIllegalAddress, text);
  return refuse(cudaErrorIllegalAddress, text);
}

cudaError_t release_host(void* pointer, Kind kind) {
  const auto it = blocks().find(reinterpret_cast<uintptr_t>(pointer));
  if (it == blocks().end() || it->second.kind != kind)
    return kind == Kind::Pinned ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered;

  const Block block = it->second;
  const std::string user = waiting_user(block.begin, block.capacity);
  if (!user.empty()) return refuse(cudaErrorIllegalState, "pinned memory in use freed: " + user);
  erase_block(block.begin);
  if (kind == Kind::Pinned) munmap(pointer, block.capacity + page_size());
  return cudaSuccess;
}

cudaError_t allocate_pinned(void** pointer, size_t bytes) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const size_t capacity = rounded_up(bytes, page_size());
  void* const begin = mmap(nullptr, capacity + page_size(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) return cudaErrorMemoryAllocation;

  mprotect(static_cast<uint8_t*>(begin) + capacity, page_size(), PROT_NONE);
  std::memset(begin, kFresh, capacity);
  insert_block({.begin = reinterpret_cast<uintptr_t>(begin),
                .bytes = bytes,
                .capacity = capacity,
                .kind = Kind::Pinned,
                .device = current_device().index});
  *pointer = begin;
  return cudaSuccess;
}

cudaError_t register_host(void* pointer, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(pointer);
  if (begin == 0 || bytes == 0 || is_device_address(begin)) return cudaErrorInvalidValue;
  const auto next = blocks().lower_bound(begin);
  const bool overlaps =
      find_block(begin) != nullptr || (next != blocks().end() && next->first < begin + bytes);
  if (overlaps) return cudaErrorHostMemoryAlreadyRegistered;

  insert_block({.begin = begin,
                .bytes = bytes,
                .capacity = bytes,
                .kind = Kind::Registered,
                .device = current_device().index});
  return cudaSuccess;
}

std::string hexadecimal(uintptr_t address) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%zx", static_cast<size_t>(address));
  return text;
}

bool may_access(const Block& block, int device) {
  if (!on_device(block)) return true;
  if (block.kind == Kind::Mapped && device < 0) return block.readers != 0;
  if (device < 0) return true;
  if (block.kind == Kind::Mapped) return (block.readers >> device & 1) != 0;
  return block.device == device ||
         devices()[static_cast<size_t>(device)].peers.count(block.device) != 0;
}

}  // namespace

size_t page_size() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

size_t rounded_up(size_t bytes, size_t granule) {
  return (bytes + granule - 1) / granule * granule;
}

int memory_file() { return space().file; }
uintptr_t take_addresses(size_t bytes, size_t alignment) {
  return space().bytes != 0 ? addresses().take(bytes, alignment) : 0;
}
void give_addresses(uintptr_t begin, size_t bytes) { addresses().give(begin, bytes); }
size_t take_physical(size_t bytes) { return physical().take(bytes, page_size()); }
void give_physical(size_t offset, size_t bytes) {
  fallocate(space().file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(bytes));
  physical().give(offset, bytes);
}

void map_alias(uintptr_t address, size_t bytes, int file, size_t offset) {
  void* const alias = readable(reinterpret_cast<void*>(address));
  if (mmap(alias, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
           static_cast<off_t>(offset)) == MAP_FAILED)
    std::abort();
}

void unmap_alias(uintptr_t address, size_t bytes) {
  void* const alias = readable(reinterpret_cast<void*>(address));
  ASAN_UNPOISON_MEMORY_REGION(alias, bytes);
  if (mmap(alias, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0) == MAP_FAILED)
    std::abort();
}

void insert_block(const Block& block) {
  Block& inserted = blocks()[block.begin] = block;
  inserted.serial = ++serials;
}

void change_block(const Block& block) { blocks()[block.begin] = block; }

void erase_block(uintptr_t begin) { blocks().erase(begin); }

bool is_device_address(uintptr_t address) { return address - space().begin < space().bytes; }

const Block* find_block(uintptr_t address) {
  auto it = blocks().upper_bound(address);
  if (it == blocks().begin()) return nullptr;
  --it;
  return address - it->first < it->second.bytes ? &it->second : nullptr;
}

std::string problem_with(uintptr_t address, size_t bytes, int device) {
  const uintptr_t end = address + bytes;
  for (uintptr_t at = address; at < end;) {
    const Block* const block = find_block(at);
    if (block == nullptr && !is_device_address(at)) return "";  // pageable host memory
    if (block == nullptr)
      return hexadecimal(at) + " is not allocated (" + std::to_string(at - address) +
             " bytes behind the beginning of " + std::to_string(bytes) + ")";

    if (!may_access(*block, device) && device < 0)
      return hexadecimal(at) + " is mapped, but no device was given access";
    if (!may_access(*block, device))
      return hexadecimal(at) + " belongs to device " + std::to_string(block->device) +
             ", which device " + std::to_string(device) + " has no access to";

    at = block->begin + block->bytes;
  }
  return "";
}

std::string waiting_user(uintptr_t begin, size_t bytes) {
  for (const Device& device : devices())
    for (const cudaStream_t stream : device.streams)
      for (const Operation& operation : stream->queue)
        for (const Use& use : operation.uses)
          if (use.begin < begin + bytes && begin < use.begin + std::max<size_t>(use.bytes, 1))
            return std::string(operation.name) + " waits in stream " + std::to_string(stream->id) +
                   " of device " + std::to_string(stream->device);
  return "";
}

void* readable(const void* address) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  return reinterpret_cast<void*>(
      is_device_address(begin) ? begin + static_cast<uintptr_t>(space().to_alias) : begin);
}

}  // namespace emulation

using namespace emulation;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return call([&]() -> cudaError_t {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (const cudaError_t error = refuse_while_capturing("cudaMalloc")) return error;
    return allocate(pointer, bytes);
  });
}

cudaError_t cudaFree(void* pointer) {
  return call([&]() -> cudaError_t {
    if (pointer == nullptr) return cudaSuccess;
    if (const cudaError_t error = refuse_while_capturing("cudaFree")) return error;
    return release(pointer);
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&] {
    const Device& device = current_device();
    *total = device.total_memory;
    *free = device.total_memory - device.used_memory;
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int) {
  return call([&]() -> cudaError_t {
    if (const cudaError_t error = refuse_while_capturing("cudaHostAlloc")) return error;
    return allocate_pinned(pointer, bytes);
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return call([&]() -> cudaError_t {
    if (pointer == nullptr) return cudaSuccess;
    if (const cudaError_t error = refuse_while_capturing("cudaFreeHost")) return error;
    return release_host(pointer, Kind::Pinned);
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int) {
  return call([&] { return register_host(pointer, bytes); });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call([&] { return release_host(pointer, Kind::Registered); });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int) {
  return call([&]() -> cudaError_t {
    const Block* const block = find_block(reinterpret_cast<uintptr_t>(host));
    if (block == nullptr || on_device(*block)) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call([&]() -> cudaError_t {
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, const_cast<void*>(pointer)};
    const Block* const block = find_block(reinterpret_cast<uintptr_t>(pointer));
    if (block == nullptr) return cudaSuccess;

    attributes->type = on_device(*block) ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
    attributes->device = block->device;
    attributes->devicePointer = const_cast<void*>(pointer);
    if (on_device(*block)) attributes->hostPointer = nullptr;
    return cudaSuccess;
  });
}

}  // extern "C"
