// DeviceGraph: work of streams that was recorded once and runs again as a whole.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "c10/util/Export.h"

namespace c10 {

struct Generator;

/// Names a part of an allocator that graphs take their memory from; (0, 0) means none.
using MemoryPoolId = std::pair<int64_t, int64_t>;

/// Which calls that may synchronise are refused while a stream is captured.
enum class CaptureMode : uint8_t { Global, ThreadLocal, Relaxed };

/// The work that one thread put into its current stream between begin_capture and end_capture. A
/// backend implements it. Failures throw c10::Error and leave the graph as after reset().
class TORCH_PY_API DeviceGraph {
 public:
  virtual ~DeviceGraph();

  /// Captures the calling thread's current stream, which must not be the default one. Memory comes
  /// from `pool`, or from a new pool for (0, 0).
  virtual void begin_capture(MemoryPoolId pool, CaptureMode mode) = 0;
  /// Ends the capture, and instantiates the graph unless it was made with keep_graph.
  virtual void end_capture() = 0;
  /// Makes the executable form of a graph that was made with keep_graph.
  virtual void instantiate() = 0;
  /// Puts the recorded work into the current stream. Generators that take part continue from where
  /// they are, so that every replay draws other numbers.
  virtual void replay() = 0;
  /// Gives up the recorded work and, when no other graph uses it, its memory.
  virtual void reset() = 0;
  virtual MemoryPoolId pool() const = 0;

  /// Lets the capture record how many numbers `generator` draws. The default generator of the
  /// device always takes part.
  virtual void register_generator(Generator& generator) = 0;
  /// Keeps the recorded work after end_capture, for debug_dump.
  virtual void enable_debug_mode() = 0;
  /// Writes the recorded work to a file in the language of Graphviz.
  virtual void debug_dump(const std::string& path) = 0;
  /// The backend's handles; null before end_capture and instantiate.
  virtual void* native_graph() = 0;
  virtual void* native_executable() = 0;
};

}  // namespace c10
