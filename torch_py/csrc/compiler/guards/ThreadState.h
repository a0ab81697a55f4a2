// What compiled code assumes about the state of its thread, in one word.
#pragma once
#include <cstdint>
#include <string>

namespace torch::python::compiler {

/// Grad and inference mode, automatic dtypes, default dtype and device, determinism, modes, levels
/// of function transforms and dispatch keys that were added or left out. Equal words: the same
/// operators do the same.
uint64_t thread_state();

/// "grad mode was on, is off", for the first difference.
std::string describe_change_of_state(uint64_t before, uint64_t now);

}  // namespace torch::python::compiler
