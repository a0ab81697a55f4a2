// Mailbox: checks inside kernels that failed, raised by the next call that waits.
#pragma once

namespace c10::cuda {

struct Mailbox;

/// The mailbox of the calling thread's current device, made when first needed.
Mailbox* current_mailbox();
/// Throws the error of the first failed check of the current device, and forgets all of them. For
/// calls that have just waited for the device.
void raise_reports();

}  // namespace c10::cuda
