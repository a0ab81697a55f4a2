// What the emulation costs: an element, a switch, a block, a launch. Prints one line each.
#include <chrono>
#include <cstdio>
#include <vector>

#include "tests/emulation/checks/sample_kernels.h"

using c10::cuda::launch;

namespace {

SIMT_KERNEL meet_often(int times) {
  for (int i = 0; i < times; ++i) simt::sync_block();
}

SIMT_KERNEL shuffle_often(int* out, int times) {
  int value = static_cast<int>(simt::lane());
  for (int i = 0; i < times; ++i) value = simt::shuffle_xor(simt::kFullMask, value, 1);
  *out = value;
}

/// Nanoseconds of one call: the best of some rounds.
template <class F>
double time_of(int calls, F f) {
  double best = 1e30;
  for (int round = 0; round < 7; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) f();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / calls);
  }
  return best;
}

void print(const char* what, double nanoseconds) {
  std::printf("%-46s %10.1f ns\n", what, nanoseconds);
}

}  // namespace

int main() {
  constexpr int kCount = 1 << 18;
  std::vector<float> a(kCount, 1.0f), b(kCount, 2.0f), out(kCount);
  int result = 0;

  print("contiguous add, 1 element a thread, an element",
        time_of(1, [&] {
          launch("add", checks::add, kCount / 256, 256, 0, nullptr, out.data(), a.data(), b.data(),
                 int64_t{kCount});
        }) / kCount);
  print("contiguous add, 16 elements a thread, an element",
        time_of(1, [&] {
          launch("add", checks::add_packs, kCount / 16 / 256, 256, 0, nullptr, out.data(), a.data(),
                 b.data(), int64_t{kCount});
        }) / kCount);
  print("barrier of 256 threads, a thread",
        time_of(1, [] { launch("meet", meet_often, 1, 256, 0, nullptr, 100); }) / 25600);
  print("shuffle of a warp, a lane",
        time_of(1, [&] { launch("shuffle", shuffle_often, 1, 32, 0, nullptr, &result, 1000); }) /
            32000);
  print("reduction of 256 threads, a block", time_of(10, [&] {
                                               launch("sum", checks::sum_blocks<float, true>, 8,
                                                      256, 0, nullptr, out.data(), a.data());
                                             }) / 8);
  print("launch of 100 elements", time_of(1000, [&] {
          launch("add", checks::add, 1, 128, 0, nullptr, out.data(), a.data(), b.data(),
                 int64_t{100});
        }));
}
