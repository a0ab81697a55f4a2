// A program for given sizes.
#pragma once
#include <vector>

#include "torch_py/csrc/compiler/program/Steps.h"

namespace torch::programs {

/// The numbers of a step: those that formulas have become.
struct StepNumbers {
  int64_t first = 0;   // of an arena slot or a view its offset in bytes; of a kernel its extent
  int64_t second = 0;  // of a kernel its grain; of a view that leaves an argument its end in bytes
  std::vector<int64_t> sizes;  // of a kernel
};

struct Plan {
  std::vector<int64_t> symbols;
  std::vector<int64_t> values;  // of the formulas
  std::vector<Geometry> slots;
  std::vector<StepNumbers> steps;
  int64_t arena_bytes = 0;
  int64_t most_elements = 0;  // of any slot
};

/// Computes the numbers and checks them: every view lies within its slot, unless that is an input,
/// and slots of the arena that are in use at the same time do not overlap. ValueError that names
/// the step.
Plan make_plan(const Description& description, std::vector<int64_t> symbols);

}  // namespace torch::programs
