// logcumsumexp and its derivatives as scans. See Note [Scans].
#include "aten/native/cuda/RunningExponentials.h"

#include "aten/Dispatch.h"
#include "aten/native/cuda/Scan.cuh"
#include "aten/native/functors/RunningExponentials.h"
#include "c10/util/complex_math.h"

// Complex numbers get a thread per lane: the imaginary part of a running result depends on the
// order of the additions, by multiples of 2 pi, and products of complex factors could overflow.

namespace at::native::cuda {

namespace {

template <class T>
constexpr bool kIsComplex = false;
template <class T>
constexpr bool kIsComplex<c10::complex<T>> = true;

template <class T>
using WideNumber = std::conditional_t<kIsComplex<T>, c10::complex<double>, double>;

template <class Wide, class T>
SIMT_DEVICE Wide widened(T value) {
  if constexpr (kIsComplex<T>) {
    return Wide(value);
  } else {
    return static_cast<Wide>(value);
  }
}

/// One operand's elements of a lane.
template <class T>
struct LaneElements {
  char* data;
  int64_t step;

  SIMT_DEVICE LaneElements(const LaneTable& lanes, int operand, int64_t lane)
      : data(lanes.find(operand, lane)), step(lanes.steps[operand]) {}
  SIMT_DEVICE T& operator[](int64_t i) const { return *reinterpret_cast<T*>(data + i * step); }
};

template <class T>
struct RunningLogSum {
  using State = WideNumber<T>;
  struct Place {
    LaneElements<T> in;
    LaneElements<T> out;
    SIMT_DEVICE Place(const LaneTable& lanes, int64_t lane)
        : in(lanes, 0, lane), out(lanes, 1, lane) {}
  };

  SIMT_DEVICE State start() const { return State(-std::numeric_limits<double>::infinity()); }
  SIMT_DEVICE State load(const Place& place, int64_t i) const {
    return widened<State>(place.in[i]);
  }
  SIMT_DEVICE State combine(const State& a, const State& b) const { return add_exponential(a, b); }
  SIMT_DEVICE void store(const Place& place, int64_t i, const State& value) const {
    place.out[i] = static_cast<T>(value);
  }
};

/// What a stretch of a lane makes of the sum before it: sum * factor + own.
template <class Wide>
struct WeightedSum {
  Wide factor;
  Wide own;
};

template <class T>
struct WeightedLanes {
  LaneElements<T> grad;
  LaneElements<T> self;
  LaneElements<T> output;
  LaneElements<T> out;
  int64_t length;

  SIMT_DEVICE WeightedLanes(const LaneTable& lanes, int64_t lane)
      : grad(lanes, 0, lane),
        self(lanes, 1, lane),
        output(lanes, 2, lane),
        out(lanes, 3, lane),
        length(lanes.length) {}
};

/// The sums are explained at the kernels of the CPU. kBackward goes from the last element to the
/// first.
template <class T, bool kBackward>
struct ExponentialWeights {
  using Wide = WideNumber<T>;
  using State = WeightedSum<Wide>;
  using Place = WeightedLanes<T>;

  SIMT_DEVICE State start() const { return {Wide(1), Wide(0)}; }
  SIMT_DEVICE State combine(const State& a, const State& b) const {
    return {a.factor * b.factor, a.own * b.factor + b.own};
  }

  SIMT_DEVICE State load(const Place& place, int64_t step) const {
    const int64_t i = kBackward ? place.length - 1 - step : step;
    const Wide result = widened<Wide>(place.output[i]);
    const Wide grad = widened<Wide>(place.grad[i]);
    const Wide own =
        kBackward ? grad : grad * exponential_share(widened<Wide>(place.self[i]), result);
    if (step == 0) return {Wide(1), own};

    const Wide before = widened<Wide>(place.output[kBackward ? i + 1 : i - 1]);
    return {kBackward ? exponential_ratio(result, before) : exponential_ratio(before, result), own};
  }

  SIMT_DEVICE void store(const Place& place, int64_t step, const State& state) const {
    const int64_t i = kBackward ? place.length - 1 - step : step;
    if constexpr (kBackward) {
      const Wide share =
          exponential_share(widened<Wide>(place.self[i]), widened<Wide>(place.output[i]));
      place.out[i] = static_cast<T>(state.own * share);
    } else {
      place.out[i] = static_cast<T>(state.own);
    }
  }
};

/// `ops` has the type of the elements as its first parameter.
template <class T, class Ops>
void scan_exponentials(const char* name, const LaneTable& lanes, const Ops& ops) {
  if constexpr (kIsComplex<T>) {
    scan_by_threads(name, lanes, ops);
  } else {
    scan(name, lanes, static_cast<int64_t>(sizeof(T)), ops);
  }
}

}  // namespace

void running_log_sums(const LaneTable& lanes, ScalarType type) {
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, "logcumsumexp", [&] {
    scan_exponentials<scalar_t>("logcumsumexp", lanes, RunningLogSum<scalar_t>{});
  });
}

void exponential_weights(const char* name, const LaneTable& lanes, ScalarType type, bool backward) {
  AT_DISPATCH_FLOATING_AND_COMPLEX(type, name, [&] {
    backward ? scan_exponentials<scalar_t>(name, lanes, ExponentialWeights<scalar_t, true>{})
             : scan_exponentials<scalar_t>(name, lanes, ExponentialWeights<scalar_t, false>{});
  });
}

}  // namespace at::native::cuda
