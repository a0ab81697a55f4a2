// Comparison of a tensor with what was assumed about it, and the words for a difference.
#include "torch_py/csrc/compiler/guards/TensorFacts.h"

#include <algorithm>
#include <utility>

#include "torch_py/csrc/bindings/types/Dtype.h"

namespace torch::python::compiler {

namespace {

std::string changed(const std::string& what, const std::string& before, const std::string& now) {
  return what + " was " + before + ", is " + now;
}

std::string dtype_text(c10::ScalarType dtype) {
  return std::string("torch.") + c10::dtype_name(dtype);
}

/// Dimensions from the innermost to the outermost.
c10::SmallVector<size_t, 6> by_stride(const int64_t* sizes, const int64_t* strides, size_t ndim) {
  c10::SmallVector<size_t, 6> order;
  for (size_t i = 0; i < ndim; ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(strides[a], sizes[a]) < std::pair(strides[b], sizes[b]);
  });
  return order;
}

}  // namespace

TensorFacts::TensorFacts(PyObject* tensor)
    : type_(ObjectPtr::borrow(reinterpret_cast<PyObject*>(Py_TYPE(tensor)))) {
  const c10::TensorImpl& impl = *unpack(tensor).unsafe_impl();
  keys_ = impl.key_set();
  dtype_ = impl.dtype();
  device_ = impl.device();
  layout_ = impl.layout();
  is_inference_ = c10::is_inference(impl);
  requires_alone_ = requires_alone(impl);
  ndim_ = static_cast<size_t>(impl.dim());

  for (const int64_t size : impl.sizes()) geometry_.push_back(size);
  for (const int64_t stride : impl.strides()) geometry_.push_back(stride);
  spans_.assign(ndim_, {});
}

void TensorFacts::expect_sizes(c10::IntArrayRef sizes) {
  is_simple_ = std::find(sizes.begin(), sizes.end(), kOpen) == sizes.end();
  if (!is_simple_) relate_strides(sizes);
  std::copy(sizes.begin(), sizes.end(), geometry_.begin());
}

void TensorFacts::relate_strides(c10::IntArrayRef open) {
  const int64_t* sizes = geometry_.data();
  const int64_t* strides = sizes + ndim_;
  const auto order = by_stride(sizes, strides, ndim_);

  for (size_t position = 1; position < ndim_; ++position) {
    const size_t inner = order[position - 1];
    const size_t outer = order[position];
    const bool depends = open[inner] == kOpen || spans_[inner].inner >= 0;
    if (!depends || strides[inner] == 0 || strides[outer] % strides[inner] != 0) continue;

    const int64_t gap = strides[outer] / strides[inner] - sizes[inner];
    if (gap >= 0) spans_[outer] = {static_cast<int8_t>(inner), gap};
  }
}

void TensorFacts::expect_strides(c10::IntArrayRef strides) {
  spans_.assign(ndim_, {});
  std::copy(strides.begin(), strides.end(), geometry_.begin() + static_cast<ptrdiff_t>(ndim_));
  const bool any = std::find(strides.begin(), strides.end(), kAnyStride) != strides.end();
  is_simple_ = is_simple_ && !any;
}

void TensorFacts::expect_offset(int64_t offset) {
  offset_ = offset;
  is_simple_ = false;
}

int64_t TensorFacts::expected_stride(size_t i, const c10::TensorImpl& tensor) const {
  const int64_t given = geometry_[ndim_ + i];
  if (given == kAnyStride) return tensor.strides()[i];
  const Span span = spans_[i];
  if (span.inner < 0) return given;

  const auto inner = static_cast<size_t>(span.inner);
  return tensor.strides()[inner] * (tensor.sizes()[inner] + span.gap);
}

bool TensorFacts::fits_geometry(const c10::TensorImpl& tensor) const {
  const c10::IntArrayRef sizes = tensor.sizes();
  const c10::IntArrayRef strides = tensor.strides();

  for (size_t i = 0; i < ndim_; ++i) {
    const bool size_fits = geometry_[i] == kOpen ? sizes[i] >= 2 : sizes[i] == geometry_[i];
    if (!size_fits || strides[i] != expected_stride(i, tensor)) return false;
  }
  return offset_ == kAnyOffset || tensor.storage_offset() == offset_;
}

std::string TensorFacts::difference_of_kind(PyObject* object, const std::string& name) const {
  if (Py_TYPE(object) != type())
    return name + " was of type " + type()->tp_name + ", is of type " + Py_TYPE(object)->tp_name;

  const c10::TensorImpl& tensor = *unpack(object).unsafe_impl();
  if (tensor.dtype() != dtype_)
    return changed(name + ".dtype", dtype_text(dtype_), dtype_text(tensor.dtype()));
  if (!(tensor.device() == device_))
    return changed(name + ".device", device_.str(), tensor.device().str());
  if (tensor.layout() != layout_) {
    return changed(name + ".layout", std::string("torch.") + c10::layout_name(layout_),
                   std::string("torch.") + c10::layout_name(tensor.layout()));
  }
  if (tensor.dim() != static_cast<int64_t>(ndim_))
    return changed(name + ".dim()", std::to_string(ndim_), std::to_string(tensor.dim()));

  const bool required = keys_.has_any(c10::kAutogradKeys);
  const bool requires_now = tensor.key_set().has_any(c10::kAutogradKeys);
  if (required != requires_now)
    return changed(name + ".requires_grad", required ? "True" : "False",
                   requires_now ? "True" : "False");
  const bool is_inference = c10::is_inference(tensor);
  if (is_inference != is_inference_)
    return changed(name + ".is_inference()", is_inference_ ? "True" : "False",
                   is_inference ? "True" : "False");
  if (requires_alone(tensor) != requires_alone_)
    return name + "._base." +
           (requires_alone_ ? "requires_grad was False" : "requires_grad is False");
  return tensor.key_set() == keys_ ? "" : "the dispatch keys of " + name + " changed";
}

std::string TensorFacts::difference_of_geometry(const c10::TensorImpl& tensor,
                                                const std::string& name) const {
  const auto member = [&](const char* method, size_t i) {
    return name + "." + method + "(" + std::to_string(i) + ")";
  };

  for (size_t i = 0; i < ndim_; ++i) {
    const int64_t size = tensor.sizes()[i];
    const bool is_open = geometry_[i] == kOpen;
    if (is_open && size < 2) return changed(member("size", i), "2 or more", std::to_string(size));
    if (!is_open && size != geometry_[i])
      return changed(member("size", i), std::to_string(geometry_[i]), std::to_string(size));
  }
  for (size_t i = 0; i < ndim_; ++i) {
    const int64_t expected = expected_stride(i, tensor);
    const int64_t stride = tensor.strides()[i];
    if (stride != expected)
      return changed(member("stride", i), std::to_string(expected), std::to_string(stride));
  }

  if (offset_ != kAnyOffset && tensor.storage_offset() != offset_)
    return changed(name + ".storage_offset()", std::to_string(offset_),
                   std::to_string(tensor.storage_offset()));
  return "";
}

std::string TensorFacts::first_difference(PyObject* object, const std::string& name) const {
  std::string kind = difference_of_kind(object, name);
  return kind.empty() ? difference_of_geometry(*unpack(object).unsafe_impl(), name) : kind;
}

std::string TensorFacts::str() const {
  std::string text = std::string(type()->tp_name) + " " + c10::dtype_name(dtype_) + "[";
  for (size_t i = 0; i < ndim_; ++i) {
    text += (i > 0 ? ", " : "") +
            (geometry_[i] == kOpen ? std::string("?") : std::to_string(geometry_[i]));
  }
  text += "] on " + device_.str();
  if (layout_ != c10::Layout::Strided) text += std::string(", ") + c10::layout_name(layout_);
  if (keys_.has_any(c10::kAutogradKeys)) text += ", requires grad";
  return text;
}

}  // namespace torch::python::compiler
