// Stream: a queue of work on a device.
#pragma once
#include <cstdint>

#include "c10/core/Device.h"

namespace c10 {

/// A queue of work on one device: what is put into it runs in order, later than the call that put
/// it there. Compared by value; the backend of the device owns the queue. Id 0 is the default
/// stream of the device.
struct Stream {
  Device device;
  int64_t id = 0;  // the backend's: an index of its pool, or an external handle

  friend constexpr bool operator==(const Stream&, const Stream&) = default;
};

}  // namespace c10
