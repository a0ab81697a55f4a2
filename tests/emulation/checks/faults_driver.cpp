// Kernels with one fault each: prints what the emulation says about the one that is named.
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/emulation/checks/sample_kernels.h"
#include "tests/emulation/grid.h"

using c10::cuda::launch;

namespace {

SIMT_KERNEL different_barriers() {
  if (simt::thread_x() == 5) simt::sync_block();  // line A
  else simt::sync_block();                        // line B
}

SIMT_KERNEL ended_before_barrier() {
  if (simt::thread_x() == 5) return;
  simt::sync_block();  // line A
}

SIMT_KERNEL barrier_of_half_a_warp() {
  if (simt::lane() < 16) simt::sync_block();  // line A
  else simt::sync_warp(simt::kFullMask);      // line B
}

SIMT_KERNEL different_shuffles(int* out) {
  if (simt::lane() % 2 == 0) *out = simt::shuffle_down(simt::kFullMask, 1, 1);  // line A
  else *out = simt::shuffle_down(simt::kFullMask, 2, 1);                        // line B
}

SIMT_KERNEL different_masks(int* out) {
  const unsigned mask = simt::lane() < 8 ? 0xffffu : simt::kFullMask;
  *out = simt::shuffle_xor(mask, 1, 1);  // line A
}

SIMT_KERNEL ended_lane(int* out) {
  if (simt::lane() == 9) return;
  *out = simt::shuffle_down(simt::kFullMask, 1, 1);  // line A
}

SIMT_KERNEL absent_lane(int* out) {
  *out = simt::shuffle_down(simt::kFullMask, 1, 1);  // line A
}

SIMT_KERNEL not_in_own_mask(int* out) {
  *out = simt::shuffle_index(0xffu, 1, 0);  // line A
}

SIMT_KERNEL reads_outside_mask(int* out) {
  if (simt::lane() < 16) *out = simt::shuffle_down(0xffffu, 1, 1);  // line A
}

SIMT_KERNEL pauses_for_ever(unsigned* flag) {
  while (simt::load_acquire(flag) == 0) simt::pause();  // line A
}

SIMT_KERNEL spins_for_ever(unsigned* flag) {
  while (simt::load_acquire(flag) == 0)  // line A
    continue;
}

SIMT_KERNEL too_much_shared() {
  SIMT_SHARED(large, double[8000]);
  large[simt::thread_x()] = 1;
}

SIMT_KERNEL no_dynamic_shared() { simt::dynamic_shared<int>()[simt::thread_x()] = 1; }

SIMT_KERNEL misaligned_copy(const float* in) {
  SIMT_SHARED(values, float[64]);
  simt::copy_async<16>(&values[1], in);
}

SIMT_KERNEL throws() { throw std::string("an object of the kernel's own"); }

int result = 0;
unsigned flag = 0;
alignas(16) float floats[4 * 64 + 1];
float sums[4];
int values[32];

struct Fault {
  const char* name;
  void (*run)();
};

const Fault kFaults[] = {
    {"different_barriers", [] { launch("f", different_barriers, 1, 64, 0, nullptr); }},
    {"ended_before_barrier", [] { launch("f", ended_before_barrier, 2, 64, 0, nullptr); }},
    {"barrier_of_half_a_warp", [] { launch("f", barrier_of_half_a_warp, 1, 32, 0, nullptr); }},
    {"different_shuffles", [] { launch("f", different_shuffles, 1, 32, 0, nullptr, &result); }},
    {"different_masks", [] { launch("f", different_masks, 1, 32, 0, nullptr, &result); }},
    {"ended_lane", [] { launch("f", ended_lane, 1, 32, 0, nullptr, &result); }},
    {"absent_lane", [] { launch("f", absent_lane, 1, 40, 0, nullptr, &result); }},
    {"not_in_own_mask", [] { launch("f", not_in_own_mask, 1, 32, 0, nullptr, &result); }},
    {"reads_outside_mask", [] { launch("f", reads_outside_mask, 1, 32, 0, nullptr, &result); }},
    {"pauses_for_ever", [] { launch("f", pauses_for_ever, 1, 4, 0, nullptr, &flag); }},
    {"spins_for_ever", [] { launch("f", spins_for_ever, 1, 4, 0, nullptr, &flag); }},
    {"too_much_shared", [] { launch("f", too_much_shared, 1, 32, 0, nullptr); }},
    {"no_dynamic_shared", [] { launch("f", no_dynamic_shared, 1, 32, 0, nullptr); }},
    {"misaligned_copy", [] { launch("f", misaligned_copy, 1, 32, 0, nullptr, floats); }},
    {"throws", [] { launch("f", throws, 3, 32, 0, nullptr); }},
    {"large_block", [] { launch("f", throws, 1, 1025, 0, nullptr); }},
    {"empty_grid", [] { launch("f", throws, 0, 32, 0, nullptr); }},
    {"large_dynamic_shared", [] { launch("f", throws, 1, 32, 300000, nullptr); }},
    // Not reported by themselves: they give wrong numbers, which the caller prints.
    {"missing_barrier",
     [] {
       for (float& value : floats) value = 1;
       launch("f", checks::sum_blocks<float, false>, 1, 256, 0, nullptr, sums, floats);
       std::printf("%g\n", static_cast<double>(sums[0]));
     }},
    {"missing_warp_barrier",
     [] {
       for (int i = 0; i < 32; ++i) values[i] = i;
       int reversed[32];
       launch("f", checks::reverse_warps<false>, 1, 32, 0, nullptr, reversed, values);
       int wrong = 0;
       for (int i = 0; i < 32; ++i) wrong += reversed[i] != 31 - i;
       std::printf("%d\n", wrong);
     }},
    {"missing_wait",
     [] {
       launch("f", checks::double_copied<false>, 1, 64, 0, nullptr, floats, floats);
       std::printf("%g\n", static_cast<double>(floats[7]));
     }},
};

int run(const Fault& fault) {
  try {
    fault.run();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  } catch (const std::string& text) {
    std::printf("%s\n", text.c_str());
  }

  // The next kernel finds everything as if nothing had happened.
  float in[1024], out[4];
  for (float& value : in) value = 1;
  launch("sum", checks::sum_blocks<float, true>, 4, 256, 0, nullptr, out, in);
  for (const float sum : out)
    if (sum != 256) return 2;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (const Fault& fault : kFaults)
    if (argc == 2 && std::strcmp(argv[1], fault.name) == 0) return run(fault);
  return 1;
}
