// FakeDevice: a device for tests of the allocator. Its streams run late, in random order, and every
// access to memory is checked against all earlier ones.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "c10/cuda/allocator/Segments.h"
#include "c10/cuda/allocator/Timeline.h"

namespace fake {

using c10::cuda::GranuleHandle;
using c10::cuda::kGranule;

constexpr int kStreams = 6;  // with ids 0 to 5

/// How far each stream had got: what has happened before a point.
struct Clock {
  uint64_t at[kStreams] = {};

  void join(const Clock& other) {
    for (int i = 0; i < kStreams; ++i) at[i] = std::max(at[i], other.at[i]);
  }
};

/// Two accesses of the same physical bytes are in order if the later one's stream had waited, by
/// events or through the host, for the earlier one. `problems` counts all that are not, accesses to
/// unmapped addresses, and calls that a driver would refuse.
class Device final : public c10::cuda::Segments, public c10::cuda::Events {
 public:
  Device(uint64_t seed, size_t bytes, bool maps) : random(seed), total_(bytes), maps_(maps) {}

  // --- Faults that a test injects ---
  bool ignores_waits = false;
  bool ignores_synchronize = false;
  bool refuses_maps = false;

  // --- What a program does ---

  /// Puts a kernel into the stream that reads and writes these bytes.
  void use(int64_t stream, uintptr_t begin, size_t bytes) {
    push(stream, {Operation::Use, begin, begin + bytes, nullptr, 0, host_});
  }
  /// Lets `later` wait for all that `earlier` has been given.
  void order(int64_t earlier, int64_t later) {
    void* const event = create_event();
    record(event, earlier);
    wait_for(event, later);
  }
  void synchronize_stream(int64_t stream) {
    while (!queues_[stream].empty()) step();
    host_.join(clocks_[stream]);
  }
  void synchronize_all() {
    for (int i = 0; i < kStreams; ++i) synchronize_stream(i);
  }
  /// Runs some of the work, as time passes.
  void run_some() {
    for (int n = static_cast<int>(random() % 8); n > 0; --n) step();
  }

  int problems() const { return problems_; }
  const char* first_problem = "";
  size_t peak_bytes() const { return peak_; }
  size_t bytes_in_use() const { return in_use_; }
  size_t maps() const { return maps_done_; }
  size_t events() const { return events_.size(); }
  int host_waits() const { return host_waits_; }
  std::unordered_set<int64_t> capturing;  // streams
  std::unordered_set<int64_t> destroyed;
  std::mt19937_64 random;

  // --- Segments ---

  bool maps_granules() const override { return maps_; }
  uintptr_t reserve(size_t bytes) override { return next_addresses(bytes); }
  void release(uintptr_t, size_t) noexcept override {}
  GranuleHandle create_granule() override {
    if (in_use_ + kGranule > total_) return 0;
    count(kGranule);
    granules_.emplace(++last_granule_, Granule());
    return last_granule_;
  }
  void destroy_granule(GranuleHandle granule) noexcept override {
    if (granules_.at(granule).mapped) problem("a mapped granule is destroyed");
    granules_.erase(granule);
    in_use_ -= kGranule;
  }
  bool map(uintptr_t address, const GranuleHandle* granules, size_t count) override {
    if (refuses_maps) return false;
    for (size_t i = 0; i < count; ++i) {
      if (granules_.at(granules[i]).mapped) problem("a granule is mapped twice");
      if (!table_.emplace(address / kGranule + i, granules[i]).second)
        problem("mapped where memory is");
      granules_.at(granules[i]).mapped = true;
    }
    maps_done_ += count;
    return true;
  }
  void unmap(uintptr_t address, size_t count) noexcept override {
    check_unused(address, address + count * kGranule);
    for (size_t i = 0; i < count; ++i) {
      const auto found = table_.find(address / kGranule + i);
      if (found == table_.end()) {
        problem("unmapped where no memory is");
        continue;
      }
      granules_.at(found->second).mapped = false;
      table_.erase(found);
    }
  }
  uintptr_t allocate(size_t bytes) override {
    const size_t rounded = c10::cuda::granule_ceiling(bytes);
    if (in_use_ + rounded > total_) return 0;

    const uintptr_t address = next_addresses(rounded);
    segments_[address] = rounded;
    for (uintptr_t at = address; at < address + rounded; at += kGranule) {
      const GranuleHandle granule = create_granule();
      table_[at / kGranule] = granule;
      granules_.at(granule).mapped = true;
    }
    return address;
  }
  void free(uintptr_t address) noexcept override {
    const size_t bytes = segments_.at(address);
    check_unused(address, address + bytes);
    for (uintptr_t at = address; at < address + bytes; at += kGranule) {
      granules_.erase(table_.at(at / kGranule));
      table_.erase(at / kGranule);
    }
    segments_.erase(address);
    in_use_ -= bytes;
  }
  std::pair<size_t, size_t> memory_info() override { return {total_ - in_use_, total_}; }

  // --- Events ---

  void* create_event() noexcept override {
    events_.push_back(std::make_unique<Event>());
    return events_.back().get();
  }
  bool record(void* event, int64_t stream) noexcept override {
    if (capturing.count(stream) != 0) problem("an event is recorded in a captured stream");
    if (destroyed.count(stream) != 0) problem("an event is recorded in a destroyed stream");
    Event& e = *static_cast<Event*>(event);
    e.clocks.emplace_back();
    e.executed.push_back(false);
    push(stream, {Operation::Record, 0, 0, &e, e.clocks.size() - 1, host_});
    return true;
  }
  void wait(void* event, int64_t stream) override {
    if (capturing.count(stream) != 0) problem("a captured stream waits for an event outside");
    if (!ignores_waits) wait_for(event, stream);
  }
  bool query(void* event) override {
    Event& e = *static_cast<Event*>(event);
    if (e.clocks.empty()) return true;
    if (e.executed.back()) host_.join(e.clocks.back());
    return e.executed.back();
  }
  void synchronize(void* event) override {
    Event& e = *static_cast<Event*>(event);
    if (ignores_synchronize) return;
    ++host_waits_;
    const size_t number = e.clocks.size() - 1;
    while (!e.executed[number]) step();
    host_.join(e.clocks[number]);
  }
  bool is_capturing(int64_t stream) noexcept override { return capturing.count(stream) != 0; }

 private:
  struct Event {
    std::vector<Clock> clocks;  // of each time it was recorded
    std::vector<bool> executed;
  };
  struct Operation {
    enum Kind { Use, Record, Wait } kind;
    uintptr_t begin;
    uintptr_t end;
    Event* event;
    size_t number;  // of the record
    Clock host;     // what the host had waited for when it made the call
  };
  struct Access {
    size_t end;
    int stream;
    uint64_t time;
  };
  struct Granule {
    bool mapped = false;
    std::map<size_t, Access> accesses;  // the latest one of each byte, by offset
  };

  void problem(const char* what) noexcept {
    if (++problems_ == 1) first_problem = what;
  }

  uintptr_t next_addresses(size_t bytes) {
    const uintptr_t address = next_address_;
    next_address_ += c10::cuda::granule_ceiling(bytes) + 16 * kGranule;
    return address;
  }

  void count(size_t bytes) {
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
  }

  void push(int64_t stream, Operation operation) { queues_[stream].push_back(operation); }

  void wait_for(void* event, int64_t stream) {
    Event& e = *static_cast<Event*>(event);
    push(stream, {Operation::Wait, 0, 0, &e, e.clocks.size() - 1, host_});
  }

  /// Executes the next operation of a random stream that has one and need not wait.
  void step() {
    for (int attempt = 0;; ++attempt) {
      const int stream = static_cast<int>((random() + static_cast<uint64_t>(attempt)) % kStreams);
      auto& queue = queues_[stream];
      if (attempt > 1000) return;  // all is done
      if (queue.empty()) continue;
      const Operation operation = queue.front();
      if (operation.kind == Operation::Wait && !operation.event->executed[operation.number])
        continue;
      queue.pop_front();
      execute(stream, operation);
      return;
    }
  }

  void execute(int stream, const Operation& operation) {
    Clock& clock = clocks_[stream];
    clock.join(operation.host);
    ++clock.at[stream];

    switch (operation.kind) {
      case Operation::Use: access(stream, operation.begin, operation.end); break;
      case Operation::Record:
        operation.event->clocks[operation.number] = clock;
        operation.event->executed[operation.number] = true;
        break;
      case Operation::Wait: clock.join(operation.event->clocks[operation.number]); break;
    }
  }

  void access(int stream, uintptr_t begin, uintptr_t end) {
    while (begin < end) {
      const uintptr_t limit = std::min(end, c10::cuda::granule_floor(begin) + kGranule);
      const auto found = table_.find(begin / kGranule);
      if (found == table_.end()) {
        problem("an access to an unmapped address");
      } else {
        access(granules_.at(found->second), stream, begin % kGranule,
               limit - begin + begin % kGranule);
      }
      begin = limit;
    }
  }

  void access(Granule& granule, int stream, size_t begin, size_t end) {
    auto& accesses = granule.accesses;
    auto it = accesses.upper_bound(begin);
    if (it != accesses.begin() && std::prev(it)->second.end > begin) --it;

    while (it != accesses.end() && it->first < end) {
      const size_t first = it->first;
      const Access earlier = it->second;
      if (earlier.time > clocks_[stream].at[earlier.stream])
        problem("two accesses without an order");

      it = accesses.erase(it);
      if (first < begin) accesses[first] = {begin, earlier.stream, earlier.time};
      if (earlier.end > end) accesses[end] = earlier;
    }
    accesses[begin] = {end, stream, clocks_[stream].at[stream]};
  }

  void check_unused(uintptr_t begin, uintptr_t end) noexcept {
    for (const auto& queue : queues_) {
      for (const Operation& operation : queue) {
        if (operation.kind == Operation::Use && operation.begin < end && begin < operation.end)
          problem("memory is unmapped that work still uses");
      }
    }
  }

  const size_t total_;
  const bool maps_;
  uintptr_t next_address_ = uintptr_t{1} << 40;
  GranuleHandle last_granule_ = 0;
  size_t in_use_ = 0;
  size_t peak_ = 0;
  size_t maps_done_ = 0;
  int problems_ = 0;
  int host_waits_ = 0;
  std::unordered_map<uintptr_t, GranuleHandle> table_;  // by address / kGranule
  std::unordered_map<GranuleHandle, Granule> granules_;
  std::unordered_map<uintptr_t, size_t> segments_;
  std::deque<Operation> queues_[kStreams];
  Clock clocks_[kStreams];
  Clock host_;
  std::vector<std::unique_ptr<Event>> events_;
};

}  // namespace fake
