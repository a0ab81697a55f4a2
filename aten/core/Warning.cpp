// The handler of warnings.
#include "aten/core/Warning.h"

#include <atomic>
#include <cstdio>

namespace at {

namespace {

void print_to_stderr(const std::string& message) {
  std::fprintf(stderr, "Warning: %s\n", message.c_str());
}

std::atomic<WarningHandler> current_handler{print_to_stderr};

}  // namespace

void set_warning_handler(WarningHandler handler) { current_handler = handler; }
void emit_warning(const std::string& message) { current_handler.load()(message); }

}  // namespace at
