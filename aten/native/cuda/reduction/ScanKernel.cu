// The kernels of running sums, products and extrema. See Note [Scans].
#include "aten/Dispatch.h"
#include "aten/native/cuda/Pack.cuh"
#include "aten/native/cuda/RunningExponentials.h"
#include "aten/native/cuda/Scan.cuh"
#include "aten/native/functors/Modular.h"
#include "aten/native/functors/RunningType.h"

namespace at::native::cuda {

namespace {

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

template <class T, class Accumulator>
struct RunningSum : RunningNumbers<T, Accumulator> {
  using State = Accumulator;
  SIMT_DEVICE State start() const { return State(0); }
  SIMT_DEVICE State combine(State a, State b) const { return static_cast<State>(a + b); }
};

template <class T, class Accumulator>
struct RunningProduct : RunningNumbers<T, Accumulator> {
  using State = Accumulator;
  SIMT_DEVICE State start() const { return State(1); }
  SIMT_DEVICE State combine(State a, State b) const {
    if constexpr (std::is_integral_v<State>) {
      return multiply_modular<State>(a, b);
    } else {
      return a * b;
    }
  }
};

template <template <class, class> class Ops>
void run(const char* name, const Tensor& self, int64_t dim, const Tensor& out) {
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

/// An element and its index, which is -1 for none.
template <class T>
struct Found {
  T value;
  int64_t index;
};

template <class T>
struct FoundPlace : InOut<T> {
  SIMT_DEVICE FoundPlace(const LaneTable& lanes, int64_t lane)
      : InOut<T>(lanes, lane), indices(lanes.find(2, lane)), index_step(lanes.steps[2]) {}
  char* indices;
  int64_t index_step;
};

template <class T, bool kMax>
struct RunningExtremum {
  using State = Found<T>;
  using Place = FoundPlace<T>;
  using Number = opmath_type<T>;

  SIMT_DEVICE State start() const { return {T{}, -1}; }
  SIMT_DEVICE State load(const Place& place, int64_t i) const { return {place.load(i), i}; }

  /// The later one wins if it is at least as extreme or NaN. A number never replaces a NaN.
  SIMT_DEVICE State combine(const State& a, const State& b) const {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    const auto before = static_cast<Number>(a.value);
    const auto after = static_cast<Number>(b.value);
    if (after != after) return b;
    if (before != before) return a;
    return (kMax ? after >= before : after <= before) ? b : a;
  }

  SIMT_DEVICE void store(const Place& place, int64_t i, const State& found) const {
    place.store(i, found.value);
    *reinterpret_cast<int64_t*>(place.indices + i * place.index_step) = found.index;
  }
};

template <bool kMax>
void run_extremum(const char* name, const Tensor& self, int64_t dim, const Tensor& values,
                  const Tensor& indices) {
  if (self.numel() == 0) return;
  const LaneTable lanes = lane_table(wrap_dim(dim, self.dim()), {&self, &values, &indices});
  AT_DISPATCH_REAL_AND_BOOL(self.scalar_type(), name, [&] {
    scan(name, lanes, static_cast<int64_t>(sizeof(scalar_t)), RunningExtremum<scalar_t, kMax>{});
  });
}

void weigh(const char* name, const Tensor& grad, const Tensor& self, const Tensor& output,
           int64_t dim, const Tensor& out, bool backward) {
  if (out.numel() == 0) return;

  const LaneTable lanes = lane_table(wrap_dim(dim, self.dim()), {&grad, &self, &output, &out});
  exponential_weights(name, lanes, out.scalar_type(), backward);
}

/// r[i] = term[i] + factor[i] * r[i - 1], one step after another: products of factors could
/// overflow where the recurrence does not.
template <class T>
SIMT_KERNEL recurrence_kernel(LaneTable lanes, bool reverse) {
  using Wide = typename RunningType<T>::type;
  const int64_t lane = int64_t{simt::block_x()} * kScanThreads + simt::thread_x();
  if (lane >= lanes.count) return;
  const char* const terms = lanes.find(0, lane);
  const char* const factors = lanes.find(1, lane);
  char* const out = lanes.find(2, lane);

  // The factor of the first step is not used: it may be infinite.
  Wide sum(0);
  for (int64_t step = 0; step < lanes.length; ++step) {
    const int64_t i = reverse ? lanes.length - 1 - step : step;
    const auto term = static_cast<Wide>(*reinterpret_cast<const T*>(terms + i * lanes.steps[0]));
    const auto factor =
        static_cast<Wide>(*reinterpret_cast<const T*>(factors + i * lanes.steps[1]));
    sum = step == 0 ? term : term + factor * sum;
    *reinterpret_cast<T*>(out + i * lanes.steps[2]) = static_cast<T>(sum);
  }
}

}  // namespace

void logcumsumexp_kernel(const Tensor& self, int64_t dim, const Tensor& out0) {
  if (self.numel() == 0) return;

  const LaneTable lanes = lane_table(wrap_dim(dim, self.dim()), {&self, &out0});
  running_log_sums(lanes, self.scalar_type());
}

void logcumsumexp_backward_kernel(const Tensor& grad_output, const Tensor& self,
                                  const Tensor& output, int64_t dim, const Tensor& out0) {
  weigh("_logcumsumexp_backward", grad_output, self, output, dim, out0, true);
}

void logcumsumexp_forward_kernel(const Tensor& grad_output, const Tensor& self,
                                 const Tensor& output, int64_t dim, const Tensor& out0) {
  weigh("_logcumsumexp_forward", grad_output, self, output, dim, out0, false);
}

void linear_recurrence_kernel(const Tensor& term, const Tensor& factor, int64_t dim, bool reverse,
                              const Tensor& out0) {
  if (out0.numel() == 0) return;

  const LaneTable lanes = lane_table(wrap_dim(dim, term.dim()), {&term, &factor, &out0});
  const int64_t blocks = (lanes.count + kScanThreads - 1) / kScanThreads;
  AT_DISPATCH_FLOATING_AND_COMPLEX(out0.scalar_type(), "_linear_recurrence", [&] {
    c10::cuda::launch("_linear_recurrence", &recurrence_kernel<scalar_t>,
                      dim3(static_cast<unsigned>(blocks)), dim3(kScanThreads), 0,
                      c10::cuda::current_stream(), lanes, reverse);
  });
}

void cumsum_kernel(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/,
                   const Tensor& out0) {
  run<RunningSum>("cumsum", self, dim, out0);
}

void cumprod_kernel(const Tensor& self, int64_t dim, std::optional<ScalarType> /*dtype*/,
                    const Tensor& out0) {
  run<RunningProduct>("cumprod", self, dim, out0);
}

void cummax_kernel(const Tensor& self, int64_t dim, const Tensor& out0, const Tensor& out1) {
  run_extremum<true>("cummax", self, dim, out0, out1);
}

void cummin_kernel(const Tensor& self, int64_t dim, const Tensor& out0, const Tensor& out1) {
  run_extremum<false>("cummin", self, dim, out0, out1);
}

}  // namespace at::native::cuda
