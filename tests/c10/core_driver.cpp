// Checks of the random engine and of the instruction-set choice, run by tests/c10/test_core.py.
#include <cstdio>
#include <cstring>
#include <random>

#include "c10/core/MT19937.h"
#include "c10/cpu/CpuInfo.h"

int main(int, char** argv) {
  if (std::strcmp(argv[1], "capability") == 0) {
    std::printf("%s %s\n", c10::cpu_capability_name(c10::detected_cpu_capability()),
                c10::cpu_capability_name(c10::cpu_capability()));
    return 0;
  }

  int different = 0;
  for (uint32_t seed : {0u, 5489u, 4294967295u}) {
    c10::MT19937 ours(seed);
    std::mt19937 standard(seed);
    for (int i = 0; i < 5000; ++i) different += ours() != standard();

    // A block equals single numbers, and a restored state repeats it.
    const c10::MT19937::State saved = ours.state();
    uint32_t block[1500];
    ours.fill(block, 1500);
    for (uint32_t word : block) different += word != standard();
    ours.set_state(saved);
    different += ours() != block[0];
  }

  std::puts(different == 0 ? "ok" : "differs from std::mt19937");
  return different != 0;
}
