// Checks of the memory of tensors and storages, run by tests/c10/test_tensor_block.py.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "c10/core/OpaqueTensorImpl.h"
#include "c10/cpu/CPUAllocator.h"
#include "tests/c10/expect.h"

using c10::intrusive_ptr;
using c10::make_intrusive;
using c10::Storage;
using c10::StorageImpl;
using c10::TensorImpl;
using c10::weak_intrusive_ptr;

using Tensor = intrusive_ptr<TensorImpl>;

static int64_t bytes_in_use() { return c10::cpu_allocator_statistics().allocated_bytes; }

/// A tensor of `count` floats, each of them `value`.
static Tensor filled(int64_t count, float value) {
  Tensor tensor = c10::make_cpu_tensor(static_cast<size_t>(count) * 4, c10::kFloat);
  tensor->set_sizes_contiguous({count});
  for (int64_t i = 0; i < count; ++i) static_cast<float*>(tensor->data())[i] = value;
  return tensor;
}

static bool holds(const void* data, int64_t count, float value) {
  for (int64_t i = 0; i < count; ++i) {
    if (static_cast<const float*>(data)[i] != value) return false;
  }
  return true;
}

/// Takes the memory of freed tensors again and writes to it, so that whoever still uses it notices.
static void overwrite_free_memory() {
  std::vector<Tensor> others;
  for (int64_t count = 0; count < 100; ++count) others.push_back(filled(count, -1));
}

static void test_new_tensors() {
  for (int64_t count : {0, 1, 16, 17, 48, 49, 1000, 1 << 20}) {
    const Tensor tensor = filled(count, 3);
    EXPECT(tensor->numel() == count && holds(tensor->data(), count, 3));
    EXPECT((tensor->data() == nullptr) == (count == 0));
    EXPECT(reinterpret_cast<uintptr_t>(tensor->data()) % c10::kCPUAlignment == 0);

    EXPECT(tensor->storage()->nbytes == static_cast<size_t>(count) * 4);
    EXPECT(tensor->storage()->resizable() && tensor->storage()->device() == c10::kCPU);
    EXPECT(tensor.use_count() == 1 && tensor->storage().use_count() == 1);
  }
}

static void test_storage_outlives_its_tensor() {
  for (int64_t count : {0, 5, 48, 1000}) {
    Tensor tensor = filled(count, 7);
    const Storage storage = tensor->storage();
    Tensor detached = tensor->shallow_copy();
    tensor = {};
    overwrite_free_memory();

    EXPECT(holds(detached->data(), count, 7) && storage.use_count() == 2);
    detached = {};
    overwrite_free_memory();
    EXPECT(holds(storage->data.get(), count, 7) && storage.use_count() == 1);
  }
}

static void test_tensor_outlives_its_storage() {
  Tensor tensor = filled(5, 7);
  tensor->set_storage(filled(9, 8)->storage());
  overwrite_free_memory();
  EXPECT(holds(tensor->data(), 5, 8));

  // The memory of one tensor may also move to the storage of another.
  const Tensor other = filled(6, 2);
  std::swap(tensor->storage()->data, other->storage()->data);
  EXPECT(holds(tensor->data(), 6, 2) && holds(other->data(), 6, 8));
  tensor = {};
  overwrite_free_memory();
  EXPECT(holds(other->data(), 6, 8));
}

static void test_replaced_memory() {
  for (int64_t count : {5, 1000}) {
    Tensor tensor = filled(count, 7);
    c10::DataPtr replaced = tensor->storage()->resize(static_cast<size_t>(2 * count) * 4);
    EXPECT(replaced && replaced.get() != tensor->data());
    EXPECT(holds(tensor->data(), count, 7) && holds(replaced.get(), count, 7));

    // The memory lives without the tensor, and the tensor without it.
    if (count == 5) {
      tensor = {};
      overwrite_free_memory();
      EXPECT(holds(replaced.get(), count, 7));
    } else {
      replaced.clear();
      overwrite_free_memory();
      EXPECT(holds(tensor->data(), count, 7));
    }
  }
}

static void test_weak_references() {
  Tensor tensor = filled(5, 7);
  const Storage storage = tensor->storage();
  const weak_intrusive_ptr<TensorImpl> weak(tensor);
  EXPECT(weak.lock() == tensor);
  tensor = {};
  overwrite_free_memory();
  EXPECT(weak.expired() && !weak.lock());
  EXPECT(storage.use_count() == 1 && holds(storage->data.get(), 5, 7));

  Tensor second = filled(5, 7);
  const weak_intrusive_ptr<StorageImpl> weak_storage(second->storage());
  second = {};
  overwrite_free_memory();
  EXPECT(weak_storage.expired());
}

static void test_other_objects() {
  // Views, tensors of another layout, and storages of memory of others.
  const Tensor tensor = filled(12, 7);
  Tensor view = tensor->shallow_copy();
  view->set_view_of(tensor);
  view = {};

  Tensor opaque = make_intrusive<c10::OpaqueTensorImpl>(filled(3, 4));
  opaque = opaque->shallow_copy();
  opaque = {};

  float values[2] = {5, 5};
  Storage borrowed = make_intrusive<StorageImpl>(c10::DataPtr(values, c10::kCPU), 8, nullptr);
  const Tensor imported = make_intrusive<TensorImpl>(std::move(borrowed), c10::kFloat, c10::kCPU,
                                                     c10::DispatchKeySet(c10::DispatchKey::CPU));
  imported->set_sizes_contiguous({2});
  overwrite_free_memory();
  EXPECT(holds(imported->data(), 2, 5) && holds(tensor->data(), 12, 7));
}

/// Parts of tensors end on other threads, some at the same time.
static void test_threads() {
  for (int round = 0; round < 200; ++round) {
    std::vector<Tensor> tensors, copies;
    std::vector<Storage> storages;
    for (int i = 0; i < 50; ++i) {
      tensors.push_back(filled(i % 60, 1));
      copies.push_back(tensors.back()->shallow_copy());
      storages.push_back(tensors.back()->storage());
    }

    std::thread first([&] { tensors.clear(); });
    std::thread second([&] { copies.clear(); });
    std::thread third([&] {
      for (const Storage& storage : storages) storage->resize(storage->nbytes + 100);
      storages.clear();
    });
    first.join();
    second.join();
    third.join();
  }
}

/// A tensor that a thread leaves behind is freed after its cache has gone.
static void test_end_of_a_thread() {
  std::thread([] {
    thread_local Tensor last = filled(5, 7);
    thread_local const Storage storage = last->storage();
    EXPECT(holds(storage->data.get(), 5, 7));
  }).join();
}

int main() {
  test_new_tensors();
  test_storage_outlives_its_tensor();
  test_tensor_outlives_its_storage();
  test_replaced_memory();
  test_weak_references();
  test_other_objects();
  test_threads();
  test_end_of_a_thread();
  EXPECT(bytes_in_use() == 0);

  if (failures == 0) std::puts("ok");
  return failures;
}
