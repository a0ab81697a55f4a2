// Recording: the operator calls and named ranges of a thread, with their times.
#include "aten/profiling/Recording.h"

#include <chrono>

#include "c10/cpu/CPUAllocator.h"

namespace at::profiling {

namespace {

// Each thread has at most one recording, which the thread that made it owns.
constinit thread_local Recording* current_recording = nullptr;

int64_t (*sequence_source)() = nullptr;

int64_t allocated_bytes() { return c10::cpu_allocator_statistics().allocated_bytes; }

/// The fallback of the key Profiler: Note [Recording calls].
class RecordCall final : public c10::BoxedKernel {
 public:
  void call(const OperatorEntry& entry, DispatchKeySet keys, Stack& stack) const override {
    const DispatchKeySet others = keys - DispatchKey::Profiler;
    Recording* recording = current_recording;
    if (recording == nullptr) return entry.redispatch_boxed(others, stack);

    const int32_t event = recording->begin_call(entry, stack);
    try {
      entry.redispatch_boxed(others, stack);
    } catch (...) {
      recording->end(event);
      throw;
    }
    recording->end(event);
  }
};

}  // namespace

int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void set_sequence_source(int64_t (*source)()) { sequence_source = source; }

Recording* Recording::current() { return current_recording; }

void Recording::start() {
  TORCH_CHECK(current_recording == nullptr, "this thread is being profiled already");
  static const RecordCall kernel;
  [[maybe_unused]] static const bool is_set = [] {
    c10::Dispatcher::singleton().set_fallback(DispatchKey::Profiler, &kernel);
    return true;
  }();

  events_.reserve(1 << 12);
  current_recording = this;
  c10::DispatchKeySet& included = c10::local_state().included;
  included = included | DispatchKey::Profiler;
}

void Recording::stop() {
  if (current_recording != this) return;
  current_recording = nullptr;
  c10::DispatchKeySet& included = c10::local_state().included;
  included = included - DispatchKey::Profiler;

  // Of events that are still open, the time so far.
  while (innermost_ != Event::kNone) end(innermost_);
}

int32_t Recording::begin(Event event) {
  const auto position = static_cast<int32_t>(events_.size());
  event.parent = innermost_;
  if (options_.memory) event.memory = -allocated_bytes();
  if (options_.stack != nullptr) event.stack = options_.stack();

  event.start_ns = now_ns();
  events_.push_back(event);
  innermost_ = position;
  return position;
}

int32_t Recording::begin_call(const OperatorEntry& entry, const Stack& arguments) {
  Event event;
  event.entry = &entry;
  if (sequence_source != nullptr) event.sequence = sequence_source();
  if (options_.shapes) event.shapes = note_shapes(arguments);
  return begin(event);
}

int32_t Recording::begin_range(std::string_view name, int64_t sequence) {
  Event event;
  event.name = static_cast<int32_t>(names_.size());
  event.sequence = sequence;
  names_.emplace_back(name);
  return begin(event);
}

void Recording::end(int32_t position) {
  // Ranges of the program need not nest; whatever began inside ends, too.
  Event& event = events_[static_cast<size_t>(position)];
  if (event.end_ns != 0) return;
  event.end_ns = now_ns();
  if (options_.memory) event.memory += allocated_bytes();
  innermost_ = event.parent;
}

int32_t Recording::note_shapes(const Stack& arguments) {
  const auto start = static_cast<int32_t>(shapes_.size());
  for (const Value& value : arguments) {
    if (!value.is<Tensor>() || !value.get<Tensor>().defined()) {
      shapes_.push_back(-1);
      continue;
    }
    const IntArrayRef sizes = value.get<Tensor>().sizes();
    shapes_.push_back(static_cast<int64_t>(sizes.size()));
    shapes_.insert(shapes_.end(), sizes.begin(), sizes.end());
  }
  shapes_.push_back(-2);
  return start;
}

void Range::begin(const char* name, int64_t sequence) {
  recording_ = current_recording;
  if (recording_ != nullptr) event_ = recording_->begin_range(name, sequence);
}

}  // namespace at::profiling
