// Uses every part of c10/cuda/Simt.h, to be compiled by nvcc. It is not run.
#include <cmath>

#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"
#include "tests/emulation/checks/sample_kernels.h"

namespace {

struct Wide {
  double value;
  int64_t place;
};

SIMT_KERNEL SIMT_LAUNCH_BOUNDS(256)
    atomics(c10::Half* half, c10::BFloat16* bfloat, float* single, double* real, int8_t* small,
            int64_t* large, unsigned* bits) {
  simt::atomic_add(half, c10::Half(1.0f));
  simt::atomic_add(bfloat, c10::BFloat16(1.0f));
  simt::atomic_add(single, 1.0f);
  simt::atomic_add(real, 1.0);
  simt::atomic_add(large, int64_t{4});
  simt::atomic_max(single, NAN);
  simt::atomic_max(real, 3.0);
  simt::atomic_min(large, int64_t{3});
  simt::atomic_exchange(single, 2.0f);
  simt::atomic_cas(bits, 3u, 4u);
  simt::atomic_update(small, [](int8_t old) { return static_cast<int8_t>(old ^ 5); });
  simt::fence();
  simt::fence_block();
  simt::store_release(large, simt::load_acquire(large));
  simt::pause();
}

SIMT_KERNEL lanes(Wide* wide, int8_t* small, unsigned* out) {
  *wide = simt::shuffle_xor(simt::kFullMask, *wide, 1);
  *small = simt::shuffle_up(simt::kFullMask, *small, 1, 8);

  unsigned sum = simt::shuffle_index(simt::kFullMask, *out, 3);
  sum += simt::ballot(simt::kFullMask, sum > 1);
  sum += simt::any(simt::kFullMask, sum > 2) + simt::all(simt::kFullMask, sum > 3);
  sum += simt::sync_block_count(sum > 4);
  simt::sync_warp();
  sum += simt::popcount(sum) + simt::count_leading_zeros(sum) + simt::find_first_set(sum);
  simt::store_streaming(wide, simt::load_streaming(wide));

  uint32_t quarters[1];
  simt::load_matrices<1>(quarters, wide);
  uint32_t halves[2];
  simt::load_matrices<2>(halves, wide);
  uint32_t whole[4];
  simt::load_matrices<4, true>(whole, wide);
  sum += quarters[0] + halves[1] + whole[3];
  *out = sum + simt::warp() + simt::thread_z() + simt::block_z() + simt::grid_dim_z();
}

}  // namespace

void launch_all(cudaStream_t stream) {
  using c10::cuda::launch;
  const dim3 block(32, 8);

  launch("add", checks::add_packs, 1, block, 0, stream, nullptr, nullptr, nullptr, 7);
  launch("sum", checks::sum_blocks<double, true>, 1, block, 0, stream, nullptr, nullptr);
  launch("sum", checks::sum_in_one_pass<true>, 1, block, 0, stream, nullptr, nullptr, nullptr,
         nullptr);
  launch("transpose", checks::transpose, dim3(1, 2), block, 0, stream, nullptr, nullptr);
  launch("scan", checks::scan_block, 1, block, 60000, stream, nullptr, nullptr);
  launch("reverse", checks::reverse_warps<true>, 1, block, 0, stream, nullptr, nullptr);
  launch("double", checks::double_copied<true>, 1, block, 0, stream, nullptr, nullptr);
  launch("chain", checks::chained_sum, 1, block, 0, stream, nullptr, nullptr, nullptr, nullptr);
  launch("index", checks::check_indices, 1, block, 0, stream, simt::Reporter{}, nullptr, 3);
  launch("multiply", checks::multiply_tile<c10::Half>, 1, 32, 0, stream, nullptr, nullptr, nullptr);
  launch("multiply", checks::multiply_tile<c10::BFloat16>, 1, 32, 0, stream, nullptr, nullptr,
         nullptr);
  launch("atomics", atomics, 1, block, 0, stream, nullptr, nullptr, nullptr, nullptr, nullptr,
         nullptr, nullptr);
  launch("lanes", lanes, 1, block, 0, stream, nullptr, nullptr, nullptr);
}
