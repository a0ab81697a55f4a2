// Operators' kernel tables and the registry of all operators.
#include "c10/dispatch/OperatorEntry.h"

#include <algorithm>

#include "c10/util/Exception.h"

namespace c10 {

void OperatorEntry::set_kernel(DispatchKey key, void* kernel, const char* kernel_name,
                               const char* origin) {
  table_[static_cast<int>(key)] = kernel;
  info_[static_cast<int>(key)] = {key, kernel_name, origin};
}

void OperatorEntry::set_kernel(DispatchKeySet keys, void* kernel, const char* kernel_name,
                               const char* origin) {
  for (int i = 0; i < kNumDispatchKeys; ++i) {
    const auto key = static_cast<DispatchKey>(i);
    if (keys.has(key)) set_kernel(key, kernel, kernel_name, origin);
  }
}

void OperatorEntry::remove_kernel(DispatchKey key) {
  table_[static_cast<int>(key)] = nullptr;
  info_[static_cast<int>(key)] = {};
}

std::vector<KernelInfo> OperatorEntry::kernels() const {
  std::vector<KernelInfo> result;
  for (const KernelInfo& info : info_) {
    if (info.name != nullptr) result.push_back(info);
  }
  return result;
}

std::string OperatorEntry::dispatch_table() const {
  std::string out;
  for (const KernelInfo& info : kernels()) {
    std::string line = dispatch_key_name(info.key);
    line.resize(std::max<size_t>(line.size() + 2, 22), ' ');
    out += line + info.name + "  " + info.origin + "\n";
  }
  return out;
}

void OperatorEntry::throw_missing(DispatchKey key) const {
  std::string available;
  for (const KernelInfo& info : kernels()) {
    available += available.empty() ? "" : ", ";
    available += dispatch_key_name(info.key);
  }

  TORCH_CHECK_NOT_IMPLEMENTED(key != DispatchKey::Undefined, name_,
                              ": no tensor argument and no device to choose a kernel by");
  const bool is_mkldnn = key == DispatchKey::AutogradMkldnnCPU;
  const char* backend = dispatch_key_name(is_mkldnn ? DispatchKey::MkldnnCPU : key);
  TORCH_CHECK_NOT_IMPLEMENTED(false, "Could not run '", name_, "' with arguments from the '",
                              backend, "' backend. It has kernels for: ", available, ".");
  __builtin_unreachable();
}

Dispatcher& Dispatcher::singleton() {
  static Dispatcher dispatcher;
  return dispatcher;
}

void Dispatcher::add(OperatorEntry* entry) { entries_.push_back(entry); }

OperatorEntry* Dispatcher::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](OperatorEntry* entry) { return name == entry->name(); });
  return found == entries_.end() ? nullptr : *found;
}

std::vector<OperatorEntry*> Dispatcher::all() const { return entries_; }

}  // namespace c10
