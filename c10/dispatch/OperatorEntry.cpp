// Operators' kernel tables and the registry of all operators.
#include "c10/dispatch/OperatorEntry.h"

#include <algorithm>
#include <mutex>

#include "c10/util/Exception.h"

namespace c10 {

BoxedKernel::~BoxedKernel() = default;

/// The boxed kernels of an operator, and what they took the place of.
struct OperatorEntry::BoxedKernels {
  std::atomic<const BoxedKernel*> by_key[kNumDispatchKeys] = {};
  void* replaced[kNumDispatchKeys] = {};
  // Also those that were taken back: a call on another thread may still run them.
  std::vector<std::shared_ptr<const BoxedKernel>> kept;
};

namespace {

// Held while tables change. Calls read them without it.
std::mutex& registration_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// A name, or a schema that begins with it, with its namespace.
std::string qualified(std::string_view text) {
  const bool has_namespace = text.substr(0, text.find('(')).find("::") != std::string_view::npos;
  return (has_namespace ? "" : "aten::") + std::string(text);
}

}  // namespace

std::string OperatorEntry::qualified_name() const { return qualified(name_); }
std::string OperatorEntry::qualified_schema() const { return qualified(schema_); }

const OperatorSchema& OperatorEntry::schema() const {
  const OperatorSchema* found = parsed_schema_.load(std::memory_order_acquire);
  if (found != nullptr) return *found;

  auto parsed = std::make_unique<const OperatorSchema>(parse_schema(schema_));
  if (parsed_schema_.compare_exchange_strong(found, parsed.get(), std::memory_order_acq_rel))
    return *parsed.release();
  return *found;  // another thread was faster
}

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

void OperatorEntry::set_boxed_kernel(DispatchKey key, std::shared_ptr<const BoxedKernel> kernel) {
  const std::lock_guard<std::mutex> lock(registration_mutex());
  BoxedKernels* boxed = boxed_.load(std::memory_order_relaxed);
  if (boxed == nullptr) {
    if (kernel == nullptr) return;
    boxed = new BoxedKernels;
    boxed_.store(boxed, std::memory_order_release);
  }

  const int i = static_cast<int>(key);
  const bool is_first = boxed->by_key[i].load(std::memory_order_relaxed) == nullptr;
  if (kernel == nullptr) {
    if (!is_first) table_[i] = boxed->replaced[i];
    boxed->by_key[i].store(nullptr, std::memory_order_release);
    return;
  }

  if (is_first) boxed->replaced[i] = table_[i];
  boxed->by_key[i].store(kernel.get(), std::memory_order_release);
  boxed->kept.push_back(std::move(kernel));
  table_[i] = box();
}

const BoxedKernel* OperatorEntry::own_boxed_kernel(DispatchKey key) const {
  const BoxedKernels* boxed = boxed_.load(std::memory_order_acquire);
  if (boxed == nullptr) return nullptr;
  return boxed->by_key[static_cast<int>(key)].load(std::memory_order_acquire);
}

bool OperatorEntry::has_boxed_kernel(DispatchKey key) const {
  return own_boxed_kernel(key) != nullptr;
}

const BoxedKernel* OperatorEntry::boxed_kernel(DispatchKey key) const {
  const BoxedKernel* own = own_boxed_kernel(key);
  return own != nullptr ? own : Dispatcher::singleton().fallback(key);
}

DispatchKey OperatorEntry::serving_key(DispatchKeySet keys) const {
  while (true) {
    const DispatchKey key = keys.highest();
    if (table_[static_cast<int>(key)] != nullptr) return key;
    if (!optional_keys_.has(key)) throw_missing(key);
    keys = keys - key;
  }
}

void OperatorEntry::redispatch_boxed(DispatchKeySet keys, at::Stack& stack) const {
  const DispatchKey key = serving_key(keys);
  void* kernel = table_[static_cast<int>(key)];

  // Without boxing the arguments again.
  if (kernel == box()) return boxed_kernel(key)->call(*this, keys, stack);
  boxing_.unbox(*this, kernel, &keys, stack);
}

void OperatorEntry::use_fallback(DispatchKey key) {
  if (table_[static_cast<int>(key)] == nullptr) table_[static_cast<int>(key)] = box();
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
  for (int i = 0; i < kNumDispatchKeys; ++i) {
    const auto served = static_cast<DispatchKey>(i);
    if (!has_kernel(served) && !has_boxed_kernel(served)) continue;
    available += available.empty() ? "" : ", ";
    available += dispatch_key_name(served);
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

void Dispatcher::add(OperatorEntry* entry) {
  const std::lock_guard<std::mutex> lock(registration_mutex());
  entries_.push_back(entry);
  for (int i = 0; i < kNumDispatchKeys; ++i) {
    if (fallbacks_[i] != nullptr) entry->use_fallback(static_cast<DispatchKey>(i));
  }
}

void Dispatcher::remove(const OperatorEntry* entry) {
  const std::lock_guard<std::mutex> lock(registration_mutex());
  std::erase(entries_, entry);
}

OperatorEntry* Dispatcher::find(std::string_view name) const {
  const std::lock_guard<std::mutex> lock(registration_mutex());
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](OperatorEntry* entry) { return name == entry->name(); });
  return found == entries_.end() ? nullptr : *found;
}

std::vector<OperatorEntry*> Dispatcher::all() const {
  const std::lock_guard<std::mutex> lock(registration_mutex());
  return entries_;
}

void Dispatcher::set_fallback(DispatchKey key, const BoxedKernel* kernel) {
  const std::lock_guard<std::mutex> lock(registration_mutex());
  fallbacks_[static_cast<int>(key)] = kernel;
  for (OperatorEntry* entry : entries_) entry->use_fallback(key);
}

}  // namespace c10
