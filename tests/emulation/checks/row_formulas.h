// Formulas over rows against plain loops: of neighbouring elements, of columns, of rows of several
// dimensions, in packs and one by one, with a tensor that all rows share.
#pragma once
#include <cmath>
#include <vector>

#include "aten/native/cuda/RowFormula.cuh"
#include "tests/emulation/checks/check.h"

namespace row_formulas {

using namespace at;
using namespace at::native;
using namespace at::native::cuda;

/// sum(self * weight) / amax(abs(self)), and self times that, as the generator prints them.
template <class scalar_t, bool kIsReduction>
struct WeightedRow {
  using opmath_t = opmath_type<scalar_t>;
  using real_t = c10::scalar_value_type_t<opmath_t>;

  RowFormulaOperands<2> operands;
  real_t scale_value;

  template <class Walk, class Threads>
  SIMT_DEVICE void operator()(const RowPlace& place, const Walk& walk, Threads& threads) const {
    const FormulaRow<scalar_t, 2, Walk> row(operands, place, walk);

    RowTotal<RowSum, opmath_t, Walk> row0_total;
    RowTotal<RowMaximum, real_t, Walk> row1_total;
    row.each([&](opmath_t self, opmath_t weight) {
      row0_total.add(static_cast<opmath_t>(self * weight));
      row1_total.add(static_cast<real_t>(vec::abs(self)));
    });
    const opmath_t row0 = row0_total.join(threads);
    const real_t row1 = row1_total.join(threads);

    const opmath_t row2 = row0 / row1;

    if constexpr (kIsReduction) {
      if (threads.leads()) row.store_value(static_cast<scalar_t>(row2));
    } else {
      row.template store<scalar_t>(
          [&](opmath_t self, opmath_t) { return scale_value * self * row2; });
    }
  }
};

/// Places in memory, in elements.
struct Layout {
  std::vector<int64_t> kept;  // sizes; fastest dimension first
  std::vector<int64_t> row;
  std::vector<int64_t> kept_strides[3];  // of the result, self and the weight
  std::vector<int64_t> row_strides[3];
  int64_t first = 0;  // of self

  static int64_t product(const std::vector<int64_t>& sizes) {
    int64_t all = 1;
    for (const int64_t size : sizes) all *= size;
    return all;
  }
  static int64_t offset(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                        int64_t index) {
    int64_t found = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      found += index % sizes[d] * strides[d];
      index /= sizes[d];
    }
    return found;
  }
  int64_t place(int k, int64_t outer, int64_t inner) const {
    return offset(kept, kept_strides[k], outer) + offset(row, row_strides[k], inner) +
           (k == 1 ? first : 0);
  }
};

inline std::vector<Layout> layouts() {
  std::vector<Layout> found;
  for (const int64_t n : {1, 6, 32, 516, 9003}) {
    // Rows of neighbouring elements, of which all have one weight; columns; a weight for each row.
    found.push_back({{5}, {n}, {{n}, {n}, {0}}, {{1}, {1}, {1}}, 0});
    found.push_back({{5}, {n}, {{n}, {n}, {0}}, {{1}, {1}, {1}}, 1});
    found.push_back({{5, 3}, {n}, {{1, 5 * n}, {1, 5 * n}, {0, 1}}, {{5}, {5}, {3}}, 0});
    found.push_back({{5}, {n}, {{n}, {n}, {1}}, {{1}, {1}, {0}}, 0});
  }
  // Rows of two dimensions.
  found.push_back({{3}, {8, 40}, {{8}, {8}, {8}}, {{1, 24}, {1, 24}, {1, 24}}, 0});
  return found;
}

template <class T, bool kIsReduction>
void check(const Layout& layout) {
  const int64_t rows = Layout::product(layout.kept);
  const int64_t count = Layout::product(layout.row);
  std::vector<T> memory[3];
  for (auto& values : memory) {
    values.resize(static_cast<size_t>(rows * count + 9));
    for (size_t i = 0; i < values.size(); ++i) {
      const auto small = static_cast<float>(static_cast<int>(i * 7 % 11) - 5) / 8;
      values[i] = static_cast<T>(small);
      if constexpr (c10::is_complex_v<T>) values[i] = T(small, small * 2 + 1);
    }
  }

  RowPlan plan;
  const auto dims = [](const std::vector<int64_t>& sizes, const std::vector<int64_t>* strides,
                       bool is_reduced) {
    RowDims found;
    found.strides.resize(3);
    for (const int64_t size : sizes) found.sizes.push_back(size);
    for (size_t k = 0; k < 3; ++k)
      for (const int64_t stride : strides[k])
        found.strides[k].push_back(k == 0 && is_reduced ? 0 : stride * int64_t{sizeof(T)});
    found.count = Layout::product(sizes);
    return found;
  };
  plan.kept = dims(layout.kept, layout.kept_strides, false);
  plan.row = dims(layout.row, layout.row_strides, kIsReduction);
  for (int k = 0; k < 3; ++k)
    plan.data.push_back(reinterpret_cast<char*>(memory[k].data() + layout.place(k, 0, 0)));

  using Formula = WeightedRow<T, kIsReduction>;
  const Formula formula{row_formula_operands<2>(plan), 2};
  for_each_formula_row<T, T, 2>("test", plan, kIsReduction, formula);

  using Wide = std::conditional_t<c10::is_complex_v<T>, c10::complex<double>, double>;
  constexpr double kError = 1e-4;
  for (int64_t r = 0; r < rows; ++r) {
    const auto at = [&](int k, int64_t i) {
      return static_cast<Wide>(memory[k][static_cast<size_t>(layout.place(k, r, i))]);
    };
    Wide sum{};
    double largest = 0;
    for (int64_t i = 0; i < count; ++i) {
      sum = sum + at(1, i) * at(2, i);
      largest = std::max(largest, vec::abs(at(1, i)));
    }
    const Wide wanted = sum / largest;
    const auto is_near = [&](Wide found, Wide value) {
      return vec::abs(found - value) <= kError * (1 + vec::abs(value));
    };

    if constexpr (kIsReduction) {
      CHECK(largest == 0 || is_near(at(0, 0), wanted));
    } else {
      for (int64_t i = 0; i < count; ++i)
        CHECK(largest == 0 || is_near(at(0, i), Wide(2) * at(1, i) * wanted));
    }
  }
}

template <class T>
void check() {
  for (const Layout& layout : layouts()) {
    check<T, true>(layout);
    check<T, false>(layout);
  }
}

}  // namespace row_formulas
