// Cases of a driver: a table of functions, of which the program runs the one that is named.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "emulation/queue.h"

#define EXPECT(condition)                                                        \
  do {                                                                           \
    if (!(condition)) {                                                          \
      std::printf("%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, \
                  cudaGetErrorString(cudaPeekAtLastError()));                    \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)
#define EXPECT_OK(call) EXPECT((call) == cudaSuccess)

namespace cases {

using Bytes = std::vector<unsigned char>;

struct Case {
  const char* name;
  void (*run)();
};

/// Whether work runs as late as possible: then a missing wait must show.
inline bool runs_late() {
  const char* const order = std::getenv("TORCH_PY_EMULATED_STREAMS");
  return order == nullptr || std::strcmp(order, "late") == 0;
}

inline unsigned char* device_bytes(size_t count) {
  void* pointer = nullptr;
  EXPECT_OK(cudaMalloc(&pointer, count));
  return static_cast<unsigned char*>(pointer);
}

inline unsigned char* pinned_bytes(size_t count) {
  void* pointer = nullptr;
  EXPECT_OK(cudaHostAlloc(&pointer, count, cudaHostAllocDefault));
  return static_cast<unsigned char*>(pointer);
}

inline cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

inline Bytes contents(const void* device, size_t count) {
  Bytes bytes(count);
  EXPECT_OK(cudaMemcpy(bytes.data(), device, count, cudaMemcpyDeviceToHost));
  return bytes;
}

/// A kernel of one thread: *to = *from + 1.
inline cudaError_t put_increment(cudaStream_t stream, unsigned char* to,
                                 const unsigned char* from) {
  emulation::readable_argument(&to, sizeof to);
  emulation::readable_argument(&from, sizeof from);
  return emulation::enqueue(stream, "increment",
                            [=] { *to = static_cast<unsigned char>(*from + 1); });
}

/// Sets the last error aside and says whether it was this one.
inline bool failed_with(cudaError_t status, cudaError_t expected) {
  return status == expected && cudaGetLastError() == expected;
}

inline const char* program = nullptr;  // how this one was started; main sets it

inline std::string hexadecimal(const void* data, size_t bytes) {
  std::string text;
  char digits[3];
  for (size_t i = 0; i < bytes; ++i) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<const unsigned char*>(data)[i]);
    text += digits;
  }
  return text;
}

/// Runs this program once more, as `name` with two arguments, and returns its exit status.
inline int run_other(const char* name, const std::string& first, const std::string& second) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execl(program, program, name, first.c_str(), second.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

template <size_t N>
int run(int argc, char** argv, const Case (&table)[N]) {
  if (argc < 2) {
    for (const Case& each : table) std::printf("%s\n", each.name);
    return 0;
  }
  for (const Case& each : table) {
    if (std::strcmp(each.name, argv[1]) != 0) continue;
    each.run();
    std::printf("ok\n");
    return 0;
  }
  std::printf("no case %s\n", argv[1]);
  return 2;
}

}  // namespace cases
