// Detects the processor's instruction sets by CPUID.
#include "c10/cpu/CpuInfo.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include "c10/util/Exception.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define C10_CPUID 1
#endif

namespace c10 {

namespace {

struct Detected {
  CpuCapability capability = CpuCapability::DEFAULT;
  CpuFeatures features;
};

#ifdef C10_CPUID

struct Registers {
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;
};

// All zero if the processor does not know the leaf.
Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

// The register files that the operating system saves (XCR0); valid only where CPUID says OSXSAVE.
uint64_t enabled_state() {
  uint32_t low;
  uint32_t high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

constexpr bool all(uint64_t value, uint64_t mask) { return (value & mask) == mask; }
constexpr uint64_t bit(int index) { return uint64_t{1} << index; }

Detected detect() {
  Detected found;
  const Registers basic = cpuid(1, 0);
  const Registers extended = cpuid(7, 0);
  const Registers extended1 = cpuid(7, 1);
  if (!all(basic.ecx, bit(27))) return found;  // OSXSAVE
  const uint64_t state = enabled_state();

  const bool avx2 = all(state, bit(1) | bit(2)) &&                  // SSE and AVX registers
                    all(basic.ecx, bit(12) | bit(28) | bit(29)) &&  // FMA, AVX, F16C
                    all(extended.ebx, bit(3) | bit(5) | bit(8));    // BMI1, AVX2, BMI2
  if (!avx2) return found;
  found.capability = CpuCapability::AVX2;

  const bool avx512 =
      all(state, bit(5) | bit(6) | bit(7)) &&  // masks, upper halves, registers 16-31
      all(extended.ebx, bit(16) | bit(17) | bit(28) | bit(30) | bit(31));  // F, DQ, CD, BW, VL
  if (!avx512) return found;
  found.capability = CpuCapability::AVX512;

  found.features.avx512_vnni = all(extended.ecx, bit(11));
  found.features.avx512_bf16 = all(extended1.eax, bit(5));

  const bool tiles = all(state, bit(17) | bit(18)) && all(extended.edx, bit(24));
  found.features.amx_bf16 = tiles && all(extended.edx, bit(22));
  found.features.amx_int8 = tiles && all(extended.edx, bit(25));

  return found;
}

#else

Detected detect() { return {}; }

#endif

const Detected& detected() {
  static const Detected found = detect();
  return found;
}

CpuCapability choose() {
  const char* text = std::getenv("TORCH_PY_CPU_CAPABILITY");
  if (!text || !*text) return detected_cpu_capability();

  std::string name(text);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (int level = 0; level < kNumCpuCapabilities; ++level) {
    const auto capability = static_cast<CpuCapability>(level);
    if (name == cpu_capability_name(capability))
      return std::min(capability, detected_cpu_capability());
  }

  TORCH_THROW(ValueError, "TORCH_PY_CPU_CAPABILITY: expected default, avx2 or avx512, got '", text,
              "'");
}

/// Whether TORCH_PY_CPU_WITHOUT, a list of names with commas, hides a feature.
bool is_hidden(std::string_view feature) {
  const char* const text = std::getenv("TORCH_PY_CPU_WITHOUT");
  const std::string names = "," + std::string(text ? text : "") + ",";
  return names.find("," + std::string(feature) + ",") != std::string::npos;
}

CpuFeatures visible_features() {
  CpuFeatures features = detected().features;
  features.avx512_bf16 &= !is_hidden("avx512_bf16");
  features.avx512_vnni &= !is_hidden("avx512_vnni");
  features.amx_bf16 &= !is_hidden("amx_bf16");
  features.amx_int8 &= !is_hidden("amx_int8");
  return features;
}

}  // namespace

CpuCapability detected_cpu_capability() { return detected().capability; }

CpuCapability cpu_capability() {
  static const CpuCapability chosen = choose();
  return chosen;
}

const char* cpu_capability_name(CpuCapability capability) {
  switch (capability) {
    case CpuCapability::AVX2: return "AVX2";
    case CpuCapability::AVX512: return "AVX512";
    case CpuCapability::DEFAULT: break;
  }
  return "DEFAULT";
}

CpuFeatures cpu_features() {
  static const CpuFeatures features = visible_features();
  return features;
}

}  // namespace c10
