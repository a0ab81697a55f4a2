// The instruction sets that the processor has and that kernels are chosen by.
#pragma once

#include <cstdint>

#include "c10/util/Export.h"

namespace c10 {

/// Instruction sets that kernels are compiled for, each including the ones before it.
/// AVX2: with FMA, F16C, BMI1 and BMI2. AVX512: with F, CD, BW, DQ and VL.
enum class CpuCapability : int8_t { DEFAULT = 0, AVX2 = 1, AVX512 = 2 };
inline constexpr int kNumCpuCapabilities = 3;

/// The highest level that this processor has and whose registers the operating system saves.
TORCH_PY_API CpuCapability detected_cpu_capability();
/// The level that kernels are chosen by: the detected one, or a lower one that
/// TORCH_PY_CPU_CAPABILITY (default, avx2, avx512) asks for. Decided once per process.
TORCH_PY_API CpuCapability cpu_capability();
/// "DEFAULT", "AVX2" or "AVX512".
TORCH_PY_API const char* cpu_capability_name(CpuCapability capability);

/// Features beyond the three levels. TORCH_PY_CPU_WITHOUT hides those that it names, for tests:
/// TORCH_PY_CPU_WITHOUT=avx512_bf16,avx512_vnni.
struct CpuFeatures {
  bool avx512_bf16 = false;
  bool avx512_vnni = false;
  bool amx_bf16 = false;
  bool amx_int8 = false;
};
TORCH_PY_API CpuFeatures cpu_features();

}  // namespace c10
