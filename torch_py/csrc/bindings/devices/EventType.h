// torch.Event.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <optional>

#include "c10/core/Event.h"

namespace torch::python {

/// An event of a device. The CPU has no events: `event` is empty.
struct EventObject {
  PyObject_HEAD
  std::optional<c10::Event> event;
  c10::Device device;  // as it was asked for; the event's own once it is recorded
  bool timing;
};
extern PyTypeObject EventType;

bool is_event(PyObject* object);
EventObject& unpack_event(PyObject* object);

/// Records the event in `stream`; RuntimeError where the event or the stream is the CPU's.
void record_event(EventObject& event, c10::Stream stream);

}  // namespace torch::python
