// Calls an operator that a build leaves out, as generated code declares it, and prints the errors.
#include <cstdio>

#include "aten/core/Value.h"
#include "aten/dispatch/LeftOut.h"
#include "c10/util/Exception.h"

namespace {

constinit c10::OperatorEntry entry("gone.Tensor", "gone.Tensor(Tensor self) -> Tensor", {},
                                   at::left_out::boxing());

template <class Call>
void print_error_of(const char* kind, Call call) {
  try {
    call();
  } catch (const c10::NotImplementedError& error) {
    std::printf("%s: %s\n", kind, error.what());
  }
}

}  // namespace

int main() {
  at::Stack stack;
  print_error_of("call", [] { at::left_out::refuse(entry); });
  print_error_of("boxed", [&] { entry.call_boxed(stack); });
}
