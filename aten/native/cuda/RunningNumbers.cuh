// Scans whose results have the dtype of the elements. See Note [Scans].
#pragma once
#include "aten/Dispatch.h"
#include "aten/native/cuda/Pack.cuh"
#include "aten/native/cuda/Scan.cuh"
#include "aten/native/functors/Modular.h"
#include "aten/native/functors/RunningType.h"

namespace at::native::cuda {

/// The input and the output of one lane.
template <class T>
struct InOut {
  using pack_t = Pack<T, kScanItems>;

  SIMT_DEVICE InOut(const LaneTable& lanes, int64_t lane)
      : in(lanes.find(0, lane)),
        out(lanes.find(1, lane)),
        in_step(lanes.steps[0]),
        out_step(lanes.steps[1]) {}

  SIMT_DEVICE T load(int64_t i) const { return *reinterpret_cast<const T*>(in + i * in_step); }
  SIMT_DEVICE void store(int64_t i, T value) const {
    *reinterpret_cast<T*>(out + i * out_step) = value;
  }

  /// Whether packs can be read and written, at multiples of kScanItems.
  SIMT_DEVICE bool is_packed() const {
    constexpr auto kStep = static_cast<int64_t>(sizeof(T));
    const auto addresses = reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(out);
    return in_step == kStep && out_step == kStep && addresses % sizeof(pack_t) == 0;
  }
  SIMT_DEVICE pack_t load_pack(int64_t i) const {
    return *reinterpret_cast<const pack_t*>(in + i * static_cast<int64_t>(sizeof(T)));
  }
  SIMT_DEVICE void store_pack(int64_t i, const pack_t& pack) const {
    *reinterpret_cast<pack_t*>(out + i * static_cast<int64_t>(sizeof(T))) = pack;
  }

  const char* in;
  char* out;
  int64_t in_step;
  int64_t out_step;
};

/// Results of elements of type T that are computed in another type.
template <class T, class Accumulator>
struct RunningNumbers {
  using State = Accumulator;
  using Item = T;
  using Place = InOut<T>;

  SIMT_DEVICE static State state(T item) { return static_cast<State>(item); }
  SIMT_DEVICE static T load(const Place& place, int64_t i) { return place.load(i); }
  SIMT_DEVICE static void store(const Place& place, int64_t i, State value) {
    place.store(i, static_cast<T>(value));
  }
  SIMT_DEVICE static void load_pack(const Place& place, int64_t i, T (&items)[kScanItems]) {
    const auto pack = place.load_pack(i);
    SIMT_UNROLL
    for (int k = 0; k < kScanItems; ++k) items[k] = pack.values[k];
  }
  SIMT_DEVICE static void store_pack(const Place& place, int64_t i,
                                     const State (&values)[kScanItems]) {
    typename Place::pack_t pack;
    SIMT_UNROLL
    for (int k = 0; k < kScanItems; ++k) pack.values[k] = static_cast<T>(values[k]);
    place.store_pack(i, pack);
  }
};

/// Scans with Ops<T, State> for the dtype of `out`.
template <template <class, class> class Ops>
void run_numbers(const char* name, const Tensor& self, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor source = self.to(out.scalar_type());
  const LaneTable lanes = lane_table(wrap_dim(dim, self.dim()), {&source, &out});
  const auto itemsize = static_cast<int64_t>(out.itemsize());

  if (is_integral(out.scalar_type(), false)) {
    return dispatch_modular(out.scalar_type(),
                            [&]<typename T>() { scan(name, lanes, itemsize, Ops<T, T>{}); });
  }
  AT_DISPATCH_FLOATING_AND_COMPLEX(out.scalar_type(), name, [&] {
    scan(name, lanes, itemsize, Ops<scalar_t, typename RunningType<scalar_t>::type>{});
  });
}

}  // namespace at::native::cuda
