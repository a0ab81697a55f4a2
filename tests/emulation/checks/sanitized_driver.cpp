// Runs the kernel that is named under a sanitizer, which reports what is wrong with it, if
// anything.
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/emulation/checks/sample_kernels.h"
#include "tests/emulation/grid.h"

using c10::cuda::launch;

namespace {

SIMT_KERNEL beyond_shared() {
  SIMT_SHARED(before, float[32]);
  SIMT_SHARED(values, float[32]);
  before[simt::thread_x()] = 0;
  values[simt::thread_x() + 1] = 0;
}

SIMT_KERNEL beyond_dynamic_shared() { simt::dynamic_shared<float>()[simt::thread_x() + 1] = 0; }

SIMT_KERNEL blocks_write_same(int* out) {
  if (simt::thread_x() == 0) *out = static_cast<int>(simt::block_x());
}

SIMT_KERNEL blocks_add_atomically(int* out) { simt::atomic_add(out, 1); }

// Locals that other threads' stacks may have held, with a switch in between.
SIMT_KERNEL deep_stack(int* out) {
  volatile int local[256];
  for (int i = 0; i < 256; ++i) local[i] = i;
  simt::sync_block();
  simt::atomic_add(out, static_cast<int>(local[simt::thread_x()]));
}

SIMT_KERNEL ends_early() {
  volatile int local[64];
  local[simt::lane()] = 1;
  if (simt::thread_x() == 5) return;
  simt::sync_block();
  local[simt::lane()] = local[0];
}

std::vector<float> ones(1024, 1.0f);
float results[1024];
int numbers[64];
int whole[64];
unsigned counter;

struct Case {
  const char* name;
  void (*run)();
};

const Case kCases[] = {
    {"elementwise",
     [] { launch("f", checks::add, 2, 32, 0, nullptr, results, ones.data(), ones.data(), 64); }},
    {"elementwise_beyond",
     [] {
       std::vector<float> out(63);
       launch("f", checks::add, 2, 32, 0, nullptr, out.data(), ones.data(), ones.data(), 64);
     }},
    {"reduction",
     [] { launch("f", checks::sum_blocks<float, true>, 3, 64, 0, nullptr, results, ones.data()); }},
    {"reduction_without_barrier",
     [] {
       launch("f", checks::sum_blocks<float, false>, 3, 64, 0, nullptr, results, ones.data());
     }},
    {"one_pass",
     [] {
       launch("f", checks::sum_in_one_pass<true>, 4, 32, 0, nullptr, results, results + 8, &counter,
              ones.data());
     }},
    {"one_pass_without_fences",
     [] {
       launch("f", checks::sum_in_one_pass<false>, 4, 32, 0, nullptr, results, results + 8,
              &counter, ones.data());
     }},
    {"columns_in_one_pass",
     [] {
       launch("f", checks::sum_columns_in_one_pass<true>, 4, 32, 0, nullptr, results, results + 64,
              &counter, ones.data());
     }},
    {"columns_without_fences",
     [] {
       launch("f", checks::sum_columns_in_one_pass<false>, 4, 32, 0, nullptr, results, results + 64,
              &counter, ones.data());
     }},
    {"transpose",
     [] {
       launch("f", checks::transpose, dim3(2, 2), dim3(16, 16), 0, nullptr, results, ones.data());
     }},
    {"warp_exchange",
     [] { launch("f", checks::reverse_warps<true>, 1, 64, 0, nullptr, whole, numbers); }},
    {"warp_exchange_without_sync",
     [] { launch("f", checks::reverse_warps<false>, 1, 32, 0, nullptr, whole, numbers); }},
    {"chained_sum",
     [] {
       static unsigned ready[8], tickets;
       launch("f", checks::chained_sum, 8, 32, 0, nullptr, whole, numbers, ready, &tickets);
     }},
    {"deferred_copies",
     [] { launch("f", checks::double_copied<true>, 1, 64, 0, nullptr, results, ones.data()); }},
    {"matrices",
     [] {
       static c10::Half a[256], b[128];
       launch("f", checks::multiply_tile<c10::Half>, 1, 32, 0, nullptr, results, a, b);
     }},
    {"blocks_write_same", [] { launch("f", blocks_write_same, 2, 32, 0, nullptr, whole); }},
    {"blocks_add", [] { launch("f", blocks_add_atomically, 2, 32, 0, nullptr, whole); }},
    {"deep_stack", [] { launch("f", deep_stack, 4, 64, 0, nullptr, whole); }},
    {"two_launches",
     [] {
       launch("f", checks::add, 1, 32, 0, nullptr, results, ones.data(), ones.data(), 32);
       launch("f", checks::add, 1, 32, 0, nullptr, results, results, ones.data(), 32);
     }},
    {"shared_beyond", [] { launch("f", beyond_shared, 1, 32, 0, nullptr); }},
    {"dynamic_shared_beyond", [] { launch("f", beyond_dynamic_shared, 1, 32, 128, nullptr); }},
    {"fault",
     [] {
       for (int i = 0; i < 20; ++i) {
         try {
           launch("f", ends_early, 2, 64, 0, nullptr);
         } catch (const emulation::KernelError&) {
         }
         launch("f", deep_stack, 2, 64, 0, nullptr, whole);
       }
     }},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Case& one : kCases) {
    if (argc != 2 || std::strcmp(argv[1], one.name) != 0) continue;
    one.run();
    std::printf("ran\n");
    return 0;
  }
  return 1;
}
