// Two devices in one process: their memory is mapped twice. Tensors know the first mapping, which
// nobody may read or write, as the memory of a real device is out of the host's reach; kernels and
// copies use the second one. Whatever touches a tensor's memory without asking the device ends in a
// segmentation fault.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

#include "Memory.h"
#include "c10/util/Exception.h"

namespace at::native::walled {

namespace {

constexpr int kDevices = 2;
constexpr size_t kBytes = size_t{1} << 30;  // of one device; pages are made when they are used
constexpr size_t kAlignment = 64;

/// The memory of one device: free blocks by their place, the first that fits is used.
class Arena {
 public:
  Arena() {
    const int file = memfd_create("walled", MFD_CLOEXEC);
    TORCH_CHECK(file >= 0 && ftruncate(file, kBytes) == 0, "walled: no memory for a device");
    outside_ = static_cast<char*>(mmap(nullptr, kBytes, PROT_NONE, MAP_SHARED, file, 0));
    inside_ =
        static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    close(file);
    TORCH_CHECK(outside_ != MAP_FAILED && inside_ != MAP_FAILED, "walled: no address space");
    free_[0] = kBytes;
  }

  void* allocate(size_t bytes) {
    const size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const std::lock_guard lock(mutex_);
    for (auto block = free_.begin(); block != free_.end(); ++block) {
      const auto [start, length] = *block;
      if (length < size) continue;

      free_.erase(block);
      if (length > size) free_[start + size] = length - size;
      used_[start] = size;
      return outside_ + start;
    }
    TORCH_CHECK(false, "walled: out of memory: ", bytes, " bytes were asked for");
  }

  void release(void* data) {
    const std::lock_guard lock(mutex_);
    auto used = used_.find(static_cast<size_t>(static_cast<char*>(data) - outside_));
    auto block = free_.emplace(used->first, used->second).first;
    used_.erase(used);

    // Neighbours that are free join it.
    if (auto next = std::next(block);
        next != free_.end() && block->first + block->second == next->first) {
      block->second += next->second;
      free_.erase(next);
    }
    if (block == free_.begin()) return;
    if (auto before = std::prev(block); before->first + before->second == block->first) {
      before->second += block->second;
      free_.erase(block);
    }
  }

  /// The second mapping of an address of the first one; null for other addresses.
  char* inside(const char* address) const {
    return address >= outside_ && address < outside_ + kBytes ? inside_ + (address - outside_)
                                                              : nullptr;
  }

 private:
  char* outside_ = nullptr;
  char* inside_ = nullptr;
  std::mutex mutex_;
  std::map<size_t, size_t> free_;  // start -> bytes
  std::map<size_t, size_t> used_;
};

Arena& arena(int device) {
  static auto* const arenas = new Arena[kDevices];  // as long-lived as the tensors of the process
  return arenas[device];
}

}  // namespace

char* inside(const void* address) {
  const auto* given = static_cast<const char*>(address);
  for (int device = 0; device < kDevices; ++device)
    if (char* const found = arena(device).inside(given)) return found;
  return const_cast<char*>(given);
}

int device_count() { return kDevices; }

void* allocate(size_t bytes, int device) { return arena(device).allocate(bytes); }

void release(void* data, int device) { arena(device).release(data); }

void copy_bytes(void* to, Device, const void* from, Device, size_t bytes) {
  std::memmove(inside(to), inside(from), bytes);
}

}  // namespace at::native::walled
