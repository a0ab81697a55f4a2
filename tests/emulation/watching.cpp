// Which blocks of a launch the race mode looks at, and a list of the kernels it looked at.
#include "tests/emulation/watching.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "tests/emulation/fiber.h"

// Note [Watched blocks]
// The race detector needs milliseconds for each thread that it tells apart from the others, so it
// cannot look at every launch of the tests. With TORCH_PY_EMULATION_WATCH=N it looks at the first
// blocks of each kernel's first N launches of one block, and of the first N of several. The threads
// of other blocks run as they do without the detector, in an order that it takes for granted. An
// instance of a template is a kernel of its own.

namespace emulation {

namespace {

// Blocks beyond do what those before did; two are needed to see races between blocks.
constexpr uint64_t kThreadsOfALaunch = 1024;

uint64_t launches_to_watch() {
  const char* const text = std::getenv("TORCH_PY_EMULATION_WATCH");
  return text == nullptr ? UINT64_MAX : std::strtoull(text, nullptr, 10);
}

/// Appends the kernel to the file that the environment names, with its place in the library.
void note_watched(const Grid& grid, bool several) {
  static std::FILE* const file = [] {
    const char* const path = std::getenv("TORCH_PY_EMULATION_WATCHED");
    return path == nullptr ? nullptr : std::fopen(path, "a");
  }();
  Dl_info library{};
  if (file == nullptr || dladdr(grid.function, &library) == 0) return;

  const auto offset = static_cast<const char*>(grid.function) -  //
                      static_cast<const char*>(library.dli_fbase);
  std::fprintf(file, "%s 0x%tx %s\n", grid.name, offset, several ? "blocks" : "block");
  std::fflush(file);
}

bool takes_turn(const Grid& grid, bool several, uint64_t limit) {
  static std::mutex mutex;
  static std::map<std::pair<const void*, bool>, uint64_t> launches;
  const std::lock_guard lock(mutex);
  const uint64_t before = launches[{grid.function, several}]++;
  if (before == 0 && limit != 0) note_watched(grid, several);
  return before < limit;
}

}  // namespace

uint64_t blocks_to_watch(const Grid& grid, uint64_t blocks) {
  if (!kRaceMode) return 0;
  static const uint64_t limit = launches_to_watch();
  if (limit == UINT64_MAX) return blocks;
  if (!takes_turn(grid, blocks > 1, limit)) return 0;

  const uint64_t threads = uint64_t{grid.block.x} * grid.block.y * grid.block.z;
  return std::max<uint64_t>(2, kThreadsOfALaunch / threads);
}

}  // namespace emulation
