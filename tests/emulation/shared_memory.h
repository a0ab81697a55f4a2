// The shared memory of the block that runs.
#pragma once

#include <cstddef>
#include <vector>

#include "emulation/meeting.h"

namespace emulation {

/// Hands out variables in the order in which threads first reach them. New ones hold 0xFF bytes,
/// which is NaN: a value that nobody wrote shows. AddressSanitizer finds accesses between them.
class SharedMemory {
 public:
  static constexpr size_t kStaticLimit = 48 * 1024;  // nvcc refuses more
  static constexpr size_t kLimit = 227 * 1024;       // of compute 9.0, with the dynamic part

  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Forgets all variables.
  void begin_block(size_t dynamic_bytes);
  /// Null if the launch asked for none.
  void* dynamic();
  /// Null if there is not enough memory left.
  void* variable(const SharedSite& site);

 private:
  struct Variable {
    const SharedSite* site;
    void* address;
  };

  void* take(size_t bytes, size_t alignment);

  char* memory_ = nullptr;
  size_t used_ = 0;  // bytes of memory_, with the gaps
  size_t static_bytes_ = 0;
  size_t dynamic_bytes_ = 0;
  void* dynamic_ = nullptr;
  std::vector<Variable> variables_;
};

}  // namespace emulation
