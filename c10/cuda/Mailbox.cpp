// Checks inside kernels that failed: where they are kept, and the errors they become.
#include "c10/cuda/Mailbox.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

#include "c10/cuda/Launch.h"
#include "c10/cuda/Runtime.h"
#include "c10/dispatch/RunningOperator.h"
#include "c10/util/Exception.h"

namespace c10::cuda {

namespace {

constexpr size_t kMostDevices = 64;

std::array<std::atomic<Mailbox*>, kMostDevices> mailboxes = {};

std::atomic<Mailbox*>& slot_of(DeviceIndex device) {
  return mailboxes[static_cast<size_t>(device)];
}

/// Pinned memory can be had while a stream is captured, if the thread says that it knows.
void* allocate_mailbox() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  C10_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
  void* memory = nullptr;
  const cudaError_t status = cudaHostAlloc(&memory, sizeof(Mailbox), cudaHostAllocMapped);
  C10_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
  C10_CUDA_CHECK(status);
  std::memset(memory, 0, sizeof(Mailbox));
  return memory;
}

C10_NOINLINE Mailbox* make_mailbox(DeviceIndex device) {
  static std::mutex making;
  const std::lock_guard lock(making);
  std::atomic<Mailbox*>& slot = slot_of(device);
  if (Mailbox* const made = slot.load(std::memory_order_relaxed)) return made;

  auto* const made = static_cast<Mailbox*>(allocate_mailbox());
  slot.store(made, std::memory_order_release);
  return made;
}

/// The device writes the count behind the compiler's back.
uint32_t taken_slots(const Mailbox& mailbox) {
  return std::atomic_ref(const_cast<uint32_t&>(mailbox.taken)).load(std::memory_order_acquire);
}

/// Takes the report of the earliest launch out of the mailbox and empties it; false where no
/// report is complete.
bool take_earliest(Mailbox& mailbox, MailboxRecord& earliest) {
  const uint32_t count = std::min(taken_slots(mailbox), Mailbox::kSlots);
  bool found = false;
  for (uint32_t i = 0; i < count; ++i) {
    const MailboxRecord& record = mailbox.records[i];
    if (record.complete == 0 || (found && earliest.sequence <= record.sequence)) continue;
    earliest = record;
    found = true;
  }

  for (uint32_t i = 0; i < count; ++i) mailbox.records[i].complete = 0;
  std::atomic_ref(mailbox.taken).store(0, std::memory_order_release);
  return found;
}

/// "argument 'index' of index_select on cuda:0, called by embedding".
std::string place_of(const MailboxRecord& record, DeviceIndex device) {
  const LaunchRecord launch = find_launch(record.sequence);
  std::string name = launch.name != nullptr ? launch.name : "an operator";
  std::string parameter;
  if (launch.op != nullptr) {
    name = base_name(*launch.op);
    parameter = parameter_name(*launch.op, record.argument);
  }

  std::string text;
  if (!parameter.empty()) {
    text = "argument '" + parameter + "' of ";
  } else if (record.argument >= 0) {
    text = "argument " + std::to_string(record.argument) + " of ";
  }
  text += name + " on cuda:" + std::to_string(device);

  if (launch.caller != nullptr && launch.caller != launch.op)
    text += ", called by " + base_name(*launch.caller);
  return text;
}

[[noreturn]] void raise(const MailboxRecord& record, DeviceIndex device) {
  const std::string place = " (" + place_of(record, device) + ")";
  const std::string dimension =
      record.dimension >= 0 ? "dimension " + std::to_string(record.dimension) : "dimension";
  double number = 0;
  std::memcpy(&number, &record.value, sizeof number);

  switch (record.kind) {
    case ReportKind::IndexRange:
      TORCH_THROW(IndexError, "index ", record.value, " is out of bounds for ", dimension,
                  " with size ", record.bound, place);
    case ReportKind::ElementRange:
      TORCH_THROW(Error, "index ", record.value, " is out of bounds for ", dimension, " with size ",
                  record.bound, place);
    case ReportKind::LabelRange:
      TORCH_THROW(IndexError, "Target ", record.value, " is out of bounds: labels are 0 to ",
                  record.bound - 1, place);
    case ReportKind::PlaceRange:
      TORCH_THROW(Error, "Found an invalid max index: ", record.value, " is not in 0 to ",
                  record.bound - 1, place);
    case ReportKind::ValueRange:
      TORCH_THROW(Error, "value ", record.value, " is not in the valid range [0, ", record.bound,
                  ")", place);
    case ReportKind::Probability:
      TORCH_THROW(Error, "probability tensor contains either `inf`, `nan` or element < 0: ", number,
                  place);
    case ReportKind::Rate:
      TORCH_THROW(Error, "invalid Poisson rate, expected rate to be non-negative, got ", number,
                  place);
    case ReportKind::ZeroDivision: TORCH_THROW(Error, "ZeroDivisionError", place);
  }
  TORCH_THROW(Error, "a check of unknown kind failed", place);
}

C10_NOINLINE void raise_from(Mailbox& mailbox, DeviceIndex device) {
  // Kernels of other streams may be writing; after this nothing does.
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  MailboxRecord record;
  if (take_earliest(mailbox, record)) raise(record, device);
}

}  // namespace

Mailbox* current_mailbox() {
  const DeviceIndex device = current_device();
  Mailbox* mailbox = slot_of(device).load(std::memory_order_acquire);
  if (C10_UNLIKELY(mailbox == nullptr)) mailbox = make_mailbox(device);
  if (C10_UNLIKELY(taken_slots(*mailbox) >= Mailbox::kSlots)) raise_from(*mailbox, device);
  return mailbox;
}

void raise_reports() {
  const DeviceIndex device = current_device();
  Mailbox* const mailbox = slot_of(device).load(std::memory_order_acquire);
  if (mailbox != nullptr && C10_UNLIKELY(taken_slots(*mailbox) != 0)) raise_from(*mailbox, device);
}

}  // namespace c10::cuda
