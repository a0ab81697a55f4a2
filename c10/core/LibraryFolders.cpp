// Folders in which backends look for libraries that they open when they need them.
#include "c10/core/LibraryFolders.h"

#include <mutex>
#include <utility>

namespace c10 {

namespace {

std::mutex mutex;

std::vector<std::string>& folders_of_process() {
  static auto* const folders = new std::vector<std::string>;  // also for threads that outlive main
  return *folders;
}

}  // namespace

std::vector<std::string> library_folders() {
  const std::lock_guard lock(mutex);
  return folders_of_process();
}

void set_library_folders(std::vector<std::string> folders) {
  const std::lock_guard lock(mutex);
  folders_of_process() = std::move(folders);
}

}  // namespace c10
