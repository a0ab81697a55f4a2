// Calls cpu_kernel with a function that does not fit the operator, and prints the error.
#include <cstdio>

#include "aten/core/Tensor.h"
#include "aten/iteration/Loops.h"
#include "aten/iteration/TensorIterator.h"
#include "aten/ops/ones.h"

int main() {
  const at::Tensor input = at::ones({3});
  const at::Tensor output = at::ones({3});
  const at::TensorIterator iter = at::TensorIterator::over("twice", {&output, &input});
  try {
    at::native::cpu_kernel(iter, [](float x, float y) -> float { return x + y; });
  } catch (const c10::Error& error) {
    std::printf("%s\n", error.what());
  }
}
