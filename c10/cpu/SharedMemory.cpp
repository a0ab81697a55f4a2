// Segments of shared memory: creation, mapping, exchange of a storage's memory.
#include "c10/cpu/SharedMemory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "c10/util/Exception.h"

// Note [Shared memory]
// A segment is a file of memfd_create: it has no name, travels to another process as a descriptor,
// and goes with its last descriptor and mapping, however processes end. Its size is sealed, so that
// no other process can cut off pages that this one reads. Systems without memfd get a file in
// /dev/shm whose name is removed before anything is written to it.
//
// A process maps a segment once: `open` finds an existing mapping of the inode. Tensors on one
// memory in the sending process are therefore tensors on one memory here, whichever way each of
// them took. Tested in tests/torch_py/multiprocessing/test_shared_memory.py.

namespace c10 {

namespace {

using Inode = std::pair<uint64_t, uint64_t>;

/// Mappings of this process by inode. Never destroyed: storages are also freed after static
/// destructors have run.
struct Mappings {
  std::mutex mutex;
  std::map<Inode, std::weak_ptr<SharedSegment>> segments;
  std::atomic<uint64_t> forks{0};
  /// Held while a storage is copied to a segment. A fork does not wait for it, because the copying
  /// thread may wait for something that the forking one holds. The child, which does not have that
  /// thread, gets a new mutex.
  std::mutex sharing;

  static Mappings& get() {
    static Mappings* const mappings = [] {
      auto* fresh = new Mappings;
      // Before a fork, then in the parent, then in the child.
      pthread_atfork([] { get().mutex.lock(); },
                     [] {
                       ++get().forks;
                       get().mutex.unlock();
                     },
                     [] {
                       ++get().forks;
                       get().mutex.unlock();
                       new (&get().sharing) std::mutex;
                     });
      return fresh;
    }();
    return *mappings;
  }
};

std::string system_error(int number) {
  return std::string(std::strerror(number)) + " (errno " + std::to_string(number) + ")";
}

/// Owns a descriptor until someone takes it.
struct Descriptor {
  int value;
  explicit Descriptor(int value) : value(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
  int release() { return std::exchange(value, -1); }
};

/// A file in /dev/shm without a name; -1 with errno set on failure.
int create_named_and_unlink() {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name =
        "/torch_py_" + std::to_string(getpid()) + "_" + std::to_string(counter++);
    const int descriptor = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (descriptor >= 0) {
      shm_unlink(name.c_str());
      return descriptor;
    }
    if (errno != EEXIST) return -1;
  }
  return -1;
}

/// A file in memory; -1 with errno set on failure.
int create_file() {
#ifdef MFD_ALLOW_SEALING
  const int descriptor = memfd_create("torch_py", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  // An old kernel, or a filter of system calls.
  const bool is_missing = errno == ENOSYS || errno == EPERM || errno == EINVAL;
  if (descriptor >= 0 || !is_missing) return descriptor;
#endif
  return create_named_and_unlink();
}

/// Works in steps, because a signal interrupts a call: only the step in progress is repeated.
int allocate_pages(int descriptor, size_t bytes) {
  constexpr size_t kStep = size_t{16} << 20;
  for (size_t start = 0; start < bytes;) {
    const size_t length = std::min(kStep, bytes - start);
    const int failure =
        posix_fallocate(descriptor, static_cast<off_t>(start), static_cast<off_t>(length));
    if (failure == EINTR) continue;
    if (failure != 0) return failure;
    start += length;
  }
  return 0;
}

void set_size(int descriptor, size_t bytes) {
  // Too large a request would make the system look for pages until it has none left, and end this
  // process or another one.
  const size_t memory =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  TORCH_CHECK_WITH(OutOfMemoryError, bytes <= memory, "shared memory: cannot allocate ", bytes,
                   " bytes: this machine has ", memory);

  // Take the pages now: if there are not enough, this is an error rather than a SIGBUS at the first
  // write.
  const int failure = allocate_pages(descriptor, bytes);
  TORCH_CHECK_WITH(OutOfMemoryError, failure == 0, "shared memory: cannot allocate ", bytes,
                   " bytes: ", system_error(failure));
#ifdef F_ADD_SEALS
  // A plain file has no seals; then this fails and changes nothing.
  fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
#endif
}

struct SharedContext {
  std::shared_ptr<SharedSegment> segment;
  DataPtr before;  // the storage's earlier memory, which NumPy arrays may still use
};

void release_shared(void* context) { delete static_cast<SharedContext*>(context); }

DataPtr data_on_segment(std::shared_ptr<SharedSegment> segment, DataPtr before) {
  void* const data = segment->data();
  return DataPtr(data, new SharedContext{std::move(segment), std::move(before)}, &release_shared,
                 kCPU);
}

}  // namespace

SharedSegment::SharedSegment(int descriptor, size_t bytes, bool populate)
    : descriptor_(descriptor), bytes_(bytes) {
  int flags = MAP_SHARED;
#ifdef MAP_POPULATE
  if (populate) flags |= MAP_POPULATE;
#endif

  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  const int failure = errno;
  if (data == MAP_FAILED) ::close(descriptor);
  TORCH_CHECK_WITH(OutOfMemoryError, data != MAP_FAILED, "shared memory: cannot map ", bytes,
                   " bytes: ", system_error(failure));
  data_ = data;
}

SharedSegment::~SharedSegment() {
  Mappings& mappings = Mappings::get();
  {
    const std::lock_guard lock(mappings.mutex);
    const auto found = mappings.segments.find({device_, inode_});
    if (found != mappings.segments.end() && found->second.expired()) mappings.segments.erase(found);
  }
  munmap(data_, bytes_);
  close_descriptor();
}

void SharedSegment::close_descriptor() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

std::shared_ptr<SharedSegment> SharedSegment::create(size_t bytes, bool populate) {
  Descriptor file(create_file());
  TORCH_CHECK(file.value >= 0, "shared memory: cannot create a segment of ", bytes,
              " bytes: ", system_error(errno));
  bytes = std::max<size_t>(bytes, 1);
  set_size(file.value, bytes);
  return open(file.release(), bytes, populate);
}

std::shared_ptr<SharedSegment> SharedSegment::open(int descriptor, size_t bytes, bool populate) {
  Descriptor file(descriptor);
  struct stat status;
  TORCH_CHECK(fstat(descriptor, &status) == 0, "shared memory: descriptor ", descriptor, ": ",
              system_error(errno));
  const auto size = static_cast<size_t>(status.st_size);
  TORCH_CHECK(size >= std::max<size_t>(bytes, 1), "shared memory: the segment has ", size,
              " bytes, ", bytes, " were expected");

  const Inode inode{status.st_dev, status.st_ino};
  Mappings& mappings = Mappings::get();
  const std::lock_guard lock(mappings.mutex);
  std::weak_ptr<SharedSegment>& known = mappings.segments[inode];
  if (auto segment = known.lock()) {
    if (segment->descriptor_ < 0) segment->descriptor_ = file.release();
    return segment;
  }

  std::shared_ptr<SharedSegment> segment;
  try {
    segment.reset(new SharedSegment(file.release(), size, populate));
  } catch (...) {
    mappings.segments.erase(inode);
    throw;
  }

  segment->device_ = inode.first;
  segment->inode_ = inode.second;
  known = segment;
  return segment;
}

std::shared_ptr<SharedSegment> shared_segment(const StorageImpl& storage) {
  if (storage.data.deleter() != &release_shared) return nullptr;
  return static_cast<SharedContext*>(storage.data.context())->segment;
}

std::shared_ptr<SharedSegment> copy_to_segment(const StorageImpl& storage) {
  TORCH_CHECK(storage.device().is_cpu(),
              "share_memory_: only memory on the CPU can be shared, got a storage on device '",
              storage.device(), "'");
  // Tensors may reach behind the end of a storage that has shrunk.
  auto segment = SharedSegment::create(storage.capacity);
  if (storage.capacity > 0) std::memcpy(segment->data(), storage.data.get(), storage.capacity);
  return segment;
}

DataPtr move_to_segment(StorageImpl& storage, std::shared_ptr<SharedSegment> segment) {
  // Exported (or imported) memory may have other readers; they keep the storage alive, but not its
  // data.
  const bool is_exported = !storage.resizable();
  DataPtr before = std::move(storage.data);
  DataPtr shared = data_on_segment(std::move(segment), is_exported ? std::move(before) : DataPtr());

  storage.data = std::move(shared);
  storage.allocator = nullptr;
  return before;
}

std::mutex& sharing_mutex() { return Mappings::get().sharing; }

Storage storage_on_segment(std::shared_ptr<SharedSegment> segment, size_t bytes) {
  TORCH_CHECK(bytes <= segment->bytes(), "shared memory: the segment has ", segment->bytes(),
              " bytes, ", bytes, " were expected");
  return make_intrusive<StorageImpl>(data_on_segment(std::move(segment), DataPtr()), bytes,
                                     nullptr);
}

uint64_t fork_generation() { return Mappings::get().forks.load(std::memory_order_relaxed); }

}  // namespace c10
