// What compiled code assumes about a tensor.
#pragma once
#include "torch_py/csrc/bindings/PythonHeaders.h"

#include <string>

#include "c10/core/InferenceMode.h"
#include "torch_py/csrc/bindings/ObjectPtr.h"
#include "torch_py/csrc/bindings/tensor/TensorType.h"

namespace torch::python::compiler {

/// Class, dtype, device, layout, dispatch keys (and with them requires_grad), whether it is a
/// tensor of inference mode or requires a gradient that its base does not, sizes and strides. The
/// values and the version of a tensor are not among them, and its place in memory only if that is
/// asked for.
///
/// Note [Dynamic sizes]
/// A size may be left open: any of at least 2, as 0 and 1 broadcast and are compiled for
/// themselves. Unless strides are given, a stride that spanned an open dimension then has to span
/// it again, with as long a gap behind it: for a contiguous tensor of sizes (open, 3, open),
/// strides are (3 * size(2), size(2), 1), and for all of its columns but the last one (3 * (size(2)
/// + 1), size(2) + 1, 1). All others must be the same.
class TensorFacts {
 public:
  static constexpr int64_t kOpen = -1;  // a size
  static constexpr int64_t kAnyStride = INT64_MIN;
  static constexpr int64_t kAnyOffset = -1;

  /// All facts as they are now. `tensor` satisfies is_tensor().
  explicit TensorFacts(PyObject* tensor);

  /// Leaves sizes open, or expects others; those of dimensions in order.
  void expect_sizes(c10::IntArrayRef sizes);
  void expect_strides(c10::IntArrayRef strides);
  /// Where in its memory the tensor begins, in elements.
  void expect_offset(int64_t offset);

  bool fit(PyObject* object) const {
    if (C10_UNLIKELY(Py_TYPE(object) != type())) return false;
    const c10::TensorImpl& tensor = *unpack(object).unsafe_impl();

    const bool same_kind =
        (tensor.key_set() == keys_) & (tensor.dtype() == dtype_) & (tensor.device() == device_) &
        (tensor.layout() == layout_) & (tensor.dim() == static_cast<int64_t>(ndim_)) &
        (c10::is_inference(tensor) == is_inference_) & (requires_alone(tensor) == requires_alone_);
    if (C10_UNLIKELY(!same_kind)) return false;
    return C10_LIKELY(is_simple_) ? same_geometry(tensor) : fits_geometry(tensor);
  }

  /// "L['x'].size(0) was 8, is 9", where `name` is "L['x']"; empty if the facts fit.
  std::string first_difference(PyObject* object, const std::string& name) const;
  /// "Tensor float32[8, ?] on cpu".
  std::string str() const;

  /// Borrowed.
  PyTypeObject* type() const { return reinterpret_cast<PyTypeObject*>(type_.get()); }
  size_t ndim() const { return ndim_; }

 private:
  /// What a stride is a multiple of: the stride of the dimension `inner`, as often as that has
  /// elements, and `gap` times more. -1 where no open size is spanned.
  struct Span {
    int8_t inner = -1;
    int64_t gap = 0;
  };

  /// Whether a tensor requires a gradient, and what it is a view of does not: views of it that are
  /// taken without grad mode are views of the base, and do not require one.
  static bool requires_alone(const c10::TensorImpl& tensor) {
    return C10_UNLIKELY(tensor.is_view()) && tensor.key_set().has_any(c10::kAutogradKeys) &&
           !tensor.base()->key_set().has_any(c10::kAutogradKeys);
  }
  bool same_geometry(const c10::TensorImpl& tensor) const {
    const int64_t* actual = tensor.sizes().data();  // followed by the strides
    for (size_t i = 0; i < 2 * ndim_; ++i) {
      if (actual[i] != geometry_[i]) return false;
    }
    return true;
  }
  bool fits_geometry(const c10::TensorImpl& tensor) const;
  /// The stride that dimension `i` has to have in a tensor of these sizes and strides.
  int64_t expected_stride(size_t i, const c10::TensorImpl& tensor) const;
  /// Finds the strides that span open dimensions.
  void relate_strides(c10::IntArrayRef open);
  std::string difference_of_kind(PyObject* object, const std::string& name) const;
  std::string difference_of_geometry(const c10::TensorImpl& tensor, const std::string& name) const;

  ObjectPtr type_;
  c10::DispatchKeySet keys_;
  c10::ScalarType dtype_;
  c10::Device device_;
  c10::Layout layout_;
  bool is_inference_ = false;
  bool requires_alone_ = false;
  bool is_simple_ = true;  // all sizes and strides are given, and nothing else
  int64_t offset_ = kAnyOffset;
  size_t ndim_;
  c10::DimVector geometry_;          // ndim sizes, then ndim strides
  c10::SmallVector<Span, 6> spans_;  // of each dimension
};

/// The Python type torch_py._C._compiler.TensorFacts.
bool is_tensor_facts(PyObject* object);
const TensorFacts& facts_of(PyObject* object);

}  // namespace torch::python::compiler
