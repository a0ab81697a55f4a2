// What follows for a device that finishes its work before a call returns.
#include "c10/core/SynchronousDevice.h"

#include <chrono>

#include "c10/util/Exception.h"

namespace c10 {

namespace {

using Clock = std::chrono::steady_clock;

/// A point in time; the epoch of the clock until the event is recorded.
using Event = Clock::time_point;

thread_local DeviceIndex selected = 0;

Event& as_event(void* event) { return *static_cast<Event*>(event); }

[[noreturn]] void refuse(DeviceType type, const char* what) {
  TORCH_THROW(NotImplementedError, "the backend '", device_type_name(type), "' has no ", what);
}

}  // namespace

SynchronousDeviceHooks::~SynchronousDeviceHooks() = default;

// --- Devices ---

DeviceIndex SynchronousDeviceHooks::current_device() { return selected; }

DeviceIndex SynchronousDeviceHooks::exchange_device(DeviceIndex index) {
  TORCH_CHECK(index >= 0 && index < device_count(), device_type_name(type()),
              " error: invalid device ordinal: there are ", device_count(), " devices, got ",
              int{index});
  return std::exchange(selected, index);
}

DeviceProperties SynchronousDeviceHooks::properties(DeviceIndex) {
  DeviceProperties found;
  found.name = device_type_name(type());
  return found;
}

bool SynchronousDeviceHooks::can_access_peer(DeviceIndex from, DeviceIndex to) {
  return from == to;
}

void SynchronousDeviceHooks::synchronize_device(DeviceIndex) {}

std::pair<int, int> SynchronousDeviceHooks::versions() { return {0, 0}; }

// --- Streams ---

Stream SynchronousDeviceHooks::default_stream(DeviceIndex index) {
  return {Device(type(), index), 0};
}

Stream SynchronousDeviceHooks::current_stream(DeviceIndex index) {
  return default_stream(index < 0 ? current_device() : index);
}

Stream SynchronousDeviceHooks::exchange_stream(Stream stream) { return stream; }

Stream SynchronousDeviceHooks::new_stream(DeviceIndex, int) {
  refuse(type(), "streams besides the default one");
}

Stream SynchronousDeviceHooks::external_stream(DeviceIndex, void*) {
  refuse(type(), "streams besides the default one");
}

void* SynchronousDeviceHooks::native_stream(Stream) { return nullptr; }

int SynchronousDeviceHooks::stream_priority(Stream) { return 0; }

std::pair<int, int> SynchronousDeviceHooks::priority_range() { return {0, 0}; }

bool SynchronousDeviceHooks::query_stream(Stream) { return true; }

void SynchronousDeviceHooks::synchronize_stream(Stream) {}

// --- Events ---

void* SynchronousDeviceHooks::create_event(DeviceIndex, bool, bool, bool interprocess) {
  if (interprocess) refuse(type(), "events that processes share");
  return new Event;
}

void SynchronousDeviceHooks::destroy_event(void* event) noexcept {
  delete static_cast<Event*>(event);
}

void SynchronousDeviceHooks::record_event(void* event, Stream) { as_event(event) = Clock::now(); }

void SynchronousDeviceHooks::wait_event(void*, Stream) {}

bool SynchronousDeviceHooks::query_event(void*) { return true; }

void SynchronousDeviceHooks::synchronize_event(void*) {}

float SynchronousDeviceHooks::elapsed_time(void* start, void* end) {
  return std::chrono::duration<float, std::milli>(as_event(end) - as_event(start)).count();
}

std::string SynchronousDeviceHooks::event_ipc_handle(void*) {
  refuse(type(), "events that processes share");
}

void* SynchronousDeviceHooks::open_event(DeviceIndex, const std::string&) {
  refuse(type(), "events that processes share");
}

// --- Memory ---

Allocator& SynchronousDeviceHooks::pinned_allocator() { refuse(type(), "pinned memory"); }

bool SynchronousDeviceHooks::is_pinned(const void*) { return false; }

std::pair<size_t, size_t> SynchronousDeviceHooks::memory_info(DeviceIndex) {
  refuse(type(), "account of its memory");
}

void SynchronousDeviceHooks::record_stream(const DataPtr&, Stream) {}

std::vector<std::pair<std::string, int64_t>> SynchronousDeviceHooks::memory_stats(DeviceIndex) {
  refuse(type(), "statistics of memory");
}

std::string SynchronousDeviceHooks::memory_snapshot() { refuse(type(), "statistics of memory"); }

void SynchronousDeviceHooks::empty_cache() {}

void SynchronousDeviceHooks::reset_peak_memory_stats(DeviceIndex) {
  refuse(type(), "statistics of memory");
}

void SynchronousDeviceHooks::reset_accumulated_memory_stats(DeviceIndex) {
  refuse(type(), "statistics of memory");
}

void SynchronousDeviceHooks::set_memory_fraction(DeviceIndex, double) {
  refuse(type(), "limit of its memory");
}

double SynchronousDeviceHooks::memory_fraction(DeviceIndex) {
  refuse(type(), "limit of its memory");
}

}  // namespace c10
