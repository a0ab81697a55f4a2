// Timeline: which work of which stream must be over before memory can be used again.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace c10::cuda {

/// Events of one device, as far as allocators need them. A stream is named by c10::Stream's id.
class Events {
 public:
  virtual ~Events() = default;
  /// Null if the driver refuses, as at the end of the process.
  virtual void* create_event() noexcept = 0;
  /// Records, again if need be: waits that have been issued keep the earlier point.
  virtual bool record(void* event, int64_t stream) noexcept = 0;
  /// Lets later work of `stream` wait for the event, on the device.
  virtual void wait(void* event, int64_t stream) = 0;
  virtual bool query(void* event) = 0;
  virtual void synchronize(void* event) = 0;
  /// Nothing may be recorded in a stream while its work is captured into a graph.
  virtual bool is_capturing(int64_t stream) noexcept = 0;
};

// Note [Epochs of a stream]
// An event at every free would cost more than everything else the allocator does. The frees of a
// stream are therefore counted in epochs. An epoch ends with a checkpoint, an event recorded in the
// stream: after some frees, once the device has a second stream, or as soon as another stream
// needs memory that was freed in it. A stream that has waited for the checkpoint of an epoch may
// use everything freed in that epoch or earlier. Programs with one stream record no event at all.

/// The end of an epoch.
struct Checkpoint {
  uint64_t epoch = 0;
  void* event = nullptr;
};

/// What is known of one stream's progress.
struct StreamState {
  StreamState(int64_t id, int slot) : id(id), slot(slot) {}

  const int64_t id;
  bool is_gone = false;    // destroyed; another stream may have the id
  const int slot;          // numbers the streams of a device from 0
  uint64_t open = 1;       // the epoch of what is freed now
  uint64_t completed = 0;  // the host knows that the epochs up to this one are over
  uint32_t frees = 0;      // in the open epoch
  uint32_t next_checkpoint = 0;
  std::array<Checkpoint, 16> checkpoints;  // the latest ones, as a ring
  std::vector<uint64_t> seen;              // by slot: epochs that this stream has waited for
};

/// Work of a stream up to the end of an epoch. Epoch 0: the stream has not used it.
struct Use {
  StreamState* stream;
  uint64_t epoch;
};

/// The streams of one device and the order between them. Called under the allocator's lock.
class Timeline {
 public:
  explicit Timeline(Events& events) : events_(events) {}

  StreamState& stream(int64_t id);
  const std::vector<std::unique_ptr<StreamState>>& streams() const { return streams_; }

  /// Counts a free in the stream and returns its epoch.
  uint64_t freed(StreamState& stream) {
    if (stream.is_gone) return 0;
    const uint64_t epoch = stream.open;
    if (++stream.frees >= kFreesPerEpoch && streams_.size() > 1) checkpoint(stream);
    return epoch;
  }

  /// Whether order() and synchronize() can do what is asked: not while a capture forbids it.
  bool can_order(const StreamState& user, const Use& use);
  bool can_synchronize(const Use& use);
  /// Whether order() has nothing to do: the stream has waited for the use, or the host has.
  bool is_ordered(const StreamState& user, const Use& use) const {
    if (use.stream == &user || is_over(use)) return true;
    const size_t slot = static_cast<size_t>(use.stream->slot);
    return slot < user.seen.size() && use.epoch <= user.seen[slot];
  }
  /// Lets `user` wait on the device for the use, unless it has done so.
  void order(StreamState& user, const Use& use);
  /// Waits for the use on the host.
  void synchronize(const Use& use);

  /// Ends the epochs in which something was freed.
  void checkpoint_all();
  /// To be called before and after the host waits for all work of a stream; the first returns the
  /// epoch that the second needs.
  uint64_t begin_synchronize(StreamState& stream) { return stream.open++; }
  void end_synchronize(StreamState& stream, uint64_t epoch) {
    stream.completed = std::max(stream.completed, epoch);
  }
  /// Waits for what the stream has to do with free memory; the stream is destroyed next.
  void forget(StreamState& stream);

 private:
  static constexpr uint32_t kFreesPerEpoch = 32;

  bool is_over(const Use& use) const { return use.epoch <= use.stream->completed; }
  bool checkpoint(StreamState& stream) noexcept;
  const Checkpoint* find_checkpoint(const Use& use) const;
  const Checkpoint& need_checkpoint(const Use& use);

  Events& events_;
  std::vector<std::unique_ptr<StreamState>> streams_;
  StreamState* latest_ = nullptr;  // that stream() returned
};

}  // namespace c10::cuda
