// The generator that operators draw from when none is given.
#include "c10/core/Generator.h"

namespace c10 {

Generator& default_cpu_generator() {
  static Generator generator;
  return generator;
}

}  // namespace c10
