// The dispatch state of each thread.
#include "c10/dispatch/LocalState.h"

namespace c10 {
constinit thread_local LocalState local_state_value;
}  // namespace c10
