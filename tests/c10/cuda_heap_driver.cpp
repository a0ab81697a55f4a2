// Checks of the device memory policy on a fake device, run by tests/c10/test_cuda_allocator.py:
// "model SEED" (random programs), "fault NAME", "check" (single properties), "threads", "speed".
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "c10/cuda/allocator/Heap.h"
#include "c10/util/Exception.h"
#include "tests/c10/fake_device.h"

using c10::cuda::Block;
using c10::cuda::Heap;
using c10::cuda::PoolId;

static int failures = 0;
#define EXPECT(condition)                                         \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                 \
    }                                                             \
  } while (0)

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kGiB = size_t{1} << 30;

// --- Random programs ---

/// How a program chooses sizes and how much it keeps.
struct Profile {
  const char* name;
  double smallest;  // sizes are uniform in their logarithm
  double largest;
  size_t live_bytes;  // about as much is live at the end of each phase, at most
  size_t live_blocks;
};

constexpr Profile kProfiles[] = {
    {"small", 1, 64 << 10, 256 * kMiB, 20'000},
    {"mixed", 64, 64 << 20, 3 * kGiB, 2'000},
    {"medium", 1 << 20, 8 << 20, kGiB, 400},
    {"large", 1 << 20, 512 << 20, 12 * kGiB, 300},
};

struct Faults {
  bool no_record = false;  // the program does not say which other streams use a block
};

class Program {
 public:
  Program(fake::Device& device, Heap& heap, const Profile& profile, int streams, Faults faults)
      : device_(device), heap_(heap), profile_(profile), streams_(streams), faults_(faults) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (i % 2'000 == 0) begin_phase();
      step();
    }
    while (!live_.empty()) free_at(live_.size() - 1);
    device_.synchronize_all();
  }

  size_t peak_live() const { return peak_live_; }

 private:
  struct Tensor {
    Block* block;
    size_t bytes;
    int64_t user;  // the stream that has used it last
  };

  uint64_t pick(uint64_t n) { return device_.random() % n; }

  /// Programs grow and shrink, and change the sizes they work with.
  void begin_phase() {
    const double part = static_cast<double>(pick(100) + 1) / 100;
    target_bytes_ = static_cast<size_t>(static_cast<double>(profile_.live_bytes) * part);
    target_blocks_ = static_cast<size_t>(static_cast<double>(profile_.live_blocks) * part) + 1;
    favourites_.clear();
    for (int i = 0; i < 20; ++i) favourites_.push_back(random_size());
  }

  size_t random_size() {
    const double place = static_cast<double>(pick(1 << 20)) / (1 << 20);
    return static_cast<size_t>(profile_.smallest *
                               std::pow(profile_.largest / profile_.smallest, place));
  }

  void step() {
    const uint64_t choice = pick(1000);
    const bool full = live_bytes_ > target_bytes_ || live_.size() > target_blocks_;
    if (choice < 500) {
      if (full || (!live_.empty() && pick(5) < 2)) {
        free_at(pick(live_.size()));
      } else {
        allocate();
      }
    } else if (choice < 980) {
      if (!live_.empty()) use(live_[pick(live_.size())]);
    } else if (choice < 990) {
      synchronize();
    } else if (choice < 992) {
      heap_.reset_accumulated();
    } else {
      device_.run_some();
    }
  }

  void allocate() {
    const size_t bytes = pick(2) == 0 ? random_size() : favourites_[pick(favourites_.size())];
    const int64_t stream = static_cast<int64_t>(pick(static_cast<uint64_t>(streams_)));
    Block* const block = heap_.allocate(bytes, stream, "model");
    EXPECT(block->bytes >= bytes && block->address % 512 == 0);

    // No overlap with a live block.
    const auto next = by_address_.lower_bound(block->address);
    EXPECT(next == by_address_.end() || block->address + block->bytes <= next->first);
    EXPECT(next == by_address_.begin() || std::prev(next)->second <= block->address);
    by_address_[block->address] = block->address + block->bytes;

    device_.use(stream, block->address, bytes);
    live_.push_back({block, bytes, stream});
    live_bytes_ += bytes;
    peak_live_ = std::max(peak_live_, live_bytes_);
  }

  void use(Tensor& tensor) {
    const int64_t stream = static_cast<int64_t>(pick(static_cast<uint64_t>(streams_)));
    if (stream != tensor.user) device_.order(tensor.user, stream);
    if (!faults_.no_record) heap_.note_use(tensor.block, stream);

    device_.use(stream, tensor.block->address, tensor.bytes);
    tensor.user = stream;
  }

  void free_at(size_t index) {
    const Tensor tensor = live_[index];
    live_[index] = live_.back();
    live_.pop_back();
    live_bytes_ -= tensor.bytes;
    by_address_.erase(tensor.block->address);
    heap_.free(tensor.block);
  }

  void synchronize() {
    const int64_t stream = static_cast<int64_t>(pick(static_cast<uint64_t>(streams_)));
    const uint64_t mark = heap_.before_synchronize(stream);
    device_.synchronize_stream(stream);
    if (pick(2) == 0) heap_.after_synchronize(stream, mark);
  }

  fake::Device& device_;
  Heap& heap_;
  const Profile& profile_;
  const int streams_;
  const Faults faults_;
  std::vector<Tensor> live_;
  std::map<uintptr_t, uintptr_t> by_address_;
  std::vector<size_t> favourites_;
  size_t target_bytes_ = 0;
  size_t target_blocks_ = 0;
  size_t live_bytes_ = 0;
  size_t peak_live_ = 0;
};

static int64_t statistic(Heap& heap, const std::string& name) {
  for (const auto& [known, value] : heap.statistics()) {
    if (known == name) return value;
  }
  EXPECT(!"a known statistic");
  return 0;
}

static void run_model(uint64_t seed) {
  for (const Profile& profile : kProfiles) {
    for (const int streams : {1, 4}) {
      for (const bool maps : {true, false}) {
        fake::Device device(seed, 64 * kGiB, maps);
        Heap heap(0, device, device);
        Program program(device, heap, profile, streams, {});
        program.run(40'000);

        if (device.problems() != 0) std::printf("%s: %s\n", profile.name, device.first_problem);
        EXPECT(device.problems() == 0);
        EXPECT(statistic(heap, "allocated_bytes.all.current") == 0);
        EXPECT(statistic(heap, "reserved_bytes.all.current") ==
               static_cast<int64_t>(device.bytes_in_use()));
        EXPECT(statistic(heap, "reserved_bytes.all.peak") ==
               static_cast<int64_t>(device.peak_bytes()));

        const double bound = 1.02 * static_cast<double>(program.peak_live()) + 64.0 * kMiB;
        std::printf("%s %d %s: live %zu MiB, reserved %zu MiB, bound %.0f MiB, %zu maps\n",
                    profile.name, streams, maps ? "granules" : "segments",
                    program.peak_live() / kMiB, device.peak_bytes() / kMiB, bound / kMiB,
                    device.maps());
        if (maps) EXPECT(static_cast<double>(device.peak_bytes()) <= bound);

        heap.empty_cache();
        EXPECT(device.bytes_in_use() == 0 && device.problems() == 0);
      }
    }
  }
}

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "model") == 0) run_model(std::stoull(argv[2]));
  return failures != 0;
}
