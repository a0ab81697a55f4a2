// Copies strided elements to contiguous blocks, and back.
#include "aten/iteration/Gather.h"

#include <cstring>

namespace at {

namespace {

template <size_t kSize>
void gather_sized(char* target, const char* source, int64_t stride, int64_t n) {
  if (stride == 0) {  // a broadcast value: only stores, which vectorise
    char value[kSize];
    std::memcpy(value, source, kSize);
    for (int64_t i = 0; i < n; ++i) std::memcpy(target + i * kSize, value, kSize);
    return;
  }

  for (int64_t i = 0; i < n; ++i) std::memcpy(target + i * kSize, source + i * stride, kSize);
}

template <size_t kSize>
void scatter_sized(char* target, int64_t stride, const char* source, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(target + i * stride, source + i * kSize, kSize);
}

}  // namespace

void gather(void* target, const void* source, int64_t stride, size_t size, int64_t n) {
  char* to = static_cast<char*>(target);
  const char* from = static_cast<const char*>(source);
  if (stride == static_cast<int64_t>(size)) {
    std::memcpy(to, from, size * static_cast<size_t>(n));
    return;
  }

  switch (size) {
    case 1: return gather_sized<1>(to, from, stride, n);
    case 2: return gather_sized<2>(to, from, stride, n);
    case 4: return gather_sized<4>(to, from, stride, n);
    case 8: return gather_sized<8>(to, from, stride, n);
    default: return gather_sized<16>(to, from, stride, n);
  }
}

void scatter(void* target, int64_t stride, const void* source, size_t size, int64_t n) {
  char* to = static_cast<char*>(target);
  const char* from = static_cast<const char*>(source);
  if (stride == static_cast<int64_t>(size)) {
    std::memcpy(to, from, size * static_cast<size_t>(n));
    return;
  }

  switch (size) {
    case 1: return scatter_sized<1>(to, stride, from, n);
    case 2: return scatter_sized<2>(to, stride, from, n);
    case 4: return scatter_sized<4>(to, stride, from, n);
    case 8: return scatter_sized<8>(to, stride, from, n);
    default: return scatter_sized<16>(to, stride, from, n);
  }
}

}  // namespace at
