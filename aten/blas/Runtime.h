// Threads and temporary arrays for the products.
#pragma once

#include <cstddef>
#include <new>

#include "aten/blas/Blas.h"

namespace at::blas {

/// Set by the layer above: see struct Runtime.
const Runtime& runtime();

/// at::parallel_for, as the layer above provides it.
template <class Function>
void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const Function& function) {
  runtime().parallel_for(begin, end, grain_size, &function,
                         [](const void* object, int64_t b, int64_t e) {
                           (*static_cast<const Function*>(object))(b, e);
                         });
}

/// An uninitialised temporary array, aligned for vectors.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t count)
      : data_(static_cast<T*>(::operator new(static_cast<size_t>(count) * sizeof(T), kAlignment))) {
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { ::operator delete(data_, kAlignment); }

  T* data() { return data_; }
  T& operator[](int64_t index) { return data_[index]; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  T* data_;
};

}  // namespace at::blas
