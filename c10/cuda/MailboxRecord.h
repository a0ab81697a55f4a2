// MailboxRecord: what a check inside a kernel leaves for the host to raise.
#pragma once

#include <cstdint>

namespace c10::cuda {

/// The check that failed; it selects the class and the words of the error.
enum class ReportKind : uint32_t {
  IndexRange,    // IndexError: an index along a dimension is not in [-bound, bound)
  ElementRange,  // RuntimeError: an index along a dimension is not in [0, bound)
  LabelRange,    // IndexError: a label is not in [0, bound)
  PlaceRange,    // RuntimeError: the place of a maximum is not in [0, bound)
  ValueRange,    // RuntimeError: another number is not in [0, bound)
  Probability,   // RuntimeError: value (the bits of a double) is negative, infinite or NaN
  Rate,          // RuntimeError: value (the bits of a double) is negative or NaN
  ZeroDivision,  // RuntimeError: an integer was divided by zero
};

struct MailboxRecord {
  uint64_t sequence;  // of the launch: see c10/cuda/Launch.h
  ReportKind kind;
  int32_t argument;  // position in the operator's schema; -1: unknown
  int64_t value;
  int64_t bound;
  uint32_t complete;  // written last, 1 once the other fields are there
  int32_t dimension;  // that the index is along; -1: unknown
};

/// Lies in pinned host memory, one per device. Kernels take slots by counting `taken` up; the host
/// reads the first min(taken, kSlots) records and starts again from 0 when the device is idle.
struct Mailbox {
  static constexpr uint32_t kSlots = 63;

  uint32_t taken;
  uint32_t unused[9];
  MailboxRecord records[kSlots];
};
static_assert(sizeof(MailboxRecord) == 40);

}  // namespace c10::cuda

namespace simt {

/// A kernel that checks its input has a parameter of this type, or one with a member `reporter` of
/// this type. The host passes Reporter{}; launch() fills it in. On the device:
/// simt::report(reporter, kind, argument, value, bound, dimension).
struct Reporter {
  c10::cuda::Mailbox* mailbox = nullptr;
  uint64_t sequence = 0;
};

}  // namespace simt
