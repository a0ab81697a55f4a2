// The side of NVTX 3 that programs have: it hands a profiler slots for its functions.
#include "c10/cuda/Nvtx.h"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

// Note [NVTX]
// NVTX is an interface between shared objects and needs no library. The profiler's library exports
// InitializeInjectionNvtx2, which gets a function that finds tables by number. One table leads to
// the slots of a module's functions, in an order that the interface fixes; the profiler writes its
// functions into them. NVIDIA's headers do the same, but only where they are installed.

namespace c10::cuda {

namespace {

using Slot = void (*)();

// The numbers of the module of core functions, and of those among them that are called here.
constexpr int kCoreModule = 1;
enum CoreFunction { kMark = 2, kRangeStart = 5, kRangeEnd = 7, kRangePush = 9, kRangePop = 11 };
constexpr unsigned kCoreFunctions = 16;

constexpr int kNoRange = -2;

/// Written once, by the profiler, before other threads read them.
Slot slots[kCoreFunctions] = {};
Slot* slot_addresses[kCoreFunctions + 1] = {};

int find_functions(int module, Slot*** table, unsigned* size) {
  if (module != kCoreModule) return 0;
  for (unsigned i = 0; i < kCoreFunctions; ++i) slot_addresses[i] = &slots[i];
  if (table != nullptr) *table = slot_addresses;
  if (size != nullptr) *size = kCoreFunctions;
  return 1;
}

void accept_version(uint32_t) {}

struct CallbackTable {
  size_t bytes = sizeof(CallbackTable);
  int (*find_functions)(int module, Slot*** table, unsigned* size) = cuda::find_functions;
};

struct VersionTable {
  size_t bytes = sizeof(VersionTable);
  uint32_t version = 3;
  uint32_t reserved = 0;
  void (*accept)(uint32_t) = accept_version;
};

const void* find_table(uint32_t number) {
  constexpr uint32_t kCallbacks = 1;
  constexpr uint32_t kVersion = 3;
  static const CallbackTable callbacks;
  static const VersionTable version;
  if (number == kCallbacks) return &callbacks;
  return number == kVersion ? &version : nullptr;
}

bool open_profiler() {
  const char* const path = std::getenv("NVTX_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return false;

  using FindTable = const void* (*)(uint32_t);
  void* const library = dlopen(path, RTLD_LAZY);
  const auto initialize = reinterpret_cast<int (*)(FindTable)>(
      library != nullptr ? dlsym(library, "InitializeInjectionNvtx2") : nullptr);
  if (initialize != nullptr && initialize(&find_table) != 0) return true;

  // A program must not fail because it is not being watched.
  std::fprintf(stderr, "torch_py: NVTX_INJECTION64_PATH=%s is not a profiler's library: %s\n", path,
               library == nullptr ? dlerror()
                                  : "its InitializeInjectionNvtx2 failed or is missing");
  return false;
}

bool is_watched() {
  static const bool is_open = open_profiler();
  return is_open;
}

/// The profiler's function; null if nobody listens.
template <class Function>
Function* listener(CoreFunction number) {
  return is_watched() ? reinterpret_cast<Function*>(slots[number]) : nullptr;
}

thread_local int depth = 0;

}  // namespace

void mark(const char* text) {
  if (auto* const call = listener<void(const char*)>(kMark)) call(text);
}

int push_range(const char* text) {
  if (auto* const call = listener<int(const char*)>(kRangePush)) return call(text);
  return depth++;
}

int pop_range() {
  if (auto* const call = listener<int()>(kRangePop)) return call();
  return depth > 0 ? --depth : kNoRange;
}

uint64_t start_range(const char* text) {
  if (auto* const call = listener<uint64_t(const char*)>(kRangeStart)) return call(text);
  static std::atomic<uint64_t> ranges{0};
  return ++ranges;
}

void end_range(uint64_t id) {
  if (auto* const call = listener<void(uint64_t)>(kRangeEnd)) call(id);
}

}  // namespace c10::cuda
