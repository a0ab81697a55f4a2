// The engines of elements, reductions and rows against plain loops, in every order of threads.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "aten/native/cuda/Reduce.cuh"
#include "aten/native/functors/Arithmetic.h"
#include "aten/native/functors/Extremum.h"
#include "aten/native/functors/Product.h"
#include "aten/native/functors/Sum.h"
#include "tests/emulation/checks/check.h"
#include "tests/emulation/checks/row_formulas.h"
#include "tests/emulation/grid.h"

using namespace at;
using namespace at::native;
using namespace at::native::cuda;

// --- What the engines need of the runtime ---

cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t) {
  std::memset(data, value, bytes);
  return cudaSuccess;
}

c10::Allocator::~Allocator() = default;

namespace c10::cuda {

cudaStream_t current_stream() { return nullptr; }

Allocator& device_allocator() {
  static struct : Allocator {
    DataPtr allocate(size_t bytes, DeviceIndex) override {
      void* const memory = std::malloc(bytes);
      std::memset(memory, 0xff, bytes);
      return {memory, memory, [](void* context) { std::free(context); }, kCPU};
    }
  } allocator;
  return allocator;
}

}  // namespace c10::cuda

namespace {

using Sizes = std::vector<int64_t>;

std::mt19937 random_bits(1);

template <class T>
T random_value() {
  const auto small = static_cast<int>(random_bits() % 15) - 5;
  if constexpr (c10::is_complex_v<T>) return T(small, static_cast<int>(random_bits() % 7));
  return static_cast<T>(static_cast<float>(std::is_unsigned_v<T> ? small + 5 : small));
}

/// Memory of a strided operand, with elements around it that must not change.
template <class T>
struct Strided {
  std::vector<T> memory;
  Sizes strides;
  int64_t first = 0;

  Strided(const Sizes& sizes, Sizes given, int64_t offset = 0) : strides(std::move(given)) {
    int64_t low = 0;
    int64_t high = 0;
    for (size_t d = 0; d < sizes.size(); ++d)
      (strides[d] < 0 ? low : high) += strides[d] * (sizes[d] - 1);
    first = offset - low;
    memory.resize(static_cast<size_t>(first + high + 3));
    for (T& value : memory) value = random_value<T>();
  }

  T& at(const Sizes& index) {
    int64_t place = first;
    for (size_t d = 0; d < index.size(); ++d) place += index[d] * strides[d];
    return memory[static_cast<size_t>(place)];
  }

  void add_to(LaunchPlan& plan) {
    const int k = plan.operands++;
    plan.operand[k].data = reinterpret_cast<char*>(memory.data() + first);
    plan.operand[k].dtype = scalar_type_of<T>;
    for (int d = 0; d < plan.dims; ++d) {
      const bool is_one = plan.sizes[d] == 1;
      plan.strides[k][d] = is_one ? 0 : strides[d] * static_cast<int64_t>(sizeof(T));
    }
  }
};

LaunchPlan empty_plan(const Sizes& sizes) {
  LaunchPlan plan;
  plan.op_name = "test";
  plan.dims = static_cast<int>(sizes.size());
  plan.numel = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    plan.sizes[d] = sizes[d];
    plan.numel *= sizes[d];
  }
  return plan;
}

template <class F>
void for_each_index(const Sizes& sizes, const F& f) {
  Sizes index(sizes.size(), 0);
  for (const int64_t size : sizes) {
    if (size == 0) return;
  }
  for (;;) {
    f(index);
    size_t d = 0;
    for (; d < sizes.size() && ++index[d] == sizes[d]; ++d) index[d] = 0;
    if (d == sizes.size()) return;
  }
}

Sizes dense(const Sizes& sizes) {
  Sizes strides;
  int64_t stride = 1;
  for (const int64_t size : sizes) {
    strides.push_back(stride);
    stride *= size;
  }
  return strides;
}

// --- Elementwise ---

/// out = a + 2 b, with b a number if `number`. Everything around the result stays.
template <class T>
void check_sum(const Sizes& sizes, const Sizes& out, const Sizes& a, const Sizes& b, int64_t offset,
               bool number, int64_t limit) {
  Strided<T> result(sizes, out, offset);
  Strided<T> first(sizes, a, offset);
  Strided<T> second(sizes, b, 0);
  LaunchPlan plan = empty_plan(sizes);
  result.add_to(plan);
  first.add_to(plan);
  second.add_to(plan);

  const T value = random_value<T>();
  if (number) {
    plan.operand[2] = {};
    plan.operand[2].dtype = scalar_type_of<T>;
    plan.operand[2].is_number = true;
    std::memcpy(plan.operand[2].number, &value, sizeof(T));
    for (int64_t& stride : plan.strides[2]) stride = 0;
  }

  using Alpha = opmath_type<T>;
  const AddNumbers<T, Alpha, false> functor{Alpha(2)};
  std::vector<T> expected = result.memory;
  std::swap(expected, result.memory);
  for_each_index(sizes, [&](const Sizes& index) {
    result.at(index) = functor(first.at(index), number ? value : second.at(index));
  });
  std::swap(expected, result.memory);

  elementwise<T, T, T>(plan, "test", functor, limit);
  CHECK(std::memcmp(expected.data(), result.memory.data(), expected.size() * sizeof(T)) == 0);
}

template <class T>
void check_sums() {
  for (const int64_t limit : {LaunchPlan::kMaxSpan, int64_t{1000}}) {
    for (const int64_t n : {0, 1, 2, 3, 5, 255, 1024, 1025, 9001}) {
      for (const bool number : {false, true}) {
        check_sum<T>({n}, {1}, {1}, {1}, 0, number, limit);
        check_sum<T>({n}, {1}, {1}, {0}, 0, number, limit);
        check_sum<T>({n}, {1}, {1}, {1}, 1, number, limit);
        check_sum<T>({n}, {1}, {-1}, {3}, 0, number, limit);
      }
    }

    const Sizes sizes = {16, 5, 9};
    for (const Sizes& b : {Sizes{1, 16, 80}, Sizes{1, 0, 0}, Sizes{0, 1, 0}, Sizes{0, 0, 0},
                           Sizes{45, 9, 1}, Sizes{-1, 16, -80}}) {
      check_sum<T>(sizes, dense(sizes), dense(sizes), b, 0, false, limit);
      check_sum<T>(sizes, {45, 9, 1}, {45, 1, 5}, b, 2, false, limit);
    }
    check_sum<T>({2, 1, 2, 3, 2, 1, 2, 2, 2, 2, 2, 2}, dense({2, 1, 2, 3, 2, 1, 2, 2, 2, 2, 2, 2}),
                 Sizes(12, 3), Sizes(12, 1), 0, false, limit);
  }
}

struct Less {
  C10_HOST_DEVICE bool operator()(float a, double b) const { return a < b; }
};

/// Operands of different sizes share a pack's width.
void check_mixed_types() {
  for (const int64_t n : {1, 7, 64, 1000}) {
    Strided<uint8_t> out({n}, {1});  // std::vector<bool> packs bits
    Strided<float> a({n}, {1});
    Strided<double> b({n}, {1});
    LaunchPlan plan = empty_plan({n});
    out.add_to(plan);
    a.add_to(plan);
    b.add_to(plan);
    elementwise(plan, Less());
    for (int64_t i = 0; i < n; ++i) CHECK(out.at({i}) == (a.at({i}) < b.at({i})));
  }
}

// --- Reductions ---

/// Strides of a result: dense, and 0 along the dimensions whose bit in `reduced` is set.
Sizes result_strides(const Sizes& sizes, unsigned reduced) {
  Sizes strides;
  int64_t stride = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool is_reduced = (reduced >> d & 1) != 0;
    strides.push_back(is_reduced ? 0 : stride);
    if (!is_reduced) stride *= sizes[d];
  }
  return strides;
}

/// Calls f(index of the first element) for each result.
template <class F>
void for_each_result(const Sizes& sizes, unsigned reduced, const F& f) {
  Sizes kept = sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (reduced >> d & 1) kept[d] = 1;
  }
  for_each_index(kept, f);
}

/// Calls f(element, number of the element) for the elements of the result at `index`.
template <class T, class F>
void for_each_reduced(Strided<T>& input, const Sizes& sizes, unsigned reduced, const Sizes& index,
                      const F& f) {
  Sizes inner = sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!(reduced >> d & 1)) inner[d] = 1;
  }
  int64_t number = 0;
  for_each_index(inner, [&](Sizes at) {
    for (size_t d = 0; d < sizes.size(); ++d) at[d] += index[d];
    f(input.at(at), number++);
  });
}

template <class Ops, class Reference>
void check_reduction(const Sizes& sizes, const Sizes& strides, unsigned reduced, const Ops& ops,
                     int64_t limit, const Reference& reference) {
  using T = typename Ops::input_t;
  Strided<T> input(sizes, strides);
  Strided<typename Ops::output_t> out(sizes, result_strides(sizes, reduced));
  LaunchPlan plan = empty_plan(sizes);
  out.add_to(plan);
  input.add_to(plan);

  reduce_elements(plan, ops, limit);
  for_each_result(sizes, reduced, [&](const Sizes& index) {
    const auto check =
        reference([&](const auto& f) { for_each_reduced(input, sizes, reduced, index, f); });
    CHECK(check(out.at(index)));
  });
}

/// Sums of small integers, which are exact in every type.
template <class Ops>
void check_sum_of(const Sizes& sizes, const Sizes& strides, unsigned reduced, const Ops& ops,
                  int64_t limit) {
  using T = typename Ops::input_t;
  using acc_t = typename Ops::acc_t;
  check_reduction(sizes, strides, reduced, ops, limit, [&](const auto& each) {
    acc_t total = acc_t(0);
    each([&](T value, int64_t) { total = static_cast<acc_t>(total + static_cast<acc_t>(value)); });
    return [total, &ops](auto found) {
      const auto expected = ops.project(total);
      return std::memcmp(&found, &expected, sizeof(found)) == 0;
    };
  });
}

struct Layout {
  Sizes sizes;
  Sizes strides;
  unsigned reduced;
};

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {{1}, {1}, 1},
      {{3}, {1}, 1},
      {{5}, {1}, 1},
      {{15}, {1}, 1},
      {{1000}, {1}, 1},
      {{9001}, {1}, 1},
      {{50000}, {1}, 1},
      {{3000}, {2}, 1},
      {{7}, {1}, 0},

      // Rows, columns, and several dimensions of both.
      {{3, 100}, {1, 3}, 1},
      {{64, 33}, {1, 64}, 1},
      {{100, 9}, {1, 100}, 1},
      {{1000, 3}, {1, 1000}, 1},
      {{1001, 3}, {1, 1001}, 1},
      {{20000, 2}, {1, 20000}, 1},
      {{3, 1000}, {1, 3}, 2},
      {{64, 1000}, {1, 64}, 2},
      {{65, 300}, {1, 65}, 2},
      {{300, 5}, {1, 300}, 2},
      {{4, 60000}, {1, 4}, 2},
      {{8, 5, 12}, {1, 8, 40}, 5},
      {{8, 5, 12}, {1, 8, 40}, 2},
      {{8, 5, 12}, {1, 8, 40}, 6},
      {{8, 5, 12}, {1, 8, 40}, 3},
      {{5, 16, 7}, {112, 1, 16}, 1},
      {{5, 16, 7}, {112, 1, 16}, 2},
      {{4, 6, 5, 3}, {1, 4, 24, 120}, 10},
      {{4, 6, 5, 3}, {1, 4, 24, 120}, 5},
      {{40, 6, 5}, {1, -40, 240}, 6},
  };
  return all;
}

template <class T>
void check_sums_of_layouts() {
  for (const int64_t limit : {int64_t{1} << 31, int64_t{1}}) {
    for (const Layout& layout : layouts()) {
      if constexpr (std::is_integral_v<T>) {
        check_sum_of(layout.sizes, layout.strides, layout.reduced, SumOfIntegers<T>(), limit);
      } else {
        using divisor_t = typename Sum<T>::divisor_t;
        check_sum_of(layout.sizes, layout.strides, layout.reduced, Sum<T>{divisor_t(1)}, limit);
      }
    }
  }
}

/// The first largest element and its position.
template <class T>
void check_positions() {
  for (const Layout& layout : layouts()) {
    if (__builtin_popcount(layout.reduced) > 1) continue;
    Strided<T> input(layout.sizes, layout.strides);
    const Sizes strides = result_strides(layout.sizes, layout.reduced);
    Strided<int64_t> positions(layout.sizes, strides);
    Strided<T> values(layout.sizes, strides);
    LaunchPlan plan = empty_plan(layout.sizes);
    positions.add_to(plan);
    input.add_to(plan);
    values.add_to(plan);
    reduce_elements(plan, ExtremumAt<T>{true});

    for_each_result(layout.sizes, layout.reduced, [&](const Sizes& index) {
      int64_t best = -1;
      T most{};
      for_each_reduced(input, layout.sizes, layout.reduced, index, [&](T value, int64_t number) {
        if (best < 0 || value > most) {
          best = number;
          most = value;
        }
      });
      CHECK(positions.at(index) == best);
      CHECK(values.at(index) == most);
    });
  }
}

/// A long sum of numbers that are not exact: twice the same bits, and close to the sum in double.
void check_accuracy() {
  const int64_t n = 1 << 20;
  std::vector<float> values(n);
  double exact = 0;
  for (float& value : values) {
    value = static_cast<float>(random_bits()) * 0x1p-32f;
    exact += value;
  }

  float sums[2];
  for (float& sum : sums) {
    LaunchPlan plan = empty_plan({n});
    plan.operands = 2;
    plan.operand[0].data = reinterpret_cast<char*>(&sum);
    plan.operand[1].data = reinterpret_cast<char*>(values.data());
    plan.operand[0].dtype = plan.operand[1].dtype = kFloat;
    plan.strides[1][0] = sizeof(float);
    reduce_elements(plan, Sum<float>{1.0f});
  }
  CHECK(sums[0] == sums[1]);
  CHECK(std::abs(sums[0] - exact) < exact * 2e-7);
}

void check_all() {
  check_sums<float>();
  check_sums<double>();
  check_sums<c10::BFloat16>();
  check_sums<c10::complex<double>>();
  check_mixed_types();

  check_sums_of_layouts<float>();
  check_sums_of_layouts<double>();
  check_sums_of_layouts<c10::Half>();
  check_sums_of_layouts<c10::complex<double>>();
  check_sums_of_layouts<uint8_t>();
  check_sums_of_layouts<uint64_t>();
  check_positions<float>();
  check_positions<uint8_t>();
  check_positions<double>();
  check_accuracy();

  row_formulas::check<float>();
  row_formulas::check<c10::complex<double>>();
}

}  // namespace

int main(int argc, char** argv) {
  for (int k = 1; k < argc; ++k) {
    emulation::Schedule schedule;
    emulation::parse_order(argv[k], schedule);
    emulation::set_schedule(schedule);
    check_all();
  }
  std::puts("ok");
}
