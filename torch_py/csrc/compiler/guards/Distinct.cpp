// Finds tensors that share memory, by their storages first.
#include "torch_py/csrc/compiler/guards/Distinct.h"

#include <algorithm>

#include "torch_py/csrc/bindings/tensor/TensorType.h"

namespace torch::python::compiler {

namespace {

struct Place {
  const void* address;
  uint32_t number;  // of the register
};

/// The bytes from the first to the last element; empty for a tensor without elements.
std::pair<int64_t, int64_t> span_of(const c10::TensorImpl& tensor) {
  const auto itemsize = static_cast<int64_t>(tensor.itemsize());
  const int64_t first = tensor.storage_offset() * itemsize;
  if (tensor.numel() == 0) return {first, first};

  int64_t last = tensor.storage_offset();
  for (int64_t i = 0; i < tensor.dim(); ++i)
    last += (tensor.sizes()[static_cast<size_t>(i)] - 1) * tensor.strides()[static_cast<size_t>(i)];
  return {first, (last + 1) * itemsize};
}

/// For two registers of the same address.
bool overlap(PyObject* a, PyObject* b) {
  if (a == b || !is_tensor(a) || !is_tensor(b)) return a == b;
  const auto [first_a, end_a] = span_of(*unpack(a).unsafe_impl());
  const auto [first_b, end_b] = span_of(*unpack(b).unsafe_impl());
  return first_a < end_b && first_b < end_a;
}

}  // namespace

const void* memory_address(PyObject* object) {
  if (!is_tensor(object)) return object;
  const void* storage = unpack(object).storage().get();
  return storage != nullptr ? storage : object;
}

std::optional<std::pair<uint32_t, uint32_t>> find_overlap(PyObject* const* registers,
                                                          const uint32_t* chosen, size_t count) {
  c10::SmallVector<Place, 16> places;
  for (size_t i = 0; i < count; ++i)
    places.push_back({memory_address(registers[chosen[i]]), chosen[i]});
  if (count > 8) {
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.address < b.address; });
  }

  for (size_t i = 0; i < count; ++i) {
    for (size_t k = i + 1; k < count; ++k) {
      const bool same = places[i].address == places[k].address;
      if (same && overlap(registers[places[i].number], registers[places[k].number]))
        return std::pair(places[i].number, places[k].number);
      if (!same && count > 8) break;  // sorted: no further one is the same
    }
  }
  return std::nullopt;
}

bool are_different_objects(PyObject* const* registers, const uint32_t* chosen, size_t count) {
  c10::SmallVector<const PyObject*, 16> objects;
  for (size_t i = 0; i < count; ++i) objects.push_back(registers[chosen[i]]);
  std::sort(objects.begin(), objects.end());
  return std::adjacent_find(objects.begin(), objects.end()) == objects.end();
}

bool are_distinct(PyObject* const* registers, const uint32_t* chosen, size_t count) {
  constexpr size_t few = 8;
  if (count > few) return !find_overlap(registers, chosen, count);

  const void* addresses[few];
  bool all_differ = true;
  for (size_t i = 0; i < count; ++i) {
    addresses[i] = memory_address(registers[chosen[i]]);
    for (size_t k = 0; k < i; ++k) all_differ &= addresses[i] != addresses[k];
  }
  return C10_LIKELY(all_differ) || !find_overlap(registers, chosen, count);
}

}  // namespace torch::python::compiler
