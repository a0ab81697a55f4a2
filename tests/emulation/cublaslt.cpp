// Emulated cuBLASLt: checks descriptions as the library does, and multiplies on the host.
#include "c10/cuda/libraries/CublasLt.h"

#include <bit>
#include <complex>
#include <cstring>
#include <memory>

#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"
#include "emulation/libraries.h"
#include "emulation/queue.h"

namespace c10::cuda::cublaslt {

struct HandleObject {};

struct DescriptionObject {
  Compute compute;
  Type scale;
  Transposition transpose_a = Transposition::None;
  Transposition transpose_b = Transposition::None;
  Epilogue epilogue = Epilogue::None;
  const void* bias = nullptr;
};

struct LayoutObject {
  Type type;
  uint64_t rows;
  uint64_t columns;
  int64_t leading;
  int32_t batch_count = 1;
  int64_t batch_stride = 0;
};

struct PreferenceObject {
  uint64_t most_workspace = 0;
  uint32_t reductions = 7;
  uint32_t alignments[4] = {256, 256, 256, 256};  // of a, b, c and d
};

}  // namespace c10::cuda::cublaslt

namespace emulation {

namespace {

using namespace c10::cuda::cublaslt;

constexpr Status kInvalidValue = 7;
constexpr uint64_t kAlgorithm = 0x6c7462756c616265;
constexpr size_t kWorkspace = 4096;  // asked for so that programs have to bring some

template <class T>
Status made(T** object, T* value) {
  *object = value;
  return kSuccess;
}

template <class T>
Status destroyed(T* object) {
  delete object;
  return kSuccess;
}

template <class T>
Status store(T& place, const void* value, size_t bytes) {
  if (bytes != sizeof(T)) return kInvalidValue;
  std::memcpy(&place, value, bytes);
  return kSuccess;
}

Status create(Handle* handle) { return made(handle, new HandleObject); }

Status description_create(Description* description, Compute compute, Type scale) {
  return made(description, new DescriptionObject{compute, scale});
}

Status description_set(Description d, DescriptionAttribute attribute, const void* value,
                       size_t bytes) {
  switch (attribute) {
    case DescriptionAttribute::TransposeA: return store(d->transpose_a, value, bytes);
    case DescriptionAttribute::TransposeB: return store(d->transpose_b, value, bytes);
    case DescriptionAttribute::Epilogue: return store(d->epilogue, value, bytes);
    case DescriptionAttribute::BiasPointer: return store(d->bias, value, bytes);
  }
  return kInvalidValue;
}

Status layout_create(Layout* layout, Type type, uint64_t rows, uint64_t columns, int64_t leading) {
  return made(layout, new LayoutObject{type, rows, columns, leading});
}

Status layout_set(Layout layout, LayoutAttribute attribute, const void* value, size_t bytes) {
  switch (attribute) {
    case LayoutAttribute::BatchCount: return store(layout->batch_count, value, bytes);
    case LayoutAttribute::BatchStride: return store(layout->batch_stride, value, bytes);
  }
  return kInvalidValue;
}

Status preference_create(Preference* preference) { return made(preference, new PreferenceObject); }

Status preference_set(Preference preference, PreferenceAttribute attribute, const void* value,
                      size_t bytes) {
  switch (attribute) {
    case PreferenceAttribute::MostWorkspace: return store(preference->most_workspace, value, bytes);
    case PreferenceAttribute::Reductions: return store(preference->reductions, value, bytes);
    case PreferenceAttribute::AlignmentA: return store(preference->alignments[0], value, bytes);
    case PreferenceAttribute::AlignmentB: return store(preference->alignments[1], value, bytes);
    case PreferenceAttribute::AlignmentC: return store(preference->alignments[2], value, bytes);
    case PreferenceAttribute::AlignmentD: return store(preference->alignments[3], value, bytes);
  }
  return kInvalidValue;
}

/// A product as the library sees it.
struct Call {
  DescriptionObject description;
  LayoutObject a;
  LayoutObject b;
  LayoutObject d;

  uint64_t inner() const {
    return description.transpose_a == Transposition::None ? a.columns : a.rows;
  }
};

bool is_reduced(Type type) { return type == Type::Half || type == Type::BFloat16; }
bool is_wide(Type type) { return type == Type::Double || type == Type::ComplexDouble; }
bool is_complex(Type type) { return type == Type::ComplexFloat || type == Type::ComplexDouble; }

/// Whether the layouts fit each other and the way in which products are summed.
bool is_valid(const Call& call) {
  const auto turned = [](const LayoutObject& layout, Transposition t) {
    return t == Transposition::None ? std::pair{layout.rows, layout.columns}
                                    : std::pair{layout.columns, layout.rows};
  };
  const auto [m, k] = turned(call.a, call.description.transpose_a);
  const auto [k2, n] = turned(call.b, call.description.transpose_b);
  if (m != call.d.rows || n != call.d.columns || k != k2 || m * n * k == 0) return false;

  for (const LayoutObject* layout : {&call.a, &call.b, &call.d}) {
    if (layout->leading < static_cast<int64_t>(layout->rows)) return false;
    if (layout->batch_count != call.d.batch_count) return false;
  }
  const bool widens = is_reduced(call.a.type) && call.d.type == Type::Float;
  if (call.a.type != call.b.type || (call.a.type != call.d.type && !widens)) return false;

  const bool complex = is_complex(call.d.type);
  if (is_wide(call.d.type) != (call.description.compute == Compute::Double)) return false;
  return is_complex(call.description.scale) == complex &&
         is_wide(call.description.scale) == is_wide(call.d.type);
}

Status heuristic(Handle, Description description, Layout a, Layout b, Layout, Layout d,
                 Preference preference, int wanted, Heuristic* found, int* count) {
  *count = 0;
  const Call call{*description, *a, *b, *d};
  if (wanted < 1 || !is_valid(call) || preference->reductions != kExactReductions)
    return kInvalidValue;
  if (call.description.epilogue != Epilogue::None && (is_wide(d->type) || is_complex(d->type)))
    return kNotSupported;

  const size_t workspace = preference->most_workspace >= kWorkspace ? kWorkspace : 0;
  found[0] = Heuristic{{{kAlgorithm}}, workspace, kSuccess, 1.0f, {}};
  for (int i = 0; i < 4; ++i) found[0].algorithm.data[1 + i] = preference->alignments[i];
  *count = 1;
  return kSuccess;
}

/// Element (row, column) of a matrix of the batch, as it enters the product.
template <class T>
const T& element(const T* data, const LayoutObject& layout, Transposition t, int64_t batch,
                 uint64_t row, uint64_t column) {
  if (t != Transposition::None) std::swap(row, column);
  return data[batch * layout.batch_stride + static_cast<int64_t>(column) * layout.leading +
              static_cast<int64_t>(row)];
}

/// The sum of products that is element (row, column) of the batch's result.
template <class Sum, class T>
Sum inner_product(const Call& call, const T* a, const T* b, int64_t batch, uint64_t row,
                  uint64_t column) {
  Sum sum(0);
  for (uint64_t i = 0; i < call.inner(); ++i)
    sum += factor<Sum>(call, element(a, call.a, call.description.transpose_a, batch, row, i)) *
           factor<Sum>(call, element(b, call.b, call.description.transpose_b, batch, i, column));
  return sum;
}

/// A factor as the product sees it: TF32 keeps ten bits of a float's mantissa.
template <class Sum, class T>
Sum factor(const Call& call, const T& element) {
  if constexpr (std::is_same_v<T, float>) {
    if (call.description.compute == Compute::FloatFromTf32) {
      const auto bits = std::bit_cast<uint32_t>(element) + 0x1000u;
      return std::bit_cast<float>(bits & ~0x1fffu);
    }
  }
  return Sum(element);
}

template <class T, class Sum, class Result>
void multiply_on_host(const Call& call, Sum alpha, const T* a, const T* b, Sum beta, Result* d) {
  const auto* const bias = static_cast<const Result*>(call.description.bias);
  for (int32_t batch = 0; batch < call.d.batch_count; ++batch) {
    for (uint64_t i = 0; i < call.d.columns * call.d.rows; ++i) {
      const uint64_t row = i % call.d.rows;
      const uint64_t column = i / call.d.rows;
      const auto place = static_cast<int64_t>(column) * call.d.leading + static_cast<int64_t>(row);
      Result& result = d[batch * call.d.batch_stride + place];

      Sum sum = alpha * inner_product<Sum>(call, a, b, batch, row, column);
      if (beta != Sum(0)) sum += beta * Sum(result);
      if (bias != nullptr) sum += Sum(bias[row]);
      result = Result(sum);
    }
  }
}

template <class T, class Sum, class Result = T>
Status enqueue_product(Call call, const void* alpha, const void* a, const void* b, const void* beta,
                       void* d, cudaStream_t stream) {
  Sum factors[2];
  std::memcpy(&factors[0], alpha, sizeof(Sum));
  std::memcpy(&factors[1], beta, sizeof(Sum));
  for (const void** pointer : {&a, &b, const_cast<const void**>(&d), &call.description.bias})
    readable_argument(pointer, sizeof(void*));

  const cudaError_t status = enqueue(stream, "cublasLtMatmul", [=] {
    multiply_on_host<T, Sum>(call, factors[0], static_cast<const T*>(a), static_cast<const T*>(b),
                             factors[1], static_cast<Result*>(d));
  });
  return status == cudaSuccess ? kSuccess : kInvalidValue;
}

Status multiply(Handle handle, Description description, const void* alpha, const void* a,
                Layout a_layout, const void* b, Layout b_layout, const void* beta, const void* c,
                Layout c_layout, void* d, Layout d_layout, const Algorithm* algorithm,
                void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  const Call call{*description, *a_layout, *b_layout, *d_layout};
  if (handle == nullptr || algorithm->data[0] != kAlgorithm || !is_valid(call))
    return kInvalidValue;
  if (c != d || c_layout != d_layout) return kNotSupported;  // never asked for
  if (workspace_bytes > 0 && workspace == nullptr) return kInvalidValue;
  if (call.description.epilogue == Epilogue::Bias && call.description.bias == nullptr)
    return kInvalidValue;

  const void* const pointers[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) {
    if (reinterpret_cast<uintptr_t>(pointers[i]) % algorithm->data[1 + i] != 0)
      return kInvalidValue;
  }

  if (call.a.type != call.d.type) {
    return call.a.type == Type::Half
               ? enqueue_product<c10::Half, float, float>(call, alpha, a, b, beta, d, stream)
               : enqueue_product<c10::BFloat16, float, float>(call, alpha, a, b, beta, d, stream);
  }
  switch (call.d.type) {
    case Type::Float: return enqueue_product<float, float>(call, alpha, a, b, beta, d, stream);
    case Type::Double: return enqueue_product<double, double>(call, alpha, a, b, beta, d, stream);
    case Type::Half: return enqueue_product<c10::Half, float>(call, alpha, a, b, beta, d, stream);
    case Type::BFloat16:
      return enqueue_product<c10::BFloat16, float>(call, alpha, a, b, beta, d, stream);
    case Type::ComplexFloat:
      return enqueue_product<std::complex<float>, std::complex<float>>(call, alpha, a, b, beta, d,
                                                                       stream);
    case Type::ComplexDouble:
      return enqueue_product<std::complex<double>, std::complex<double>>(call, alpha, a, b, beta, d,
                                                                         stream);
  }
  return kNotSupported;
}

const char* name_of(Status status) {
  switch (status) {
    case kSuccess: return "CUBLAS_STATUS_SUCCESS";
    case kInvalidValue: return "CUBLAS_STATUS_INVALID_VALUE";
    case kNotSupported: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

}  // namespace

std::span<const NamedFunction> cublaslt_functions() {
  static const NamedFunction functions[] = {
      {"cublasLtCreate", address_of(create)},
      {"cublasLtGetStatusName", address_of(name_of)},

      {"cublasLtMatmulDescCreate", address_of(description_create)},
      {"cublasLtMatmulDescDestroy", address_of(destroyed<DescriptionObject>)},
      {"cublasLtMatmulDescSetAttribute", address_of(description_set)},

      {"cublasLtMatrixLayoutCreate", address_of(layout_create)},
      {"cublasLtMatrixLayoutDestroy", address_of(destroyed<LayoutObject>)},
      {"cublasLtMatrixLayoutSetAttribute", address_of(layout_set)},

      {"cublasLtMatmulPreferenceCreate", address_of(preference_create)},
      {"cublasLtMatmulPreferenceDestroy", address_of(destroyed<PreferenceObject>)},
      {"cublasLtMatmulPreferenceSetAttribute", address_of(preference_set)},

      {"cublasLtMatmulAlgoGetHeuristic", address_of(heuristic)},
      {"cublasLtMatmul", address_of(multiply)},
  };
  return functions;
}

}  // namespace emulation
