// Matrix instructions as nvcc compiles them. Included by Matrix.h only.
#pragma once

#include "c10/cuda/Simt.h"
#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"

namespace simt {

template <class T>
SIMT_DEVICE void multiply_matrices(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  static_assert(std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>);
  if constexpr (std::is_same_v<T, c10::Half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

// Volatile: what other threads wrote to shared memory is part of the result.
#define SIMT_LOAD_MATRICES(instruction, outputs, ...) \
  asm volatile(instruction " " outputs ";" : __VA_ARGS__ : "r"(address) : "memory")

template <int count, bool transposed = false>
SIMT_DEVICE void load_matrices(uint32_t (&to)[count], const void* row) {
  static_assert(count == 1 || count == 2 || count == 4);
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));

  if constexpr (count == 1 && !transposed)
    SIMT_LOAD_MATRICES("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "{%0}, [%1]", "=r"(to[0]));
  else if constexpr (count == 1)
    SIMT_LOAD_MATRICES("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16", "{%0}, [%1]", "=r"(to[0]));
  else if constexpr (count == 2 && !transposed)
    SIMT_LOAD_MATRICES("ldmatrix.sync.aligned.m8n8.x2.shared.b16", "{%0, %1}, [%2]", "=r"(to[0]),
                       "=r"(to[1]));
  else if constexpr (count == 2)
    SIMT_LOAD_MATRICES("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", "{%0, %1}, [%2]",
                       "=r"(to[0]), "=r"(to[1]));
  else if constexpr (!transposed)
    SIMT_LOAD_MATRICES("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "{%0, %1, %2, %3}, [%4]",
                       "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]));
  else
    SIMT_LOAD_MATRICES("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "{%0, %1, %2, %3}, [%4]",
                       "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]));
}

#undef SIMT_LOAD_MATRICES

template <class T>
SIMT_DEVICE uint32_t pack_pair(float low, float high) {
  static_assert(std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>);
  uint32_t result;
  if constexpr (std::is_same_v<T, c10::Half>)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

SIMT_DEVICE float exp2_approx(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace simt
