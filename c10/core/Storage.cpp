// Growing and shrinking the memory of a storage.
#include "c10/core/Storage.h"

#include <cstring>
#include <utility>

#include "c10/util/Exception.h"

namespace c10 {

DataPtr StorageImpl::resize(size_t bytes) {
  TORCH_CHECK(resizable() || bytes == nbytes,
              "Trying to resize storage that is not resizable: it has ", nbytes,
              " bytes of foreign memory, ", bytes, " are needed");

  // Growing copies the old bytes, so that elements keep their values.
  DataPtr replaced;
  if (bytes > capacity) {
    DataPtr grown = allocator->allocate(bytes);
    if (data.get() != nullptr && grown.get() != nullptr)
      std::memcpy(grown.get(), data.get(), capacity);
    replaced = std::exchange(data, std::move(grown));
    capacity = bytes;
  }

  nbytes = bytes;
  return replaced;
}

}  // namespace c10
