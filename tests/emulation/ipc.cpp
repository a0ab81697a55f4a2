// Emulated handles for other processes of the machine: of memory and of events.
#include "tests/emulation/ipc.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "tests/emulation/events.h"
#include "tests/emulation/memory.h"
#include "tests/emulation/streams.h"

namespace emulation {

namespace {

/// What the 64 bytes of a handle hold.
struct HandleContent {
  char mark[8];
  Place place;
};
static_assert(sizeof(HandleContent) <= CUDA_IPC_HANDLE_SIZE);

constexpr char kMemoryMark[8] = "emu-mem";
constexpr char kEventMark[8] = "emu-evt";

template <class Handle>
void write_handle(Handle* handle, const char (&mark)[8], const Place& place) {
  HandleContent content = {};
  std::memcpy(content.mark, mark, sizeof content.mark);
  content.place = place;
  *handle = {};
  std::memcpy(handle, &content, sizeof content);
}

template <class Handle>
bool read_handle(const Handle& handle, const char (&mark)[8], Place& place) {
  HandleContent content;
  std::memcpy(static_cast<void*>(&content), &handle, sizeof content);
  place = content.place;
  return std::memcmp(content.mark, mark, sizeof content.mark) == 0;
}

cudaError_t open_memory(void** pointer, const Place& theirs) {
  if (theirs.owner == getpid())
    return refuse(cudaErrorDeviceUninitialized,
                  "memory cannot be opened in the process that shares it");
  const Place place = opened(theirs);
  if (place.file < 0)
    return refuse(cudaErrorMapBufferObjectFailed, "the process that shared the memory has ended");

  const size_t capacity = rounded_up(place.bytes, page_size());
  const uintptr_t begin = take_addresses(capacity + page_size(), page_size());
  if (begin == 0) return cudaErrorMemoryAllocation;
  map_alias(begin, capacity, place.file, place.offset);
  close(place.file);  // the mapping stays
  insert_block({.begin = begin,
                .bytes = place.bytes,
                .capacity = capacity,
                .kind = Kind::Imported,
                .device = place.device});
  *pointer = reinterpret_cast<void*>(begin);
  return cudaSuccess;
}

cudaError_t close_memory(void* pointer) {
  const auto begin = reinterpret_cast<uintptr_t>(pointer);
  const Block* const found = find_block(begin);
  if (found == nullptr || found->kind != Kind::Imported || found->begin != begin)
    return cudaErrorInvalidValue;

  const Block block = *found;
  const std::string user = waiting_user(block.begin, block.capacity);
  if (!user.empty()) return refuse(cudaErrorIllegalState, "shared memory in use closed: " + user);
  erase_block(block.begin);
  unmap_alias(block.begin, block.capacity);
  give_addresses(block.begin, block.capacity + page_size());
  return cudaSuccess;
}

/// A page that processes share, for the counters of an event.
int make_shared_page() {
  const int file = memfd_create("emulated event", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(page_size())) == 0) return file;
  close(file);
  return -1;
}

std::shared_ptr<SharedCounters> map_counters(int file) {
  void* const page = mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) return nullptr;
  return {static_cast<SharedCounters*>(page),
          [](SharedCounters* counters) { munmap(counters, page_size()); }};
}

}  // namespace

Place opened(Place place) {
  const std::string path =
      "/proc/" + std::to_string(place.owner) + "/fd/" + std::to_string(place.file);
  place.file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  return place;
}

int export_place(Place place) {
  if (place.owner == 0) place.owner = getpid();
  const int file = memfd_create("emulated exported memory", MFD_CLOEXEC);
  if (file >= 0 && pwrite(file, &place, sizeof place, 0) == sizeof place) return file;
  if (file >= 0) close(file);
  return -1;
}

Place import_place(int exported) {
  Place place;
  if (pread(exported, &place, sizeof place, 0) != sizeof place) return {};
  return opened(place);
}

bool share_counters(cudaEvent_t event) {
  event->file = make_shared_page();
  event->counters = event->file >= 0 ? map_counters(event->file) : nullptr;
  return event->counters != nullptr;
}

}  // namespace emulation

using namespace emulation;

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return call([&]() -> cudaError_t {
    const auto begin = reinterpret_cast<uintptr_t>(pointer);
    const Block* const block = find_block(begin);
    if (block == nullptr || block->kind != Kind::Device || block->begin != begin)
      return refuse(cudaErrorInvalidValue, "cudaIpcGetMemHandle: not what cudaMalloc returned");
    write_handle(handle, kMemoryMark,
                 {.file = memory_file(),
                  .owner = getpid(),
                  .device = block->device,
                  .offset = block->offset,
                  .bytes = block->bytes});
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned int flags) {
  return call([&]() -> cudaError_t {
    Place place;
    if (flags != cudaIpcMemLazyEnablePeerAccess || !read_handle(handle, kMemoryMark, place))
      return cudaErrorInvalidValue;
    return open_memory(pointer, place);
  });
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return call([&] { return close_memory(pointer); });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return call([&]() -> cudaError_t {
    if (!is_event(event) || event->counters == nullptr) return cudaErrorInvalidResourceHandle;
    write_handle(handle, kEventMark,
                 {.file = event->file, .owner = getpid(), .device = event->device});
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return call([&]() -> cudaError_t {
    Place place;
    if (!read_handle(handle, kEventMark, place)) return cudaErrorInvalidValue;
    if (place.owner == getpid()) return cudaErrorDeviceUninitialized;
    const Place here = opened(place);
    const std::shared_ptr<SharedCounters> counters =
        here.file >= 0 ? map_counters(here.file) : nullptr;
    if (counters == nullptr)
      return refuse(cudaErrorMapBufferObjectFailed, "the process that shared the event has ended");

    *event = add_event(current_device().index, cudaEventInterprocess | cudaEventDisableTiming);
    (*event)->file = here.file;
    (*event)->counters = counters;
    return cudaSuccess;
  });
}

}  // extern "C"
