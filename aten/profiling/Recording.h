// Recording: the operator calls and named ranges of a thread, with their times.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aten/core/Value.h"
#include "c10/dispatch/LocalState.h"
#include "c10/dispatch/OperatorEntry.h"
#include "c10/util/Export.h"

namespace at::profiling {

// Note [Recording calls]
// While a thread records, it adds the key Profiler to all its calls; the fallback of that key notes
// the time, lets the call go on without the key, and notes the time again. Operators that the call
// consists of dispatch anew and are recorded inside of it. Threads that do not record have nothing
// to check.

/// A call of an operator, or a range that the program or the autograd engine has named.
struct Event {
  static constexpr int32_t kNone = -1;

  const OperatorEntry* entry = nullptr;  // null for a range
  int32_t name = kNone;                  // of a range: its place in Recording::names
  int32_t parent = kNone;                // the event around it
  int64_t start_ns = 0;                  // of the clock now_ns()
  int64_t end_ns = 0;
  int64_t memory = 0;        // bytes of host memory allocated and not freed in between
  int64_t sequence = kNone;  // of the autograd node that the call makes, or that the range runs
  int32_t shapes = kNone;    // place in Recording::shapes
  int32_t stack = kNone;     // what Options::stack returned
};

struct Options {
  bool shapes = false;
  bool memory = false;
  int32_t (*stack)() = nullptr;  // the place of the program's stack, in a list of its own
};

/// What one thread has recorded. Started and stopped on that thread.
class TORCH_PY_API Recording {
 public:
  explicit Recording(Options options) : options_(options) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// The recording of this thread; null while it does not record.
  static Recording* current();
  void start();
  void stop();

  /// Begins an event and returns its position, for end().
  int32_t begin_call(const OperatorEntry& entry, const Stack& arguments);
  int32_t begin_range(std::string_view name, int64_t sequence);
  void end(int32_t event);

  const std::vector<Event>& events() const { return events_; }
  const std::vector<std::string>& names() const { return names_; }
  /// Shapes of the tensors among the arguments of calls, one after another: for each argument the
  /// number of dimensions, or -1 if it is not a tensor, then the sizes; -2 ends a call.
  const std::vector<int64_t>& shapes() const { return shapes_; }

 private:
  int32_t begin(Event event);
  int32_t note_shapes(const Stack& arguments);

  Options options_;
  std::vector<Event> events_;
  std::vector<std::string> names_;
  std::vector<int64_t> shapes_;
  int32_t innermost_ = Event::kNone;
};

/// Nanoseconds of a steady clock.
TORCH_PY_API int64_t now_ns();

/// A named range of the thread's recording, if it records.
class Range {
 public:
  Range(const char* name, int64_t sequence) {
    if (C10_UNLIKELY(c10::local_state().included.has(DispatchKey::Profiler))) begin(name, sequence);
  }
  ~Range() {
    if (C10_UNLIKELY(recording_ != nullptr)) recording_->end(event_);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  TORCH_PY_API void begin(const char* name, int64_t sequence);

  Recording* recording_ = nullptr;
  int32_t event_ = 0;
};

/// Says where the number of the next autograd node comes from, which links calls to backward.
TORCH_PY_API void set_sequence_source(int64_t (*source)());

}  // namespace at::profiling
