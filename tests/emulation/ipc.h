// Where memory lies, in a form that another process understands.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace emulation {

/// Bytes of a file of some process.
struct Place {
  int file = -1;  // a descriptor of process `owner`
  pid_t owner = 0;
  int device = 0;
  size_t offset = 0;
  size_t bytes = 0;
};

/// A descriptor for the place, as the driver exports memory; -1 where the system refuses.
int export_place(Place place);
/// The place with a descriptor of this process, which the caller closes; file -1 for others.
Place import_place(int exported);
/// The same for a place that came in another way.
Place opened(Place place);

}  // namespace emulation
