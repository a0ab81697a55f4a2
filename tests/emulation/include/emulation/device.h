// CUDA's language extensions on the host: qualifiers, vector types, and the thread that runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

#define __global__
#define __device__
#define __host__
#define __constant__ const
#define __forceinline__ inline
#define __launch_bounds__(...)

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x = 1, y = 1, z = 1;

  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// int2, make_int2(x, y), int4, make_int4(x, y, z, w) and so on.
#define EMULATION_VECTOR_TYPES(Element, Name)                                    \
  struct alignas(2 * sizeof(Element)) Name##2 { Element x, y; };                 \
  struct alignas(4 * sizeof(Element) < 16 ? 4 * sizeof(Element) : 16) Name##4 {  \
    Element x, y, z, w;                                                          \
  };                                                                             \
  constexpr Name##2 make_##Name##2(Element x, Element y) { return {x, y}; }      \
  constexpr Name##4 make_##Name##4(Element x, Element y, Element z, Element w) { \
    return {x, y, z, w};                                                         \
  }
EMULATION_VECTOR_TYPES(signed char, char)
EMULATION_VECTOR_TYPES(unsigned char, uchar)
EMULATION_VECTOR_TYPES(short, short)
EMULATION_VECTOR_TYPES(unsigned short, ushort)
EMULATION_VECTOR_TYPES(int, int)
EMULATION_VECTOR_TYPES(unsigned, uint)
EMULATION_VECTOR_TYPES(long long, longlong)
EMULATION_VECTOR_TYPES(unsigned long long, ulonglong)
EMULATION_VECTOR_TYPES(float, float)
EMULATION_VECTOR_TYPES(double, double)
#undef EMULATION_VECTOR_TYPES

namespace emulation {

/// What all threads of a block have in common.
struct BlockView {
  uint3 index;
  dim3 size;
  dim3 grid_size;
};

/// The thread of a kernel that runs.
struct ThreadView {
  uint3 index;
  unsigned linear;  // x fastest; its last five bits are the lane
  const BlockView* block;
};

/// Of this OS thread; null outside kernels. Fibers of a block stay on one OS thread. The model
/// makes reading it one instruction; its price is that all thread-local variables of the library
/// must fit the space that the loader keeps for libraries opened late, about 1,600 bytes.
extern thread_local constinit ThreadView* self [[gnu::tls_model("initial-exec")]];

/// Where a kernel called something that waits for other threads.
using Where = std::source_location;

}  // namespace emulation
