// Tensors whose memory is a mapped file.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "aten/native/declarations/creation/FileTensor.h"
#include "aten/ops/empty.h"

namespace at::native {

namespace {

/// A mapping and its length, unmapped when the storage is freed.
struct Mapping {
  void* start;
  size_t length;
};

void unmap(void* context) {
  auto* mapping = static_cast<Mapping*>(context);
  ::munmap(mapping->start, mapping->length);
  delete mapping;
}

/// An open file, closed at the end of its scope; a mapping stays valid without it.
class OpenFile {
 public:
  OpenFile(const std::string& name, bool writable) : name_(name) {
    descriptor_ =
        ::open(name.c_str(), writable ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0600);
    TORCH_CHECK(descriptor_ >= 0, "unable to open file <", name, "> in ",
                writable ? "read-write" : "read-only", " mode: ", std::strerror(errno), " (", errno,
                ")");
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// Makes sure that the file has at least `bytes`; one that is too short is extended if `grow`.
  void require(int64_t bytes, bool grow) const {
    struct stat status{};
    TORCH_CHECK(::fstat(descriptor_, &status) == 0, "unable to stat the file <", name_,
                ">: ", std::strerror(errno), " (", errno, ")");

    if (status.st_size >= bytes) return;
    TORCH_CHECK(grow, "file <", name_, "> size <", status.st_size,
                "> is smaller than the required mapping size <", bytes, ">");
    TORCH_CHECK(::ftruncate(descriptor_, bytes) == 0, "unable to resize file <", name_,
                "> to the right size: ", std::strerror(errno), " (", errno, ")");
  }

  void* map(int64_t bytes, bool shared) const {
    void* start = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                         shared ? MAP_SHARED : MAP_PRIVATE, descriptor_, 0);
    TORCH_CHECK(start != MAP_FAILED, "unable to mmap ", bytes, " bytes from file <", name_,
                ">: ", std::strerror(errno), " (", errno, ")");
    return start;
  }

 private:
  std::string name_;
  int descriptor_;
};

}  // namespace

Tensor from_file(std::string_view filename, std::optional<bool> shared, std::optional<int64_t> size,
                 std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory) {
  TORCH_CHECK(!pin_memory.value_or(false),
              "from_file(): tensors constructed from a file cannot be pinned");
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(Layout::Strided) == Layout::Strided,
                              "from_file: layout ", layout_name(*layout), " is not available");
  TORCH_CHECK_NOT_IMPLEMENTED(device.value_or(kCPU).is_cpu(),
                              "from_file(): files are mapped into CPU memory, got device ",
                              *device);

  const int64_t count = size.value_or(0);
  const ScalarType type = dtype.value_or(default_dtype());
  int64_t bytes = 0;
  TORCH_CHECK(count >= 0 &&
                  !__builtin_mul_overflow(count, static_cast<int64_t>(element_size(type)), &bytes),
              "from_file(): unable to map ", count, " elements from file <", filename, ">");

  const bool is_shared = shared.value_or(false);
  const OpenFile file(std::string(filename), is_shared);
  file.require(bytes, is_shared);
  if (bytes == 0) return at::empty({0}, type);

  auto* mapping = new Mapping{file.map(bytes, is_shared), static_cast<size_t>(bytes)};
  auto storage = make_intrusive<StorageImpl>(DataPtr(mapping->start, mapping, &unmap, kCPU),
                                             static_cast<size_t>(bytes), nullptr);

  const Tensor result = empty_tensor({0}, type, kCPU);
  result.unsafe_impl()->set_storage(std::move(storage));
  result.unsafe_impl()->set_sizes_contiguous({count});
  return result;
}

}  // namespace at::native
