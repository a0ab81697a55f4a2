// Describes products to cuBLASLt and remembers which of its algorithms serves each kind.
#include "aten/native/cuda/CublasProduct.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>

#include "c10/cuda/Launch.h"
#include "c10/cuda/Memory.h"
#include "c10/cuda/Runtime.h"
#include "c10/util/Exception.h"
#include "c10/util/complex.h"

namespace at::native::cuda {

namespace cublaslt = c10::cuda::cublaslt;

namespace {

constexpr size_t kMostWorkspace = size_t{32} << 20;  // what NVIDIA advises for Hopper
constexpr uint32_t kMostAlignment = 256;
constexpr size_t kMostKnown = 4096;

cublaslt::Type type_of(ScalarType dtype) {
  switch (dtype) {
    case kFloat: return cublaslt::Type::Float;
    case kDouble: return cublaslt::Type::Double;
    case kHalf: return cublaslt::Type::Half;
    case kBFloat16: return cublaslt::Type::BFloat16;
    case kComplexFloat: return cublaslt::Type::ComplexFloat;
    case kComplexDouble: return cublaslt::Type::ComplexDouble;
    default: TORCH_CHECK_NOT_IMPLEMENTED(false, "products of ", dtype, " on CUDA");
  }
}

/// Of alpha and beta; reduced floats are summed as float.
cublaslt::Type scale_type_of(ScalarType dtype) {
  return c10::is_reduced_floating(dtype) ? cublaslt::Type::Float : type_of(dtype);
}

cublaslt::Compute compute_of(const Product& p) {
  if (p.dtype == kDouble || p.dtype == kComplexDouble) return cublaslt::Compute::Double;
  const bool rounds = p.tf32 && (p.dtype == kFloat || p.dtype == kComplexFloat);
  return rounds ? cublaslt::Compute::FloatFromTf32 : cublaslt::Compute::Float;
}

/// A number in the type that scales products.
struct Factor {
  alignas(16) char bytes[16];

  Factor(const Scalar& value, ScalarType dtype) {
    switch (scale_type_of(dtype)) {
      case cublaslt::Type::Double: store(value.to<double>()); break;
      case cublaslt::Type::ComplexFloat: store(value.to<c10::complex<float>>()); break;
      case cublaslt::Type::ComplexDouble: store(value.to<c10::complex<double>>()); break;
      default: store(value.to<float>());
    }
  }

 private:
  template <class T>
  void store(T value) {
    std::memcpy(bytes, &value, sizeof(T));
  }
};

/// An object of the library that is destroyed with the scope.
template <class T>
class Owned {
 public:
  explicit Owned(cublaslt::Status (*destroy)(T)) : destroy_(destroy) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object_ != nullptr) destroy_(object_);
  }
  T* address() { return &object_; }
  T get() const { return object_; }

 private:
  cublaslt::Status (*destroy_)(T);
  T object_ = nullptr;
};

/// The objects that describe a product.
class Described {
 public:
  explicit Described(const Product& p)
      : description_(api_.description_destroy),
        left_(api_.layout_destroy),
        right_(api_.layout_destroy),
        result_(api_.layout_destroy) {
    cublaslt::check(
        api_.description_create(description_.address(), compute_of(p), scale_type_of(p.dtype)),
        "cublasLtMatmulDescCreate");
    set(cublaslt::DescriptionAttribute::TransposeA, transposition(p.left));
    set(cublaslt::DescriptionAttribute::TransposeB, transposition(p.right));
    set(cublaslt::DescriptionAttribute::Epilogue, p.epilogue);
    if (p.bias != nullptr) set(cublaslt::DescriptionAttribute::BiasPointer, p.bias);

    lay_out(left_, p, p.dtype, p.left, p.m, p.k);
    lay_out(right_, p, p.dtype, p.right, p.k, p.n);
    lay_out(result_, p, p.result_dtype, {p.result, p.m, p.m * p.n, false}, p.m, p.n);
  }

  cublaslt::Heuristic best_algorithm(const Product& p) const;
  cublaslt::Status run(const Product& p, const cublaslt::Heuristic& way, void* workspace) const;

 private:
  static cublaslt::Transposition transposition(const ProductOperand& operand) {
    return operand.transposed ? cublaslt::Transposition::Transpose : cublaslt::Transposition::None;
  }

  template <class T>
  void set(cublaslt::DescriptionAttribute attribute, T value) {
    cublaslt::check(api_.description_set(description_.get(), attribute, &value, sizeof(value)),
                    "cublasLtMatmulDescSetAttribute");
  }

  void lay_out(Owned<cublaslt::Layout>& layout, const Product& p, ScalarType dtype,
               const ProductOperand& operand, int64_t rows, int64_t columns) {
    if (operand.transposed) std::swap(rows, columns);
    cublaslt::check(api_.layout_create(layout.address(), type_of(dtype),
                                       static_cast<uint64_t>(rows), static_cast<uint64_t>(columns),
                                       operand.leading),
                    "cublasLtMatrixLayoutCreate");
    if (p.batch == 1) return;

    const auto count = static_cast<int32_t>(p.batch);
    cublaslt::check(
        api_.layout_set(layout.get(), cublaslt::LayoutAttribute::BatchCount, &count, sizeof(count)),
        "cublasLtMatrixLayoutSetAttribute");
    cublaslt::check(api_.layout_set(layout.get(), cublaslt::LayoutAttribute::BatchStride,
                                    &operand.batch_stride, sizeof(int64_t)),
                    "cublasLtMatrixLayoutSetAttribute");
  }

  const cublaslt::Functions& api_ = cublaslt::functions();
  Owned<cublaslt::Description> description_;
  Owned<cublaslt::Layout> left_;
  Owned<cublaslt::Layout> right_;
  Owned<cublaslt::Layout> result_;
};

uint32_t alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer) | kMostAlignment;
  return uint32_t{1} << std::countr_zero(address);
}

cublaslt::Heuristic Described::best_algorithm(const Product& p) const {
  Owned<cublaslt::Preference> preference(api_.preference_destroy);
  cublaslt::check(api_.preference_create(preference.address()), "cublasLtMatmulPreferenceCreate");
  const auto prefer = [&](cublaslt::PreferenceAttribute attribute, auto value) {
    cublaslt::check(api_.preference_set(preference.get(), attribute, &value, sizeof(value)),
                    "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(cublaslt::PreferenceAttribute::MostWorkspace, kMostWorkspace);
  prefer(cublaslt::PreferenceAttribute::Reductions, cublaslt::kExactReductions);
  prefer(cublaslt::PreferenceAttribute::AlignmentA, alignment_of(p.left.data));
  prefer(cublaslt::PreferenceAttribute::AlignmentB, alignment_of(p.right.data));
  prefer(cublaslt::PreferenceAttribute::AlignmentC, alignment_of(p.result));
  prefer(cublaslt::PreferenceAttribute::AlignmentD, alignment_of(p.result));

  cublaslt::Heuristic found{};
  int count = 0;
  const cublaslt::Status status =
      api_.heuristic(cublaslt::handle(), description_.get(), left_.get(), right_.get(),
                     result_.get(), result_.get(), preference.get(), 1, &found, &count);
  cublaslt::check(status == cublaslt::kSuccess && count == 0 ? cublaslt::kNotSupported : status,
                  "cublasLtMatmulAlgoGetHeuristic");
  cublaslt::check(found.state, "cublasLtMatmulAlgoGetHeuristic");
  return found;
}

cublaslt::Status Described::run(const Product& p, const cublaslt::Heuristic& way,
                                void* workspace) const {
  const Factor alpha(p.alpha, p.dtype);
  const Factor beta(p.beta, p.dtype);
  return api_.multiply(cublaslt::handle(), description_.get(), alpha.bytes, p.left.data,
                       left_.get(), p.right.data, right_.get(), beta.bytes, p.result, result_.get(),
                       p.result, result_.get(), &way.algorithm, workspace, way.workspace,
                       c10::cuda::current_stream());
}

/// All that an algorithm depends on, as bytes.
std::string kind_of(const Product& p) {
  const int64_t numbers[] = {c10::cuda::current_device(),
                             static_cast<int64_t>(p.dtype),
                             static_cast<int64_t>(p.result_dtype),
                             static_cast<int64_t>(compute_of(p)),
                             static_cast<int64_t>(p.epilogue),
                             p.beta.equal(0) ? 0 : 1,
                             p.m,
                             p.n,
                             p.k,
                             p.batch,

                             p.left.leading,
                             p.left.batch_stride,
                             p.left.transposed ? 1 : 0,
                             alignment_of(p.left.data),

                             p.right.leading,
                             p.right.batch_stride,
                             p.right.transposed ? 1 : 0,
                             alignment_of(p.right.data),

                             alignment_of(p.result)};
  return {reinterpret_cast<const char*>(numbers), sizeof(numbers)};
}

cublaslt::Heuristic algorithm_for(const Product& p, const Described& described) {
  static std::mutex mutex;
  static auto* const known = new std::unordered_map<std::string, cublaslt::Heuristic>;

  const std::string kind = kind_of(p);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known->find(kind); found != known->end()) return found->second;
  }
  const cublaslt::Heuristic best = described.best_algorithm(p);
  const std::lock_guard lock(mutex);
  if (known->size() >= kMostKnown) known->clear();  // a program of ever new sizes
  return (*known)[kind] = best;
}

}  // namespace

bool has_epilogues(ScalarType dtype) { return dtype == kFloat || c10::is_reduced_floating(dtype); }

void multiply(const char* name, const Product& product) {
  for (const int64_t size : {product.m, product.n, product.k, product.batch})
    TORCH_CHECK(size <= INT32_MAX, name, ": cuBLASLt takes sizes below 2^31, got ", size);

  const Described described(product);
  const cublaslt::Heuristic way = algorithm_for(product, described);
  const cudaStream_t stream = c10::cuda::current_stream();

  c10::DataPtr workspace;
  if (way.workspace > 0) workspace = c10::cuda::device_allocator().allocate(way.workspace);
  c10::cuda::note_launch(name, stream);
  cublaslt::check(described.run(product, way, workspace.get()), "cublasLtMatmul");
  if (c10::cuda::is_blocking()) c10::cuda::wait_for_launch(stream);
}

}  // namespace at::native::cuda
