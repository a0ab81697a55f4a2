// Integers of a program that follow from the sizes of its inputs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "c10/util/ArrayRef.h"

namespace torch::programs {

/// One step of a formula in postfix order: pushes a number or a symbol, or replaces the two
/// numbers pushed last by their result.
struct FormulaStep {
  enum class Kind : uint8_t { Number, Symbol, Add, Subtract, Multiply, Divide, Modulo, Max, Min };

  Kind kind = Kind::Number;
  int64_t value = 0;  // of a number; the place of a symbol

  friend bool operator==(const FormulaStep& a, const FormulaStep& b) = default;
};
using Formula = std::vector<FormulaStep>;

/// A number, or the value of a formula.
struct Integer {
  int64_t number = 0;  // or the place of the formula
  bool is_formula = false;

  int64_t of(const std::vector<int64_t>& values) const {
    return is_formula ? values[static_cast<size_t>(number)] : number;
  }
};

/// The formulas of a program, each once.
class Formulas {
 public:
  /// ValueError unless the formula leaves one number and uses only `symbols` symbols.
  Integer add(Formula formula, size_t symbols);
  /// Their values; the symbols are those of one call. ValueError for a division by zero and for
  /// numbers that do not fit in 64 bits.
  std::vector<int64_t> evaluate(c10::ArrayRef<int64_t> symbols) const;
  /// An integer as people read it: 12, "(s0 + 1) // 2".
  std::string text(const Integer& integer) const;
  bool empty() const { return formulas_.empty(); }

 private:
  std::vector<Formula> formulas_;
};

}  // namespace torch::programs
