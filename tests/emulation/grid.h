// How kernels run in the emulation: the order of threads and blocks, and the faults found.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "emulation/launch.h"

namespace emulation {

/// A fault inside a kernel: what() names the kernel, the threads, and their places in the program.
class KernelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Order : uint8_t { Ascending, Descending, Shuffled };

/// How the threads of a block run between barriers, and the blocks of a grid. The defaults are the
/// environment variables TORCH_PY_EMULATION_ORDER (ascending, descending, shuffled or
/// shuffled:SEED) and TORCH_PY_EMULATION_THREADS (OS threads that share the blocks of a grid).
struct Schedule {
  Order order = Order::Ascending;
  uint64_t seed = 0;
  unsigned os_threads = 1;
};
Schedule schedule();
void set_schedule(const Schedule& schedule);

/// Parses "ascending", "shuffled:7" and so on; throws std::invalid_argument.
void parse_order(const std::string& text, Schedule& schedule);

}  // namespace emulation

/// For callers from Python (ctypes). Returns 0, or 1 if the text is not an order.
extern "C" __attribute__((visibility("default"))) int
torch_py_emulation_set_order(const char* text);
