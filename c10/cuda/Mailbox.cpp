// Checks inside kernels that failed: where they are kept, and the errors they become.
#include "c10/cuda/Mailbox.h"

namespace c10::cuda {

void raise_reports() {}

}  // namespace c10::cuda
