// Epochs of streams: see Note [Epochs of a stream].
#include "c10/cuda/allocator/Timeline.h"

#include <algorithm>

#include "c10/util/Exception.h"

namespace c10::cuda {

StreamState& Timeline::stream(int64_t id) {
  if (latest_ != nullptr && latest_->id == id) return *latest_;

  for (const auto& known : streams_) {
    if (known->id == id && !known->is_gone) return *(latest_ = known.get());
  }
  streams_.push_back(std::make_unique<StreamState>(id, static_cast<int>(streams_.size())));
  return *(latest_ = streams_.back().get());
}

bool Timeline::checkpoint(StreamState& stream) noexcept {
  if (events_.is_capturing(stream.id)) return false;

  Checkpoint& next = stream.checkpoints[stream.next_checkpoint % stream.checkpoints.size()];
  if (next.event == nullptr) next.event = events_.create_event();
  if (next.event == nullptr || !events_.record(next.event, stream.id)) return false;

  next.epoch = stream.open++;
  stream.frees = 0;
  ++stream.next_checkpoint;
  return true;
}

/// The earliest checkpoint at which the use is over; null if none has been recorded since.
const Checkpoint* Timeline::find_checkpoint(const Use& use) const {
  const Checkpoint* earliest = nullptr;

  for (const Checkpoint& checkpoint : use.stream->checkpoints) {
    if (checkpoint.epoch < use.epoch || checkpoint.epoch == 0) continue;
    if (earliest == nullptr || checkpoint.epoch < earliest->epoch) earliest = &checkpoint;
  }
  return earliest;
}

const Checkpoint& Timeline::need_checkpoint(const Use& use) {
  if (const Checkpoint* const recorded = find_checkpoint(use)) return *recorded;

  TORCH_CHECK(checkpoint(*use.stream), "cannot record an event in a stream of the allocator");
  return *find_checkpoint(use);
}

bool Timeline::can_synchronize(const Use& use) {
  return is_over(use) || find_checkpoint(use) != nullptr || !events_.is_capturing(use.stream->id);
}

bool Timeline::can_order(const StreamState& user, const Use& use) {
  if (is_ordered(user, use)) return true;
  return can_synchronize(use) && !events_.is_capturing(user.id);
}

void Timeline::order(StreamState& user, const Use& use) {
  if (is_ordered(user, use)) return;

  const size_t slot = static_cast<size_t>(use.stream->slot);
  if (user.seen.size() <= slot) user.seen.resize(streams_.size());
  const Checkpoint& checkpoint = need_checkpoint(use);
  events_.wait(checkpoint.event, user.id);
  user.seen[slot] = checkpoint.epoch;
}

void Timeline::synchronize(const Use& use) {
  if (is_over(use)) return;

  const Checkpoint& checkpoint = need_checkpoint(use);
  events_.synchronize(checkpoint.event);
  use.stream->completed = std::max(use.stream->completed, checkpoint.epoch);
}

void Timeline::checkpoint_all() {
  for (const auto& stream : streams_) {
    if (stream->frees != 0) checkpoint(*stream);
  }
}

void Timeline::forget(StreamState& stream) {
  synchronize({&stream, stream.frees != 0 ? stream.open : stream.open - 1});
  stream.is_gone = true;
  latest_ = nullptr;
}

}  // namespace c10::cuda
