// EXPECT: prints and counts what does not hold; drivers end with an error if `failures` is not 0.
#pragma once

#include <cstdio>

inline int failures = 0;

#define EXPECT(condition)                                         \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                 \
    }                                                             \
  } while (0)
