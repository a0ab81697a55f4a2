// Plans loops: type promotion, broadcasting, outputs, and the order of dimensions.
#include "aten/iteration/TensorIterator.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "aten/core/NumberTensor.h"
#include "aten/iteration/MemoryOverlap.h"
#include "aten/iteration/Rows.h"
#include "aten/ops/bitwise_xor.h"
#include "aten/ops/view.h"
#include "c10/util/CheckedMath.h"

namespace at {

namespace {

/// f(value) with the element of a 0-dim CPU tensor.
template <class F>
void with_element(const Tensor& tensor, const F& f) {
  switch (tensor.scalar_type()) {
#define CASE(cpp, name, python) \
  case ScalarType::name: f(*static_cast<const cpp*>(tensor.data())); break;
    TORCH_PY_FORALL_SCALAR_TYPES(CASE)
#undef CASE
    case ScalarType::Undefined: break;
  }
}

/// Sets the element of the 0-dim CPU tensor `to` to that of `from`, converted.
void convert_element(const Tensor& from, const Tensor& to) {
  // Most numbers are floats of Python, and most other operands are float32.
  if (from.scalar_type() == kDouble && to.scalar_type() == kFloat) {
    *static_cast<float*>(to.data()) = static_cast<float>(*static_cast<const double*>(from.data()));
    return;
  }

  with_element(from, [&](auto value) {
    switch (to.scalar_type()) {
#define CASE(cpp, name, python) \
  case ScalarType::name: *static_cast<cpp*>(to.data()) = convert<cpp>(value); break;
      TORCH_PY_FORALL_SCALAR_TYPES(CASE)
#undef CASE
      case ScalarType::Undefined: break;
    }
  });
}

/// `tensor` as another dtype. 0-dim CPU tensors are cast in place of a dispatched copy, which would
/// cost more than the operator itself.
PlannedTensor cast_operand(const Tensor& tensor, ScalarType dtype) {
  if (tensor.dim() != 0 || !tensor.is_cpu()) return tensor.to(dtype);

  if (tensor.is_wrapped_number()) {
    NumberTensor number(dtype);
    convert_element(tensor, number.get());
    return number;
  }

  Tensor result = empty_tensor({}, dtype, kCPU);
  convert_element(tensor, result);
  return result;
}

/// The type whose loops serve a storage dtype (Note [Storage dtypes]); other dtypes are unchanged.
ScalarType loop_dtype(ScalarType type, Promotion promotion) {
  if (type == kComplexHalf) return kComplexFloat;
  if (promotion != Promotion::Comparison) return type;
  if (is_float8(type)) return kFloat;
  return type == kUInt16 || type == kUInt32 ? kLong : type;
}

bool is_relation(std::string_view op_name) {
  for (const std::string_view name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    if (op_name == name || (op_name.starts_with(name) && op_name.substr(name.size()) == "_"))
      return true;
  }
  return false;
}

/// uint64 as int64 in the same order: subtracting 2^63 flips the highest bit.
Tensor shifted_to_signed(const Tensor& tensor) {
  constexpr int64_t highest = std::numeric_limits<int64_t>::min();
  if (!tensor.is_cpu()) return at::bitwise_xor(at::view(tensor, kLong), Scalar(highest));

  // Without a dispatched operator, which costs more than most comparisons.
  const Tensor source = tensor.contiguous();
  Tensor result = empty_tensor(source.sizes(), kLong, kCPU);
  const auto* in = source.const_data_ptr<uint64_t>();
  int64_t* out = result.data_ptr<int64_t>();
  for (int64_t i = 0; i < source.numel(); ++i) out[i] = static_cast<int64_t>(in[i]) ^ highest;
  return result;
}

bool is_number_like(const Tensor& tensor) { return tensor.is_cpu() && tensor.dim() == 0; }

/// Byte strides of `tensor` for `shape`: 0 along broadcast dimensions. Those of an empty tensor or
/// of a dimension of size 1 may be too large; they wrap around, and nothing reads them.
DimVector broadcast_strides(const Tensor& tensor, IntArrayRef shape) {
  DimVector strides(shape.size(), 0);
  const int64_t itemsize = static_cast<int64_t>(tensor.itemsize());
  const size_t offset = shape.size() - tensor.sizes().size();
  for (size_t i = 0; i < tensor.sizes().size(); ++i) {
    strides[i + offset] = tensor.sizes()[i] == 1 && shape[i + offset] != 1
                              ? 0
                              : c10::wrapping_multiply(tensor.strides()[i], itemsize);
  }
  return strides;
}

/// Gives an operand one dimension, along which it is contiguous or repeats its element.
template <class Operand>
void make_flat(Operand& operand, bool is_repeated) {
  const Tensor& tensor = operand.tensor.get();
  operand.data = static_cast<char*>(tensor.data());
  operand.strides.clear();
  operand.strides.push_back(is_repeated ? 0 : static_cast<int64_t>(tensor.itemsize()));
}

/// Refuses an input that would have to be resized as `out`.
void check_keeps_inputs(const char* op_name, const Tensor& out, IntArrayRef sizes,
                        std::initializer_list<const Tensor*> inputs) {
  if (!out.defined() || out.sizes() == sizes) return;
  for (const Tensor* input : inputs) {
    TORCH_CHECK(!out.is_same(*input), op_name, ": output with shape ", out.sizes(),
                " doesn't match the broadcast shape ", sizes);
  }
}

/// A loop over one row at a time, and its context.
struct LineLoop {
  TensorIterator::Loop run;
  const void* context;
};

/// Runs a LineLoop over rows.
void run_lines(const void* context, const native::Rows& rows) {
  const auto& loop = *static_cast<const LineLoop*>(context);
  char* data[TensorIterator::kMaxOperands];
  std::copy_n(rows.data, rows.operands, data);

  for (int64_t row = 0; row < rows.count; ++row) {
    loop.run(loop.context, data, rows.strides, rows.n);
    for (int k = 0; k < rows.operands; ++k) data[k] += rows.row_strides[k];
  }
}

/// The strides of a dense tensor whose dimensions lie in memory in this order, the innermost first.
DimVector dense_strides(IntArrayRef sizes, const SmallVector<int, 6>& order) {
  DimVector strides(sizes.size());
  int64_t stride = 1;
  for (const int d : order) {
    strides[d] = stride;
    // The strides of an empty tensor with huge sizes may overflow; nothing reads them.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(sizes[d], 1), &stride)) stride = 1;
  }
  return strides;
}

}  // namespace

void TensorIterator::check_devices(std::initializer_list<const Tensor*> inputs) const {
  // 0-dim CPU tensors may meet tensors of any device.
  const Tensor* first = nullptr;
  for (const Tensor* tensor : inputs) {
    if (is_number_like(*tensor)) continue;
    if (first == nullptr) first = tensor;
    TORCH_CHECK(tensor->device() == first->device(), op_name_,
                ": Expected all tensors to be on the same device, but found at least two devices, ",
                first->device(), " and ", tensor->device(), "!");
  }
}

void TensorIterator::set_inputs(Promotion promotion, std::initializer_list<const Tensor*> inputs) {
  const ScalarType first = (*inputs.begin())->scalar_type();
  bool same = true;
  for (const Tensor* tensor : inputs) {
    operands_.emplace_back(PlannedTensor::borrowed(*tensor));
    same = same && tensor->scalar_type() == first && !tensor->is_wrapped_number();
  }

  common_dtype_ = first;
  promoted_dtype_ = first;
  if (promotion == Promotion::Same) return;

  if (!same) common_dtype_ = result_type(ArrayRef<const Tensor*>(inputs.begin(), inputs.size()));
  if (promotion == Promotion::IntToFloat && is_integral(common_dtype_, true))
    common_dtype_ = default_dtype();
  if (promotion == Promotion::BoolToLong && common_dtype_ == kBool) common_dtype_ = kLong;
  promoted_dtype_ = common_dtype_;

  if (!same || common_dtype_ != first) cast_inputs(/*keep_numbers=*/!same);
  if (is_storage_only(common_dtype_)) widen_inputs(promotion);
}

/// Casts inputs to the common dtype. Numbers may keep their value before rounding, for
/// unrounded_number().
void TensorIterator::cast_inputs(bool keep_numbers) {
  keep_numbers = keep_numbers && is_reduced_floating(common_dtype_);
  for (size_t k = 1; k < operands_.size(); ++k) {
    Operand& operand = operands_[k];
    const Tensor& tensor = operand.tensor.get();
    if (tensor.scalar_type() == common_dtype_) continue;

    if (keep_numbers && is_number_like(tensor))
      with_element(tensor, [&](auto value) { operand.unrounded = convert<float>(value); });
    operand.tensor = cast_operand(tensor, common_dtype_);
  }
}

/// Casts inputs of a storage dtype to a type that has loops and holds every value.
void TensorIterator::widen_inputs(Promotion promotion) {
  const bool is_comparison = common_dtype_ == kUInt64 && promotion == Promotion::Comparison;
  if (is_comparison && operands_.size() == 2) {  // logical_not only asks for zero
    common_dtype_ = kBool;
    operands_[1].tensor = input(0).to(kBool);
  } else if (is_comparison && is_relation(op_name_)) {
    common_dtype_ = kLong;
    for (size_t i = 1; i < operands_.size(); ++i)
      operands_[i].tensor = shifted_to_signed(operands_[i].tensor.get());
  } else {
    const ScalarType wide = loop_dtype(common_dtype_, promotion);
    for (size_t i = 1; wide != common_dtype_ && i < operands_.size(); ++i)
      operands_[i].tensor = cast_operand(operands_[i].tensor.get(), wide);
    common_dtype_ = wide;
  }
}

ScalarType TensorIterator::output_dtype(Promotion promotion, ScalarType common) const {
  switch (promotion) {
    case Promotion::Comparison: return kBool;
    case Promotion::ComplexToReal: return to_real(common);
    default: return common;
  }
}

/// Lets a loop that computes in a wider type return a result of `dtype`.
void TensorIterator::store_narrow(ScalarType dtype) {
  const Tensor& wide = output();
  if (!caller_out_.defined() && wide.scalar_type() != dtype) {
    caller_out_ = empty_strided_tensor(wide.sizes(), wide.strides(), dtype, wide.device());
  }
}

/// The common case: contiguous operands of one shape, and numbers, form one dimension without
/// planning.
bool TensorIterator::try_flat(const Tensor& out, ScalarType out_dtype) {
  const bool starts_with_number = operands_.size() > 2 && input(0).dim() == 0;
  const Tensor& first = input(starts_with_number ? 1 : 0);
  const Device device = first.device();
  if (!first.is_contiguous()) return false;

  for (size_t i = 1; i < operands_.size(); ++i) {
    const Tensor& tensor = operands_[i].tensor.get();
    const bool is_number = tensor.dim() == 0;
    if (tensor.device() != device) return false;
    if (!is_number && (!tensor.is_contiguous() || tensor.sizes() != first.sizes())) return false;
    make_flat(operands_[i], is_number && first.dim() != 0);
  }

  if (out.defined()) {
    if (out.device() != device || out.scalar_type() != out_dtype || !out.is_contiguous() ||
        out.sizes() != first.sizes() || needs_buffer(out, first.sizes()))
      return false;
    check_changeable(out);
    operands_[0].tensor = PlannedTensor::borrowed(out);
  } else {
    operands_[0].tensor = empty_tensor(first.sizes(), out_dtype, device);
  }

  make_flat(operands_[0], false);
  numel_ = first.numel();
  shape_.push_back(numel_);
  return true;
}

void TensorIterator::set_flat(Operand& operand, bool is_repeated) {
  make_flat(operand, is_repeated);
}

void TensorIterator::compute_shape(const Tensor& out, OutputKind kind) {
  shape_ = DimVector(input(0).sizes());
  for (size_t i = 2; i < operands_.size(); ++i) {
    const IntArrayRef sizes = operands_[i].tensor.get().sizes();
    if (IntArrayRef(shape_) != sizes) shape_ = broadcast_sizes(shape_, sizes);
  }
  if (kind == OutputKind::Inplace) {
    TORCH_CHECK(out.sizes() == IntArrayRef(shape_), "output with shape ", out.sizes(),
                " doesn't match the broadcast shape ", IntArrayRef(shape_), " in ", op_name_);
  }
}

/// Whether the loop would overwrite elements of an input before it reads them. An input that
/// overlaps `out` partly is an error.
bool TensorIterator::needs_buffer(const Tensor& out, IntArrayRef sizes) const {
  const bool fits = out.sizes() == sizes;
  bool reaches = false;
  for (size_t i = 1; i < operands_.size(); ++i) {
    const Tensor& input = operands_[i].tensor.get();
    const Overlap overlap = memory_overlap(out, input);
    if (overlap == Overlap::Partial) check_no_partial_overlap(op_name_, out, input);

    // With Overlap::Full, each element may be read and written in one step.
    reaches = reaches || (fits ? overlap == Overlap::Strided : write_reaches(out, sizes, input));
  }
  return reaches;
}

void TensorIterator::set_output(const Tensor& out, ScalarType out_dtype, OutputKind kind) {
  Device device = input(0).device();
  for (size_t i = 1; i < operands_.size(); ++i) {
    if (!is_number_like(operands_[i].tensor.get())) {
      device = operands_[i].tensor.get().device();
      break;
    }
  }

  if (out.defined()) {
    TORCH_CHECK(out.device() == device || (is_number_like(input(0)) && operands_.size() == 2),
                op_name_,
                ": Expected all tensors to be on the same device, but found at least two devices, ",
                device, " and ", out.device(), "!");
    TORCH_CHECK(can_cast(out_dtype, out.scalar_type()), op_name_, ": result type ", out_dtype,
                " can't be cast to the desired output type ", out.scalar_type());

    check_changeable(out);
    check_no_internal_overlap(op_name_, out);

    if (!needs_buffer(out, shape_) && out.scalar_type() == out_dtype) {
      operands_[0].tensor = PlannedTensor::borrowed(out);
      if (kind == OutputKind::Inplace || out.sizes() == IntArrayRef(shape_)) return;
      resize_output(out, shape_);
    } else {
      caller_out_ = out;
      device = out.device();
    }
  }
  const bool is_made = !out.defined() || caller_out_.defined();

  // A new output keeps the order of dimensions of its inputs (channels_last stays channels_last),
  // and so does one that was resized.
  bool contiguous = true;
  for (size_t i = 1; i < operands_.size(); ++i) {
    const Tensor& tensor = operands_[i].tensor.get();
    contiguous = contiguous && (tensor.is_contiguous() || tensor.dim() == 0);
  }
  if (contiguous || shape_.size() < 2) {
    if (is_made) operands_[0].tensor = empty_tensor(shape_, out_dtype, device);
    return;
  }

  // Otherwise the result is dense in the order of the inputs' strides.
  set_strides(1);
  const DimVector strides = dense_strides(shape_, dimension_order(1));
  if (is_made) operands_[0].tensor = empty_strided_tensor(shape_, strides, out_dtype, device);
  else out.unsafe_impl()->set_sizes_and_strides(shape_, strides);
}

/// Sets the strides of operands from `first` on, in the order of shape_.
void TensorIterator::set_strides(size_t first) {
  for (size_t k = first; k < operands_.size(); ++k)
    operands_[k].strides = broadcast_strides(operands_[k].tensor.get(), shape_);
}

/// Dimensions from fastest to slowest. Of two dimensions, the first operand (from `first` on) in
/// which their strides differ decides.
SmallVector<int, 6> TensorIterator::dimension_order(size_t first) const {
  const int n = static_cast<int>(shape_.size());

  // +1: a is slower than b, -1: faster, 0: cannot tell.
  auto compare = [&](int a, int b) {
    for (size_t k = first; k < operands_.size(); ++k) {
      const DimVector& strides = operands_[k].strides;
      if (strides[a] == 0 || strides[b] == 0) continue;
      if (strides[a] != strides[b]) return strides[a] > strides[b] ? 1 : -1;
      if (shape_[a] != shape_[b]) return shape_[a] > shape_[b] ? 1 : -1;
    }
    return 0;
  };

  SmallVector<int, 6> order;
  for (int d = n - 1; d >= 0; --d) order.push_back(d);

  // Insertion sort: stable, and where two dimensions compare as 0 it looks further left.
  for (int i = 1; i < n; ++i) {
    int position = i;
    for (int j = i - 1; j >= 0; --j) {
      const int comparison = compare(order[position], order[j]);
      if (comparison > 0) break;
      if (comparison < 0) {
        std::swap(order[position], order[j]);
        position = j;
      }
    }
  }
  return order;
}

/// Plans the loop over shape_. The first operands, before number `first_without_strides`, have
/// strides already.
void TensorIterator::plan(size_t first_without_strides) {
  numel_ = 1;
  for (const int64_t size : shape_) {
    TORCH_CHECK(!__builtin_mul_overflow(numel_, size, &numel_), op_name_,
                ": numel: integer multiplication overflow, got sizes ", IntArrayRef(shape_));
  }

  for (Operand& operand : operands_) operand.data = static_cast<char*>(operand.tensor.get().data());
  set_strides(first_without_strides);
  order_dimensions();
  coalesce();
}

/// Puts the dimensions of shape_ and of all strides in order, the fastest first.
void TensorIterator::order_dimensions() {
  const SmallVector<int, 6> order = dimension_order(0);
  auto reorder = [&order](DimVector& values) {
    DimVector ordered;
    for (const int d : order) ordered.push_back(values[d]);
    values = std::move(ordered);
  };

  reorder(shape_);
  for (Operand& operand : operands_) reorder(operand.strides);
}

void TensorIterator::coalesce() {
  if (shape_.empty()) {
    shape_.push_back(1);
    for (Operand& operand : operands_) operand.strides.push_back(0);
  }

  auto can_merge = [&](size_t a, size_t b) {
    if (shape_[a] == 1 || shape_[b] == 1) return true;
    for (const Operand& operand : operands_) {
      if (c10::wrapping_multiply(operand.strides[a], shape_[a]) != operand.strides[b]) return false;
    }
    return true;
  };

  size_t last = 0;
  for (size_t d = 1; d < shape_.size(); ++d) {
    const bool merge = can_merge(last, d);
    if (merge && shape_[last] != 1) {
      shape_[last] = c10::wrapping_multiply(shape_[last], shape_[d]);  // too large if another is 0
      continue;
    }
    if (!merge) ++last;
    shape_[last] = shape_[d];
    for (Operand& operand : operands_) operand.strides[last] = operand.strides[d];
  }

  shape_.resize(last + 1);
  for (Operand& operand : operands_) operand.strides.resize(last + 1);
}

TensorIterator TensorIterator::pointwise(const char* op_name, Promotion promotion,
                                         const Tensor& out,
                                         std::initializer_list<const Tensor*> inputs,
                                         OutputKind kind) {
  TensorIterator iter;
  iter.op_name_ = op_name;
  iter.operands_.emplace_back(PlannedTensor());
  iter.set_inputs(promotion, inputs);

  const ScalarType out_dtype = iter.output_dtype(promotion, iter.common_dtype_);
  const ScalarType stored_dtype = iter.output_dtype(promotion, iter.promoted_dtype_);

  if (!iter.try_flat(out, out_dtype)) {
    TORCH_CHECK(kind != OutputKind::ExactOut || out.scalar_type() == stored_dtype, op_name,
                ": Found dtype ", out.scalar_type(), " but expected ", stored_dtype);
    iter.check_devices(inputs);
    iter.compute_shape(out, kind);
    check_keeps_inputs(op_name, out, iter.shape_, inputs);
    iter.set_output(out, out_dtype, kind);
    iter.plan();
  }

  if (stored_dtype != out_dtype && !out.defined()) iter.store_narrow(stored_dtype);
  if (iter.is_meta()) iter.numel_ = 0;  // Note [Calls without elements]
  return iter;
}

TensorIterator TensorIterator::over(const char* op_name,
                                    std::initializer_list<const Tensor*> operands) {
  TensorIterator iter;
  iter.op_name_ = op_name;
  iter.shape_ = DimVector((*operands.begin())->sizes());
  for (const Tensor* tensor : operands) {
    TORCH_CHECK(tensor->sizes() == IntArrayRef(iter.shape_) ||
                    broadcast_sizes(iter.shape_, tensor->sizes()) == iter.shape_,
                op_name, ": shape ", tensor->sizes(), " does not broadcast to ",
                IntArrayRef(iter.shape_));
    iter.operands_.emplace_back(PlannedTensor::borrowed(*tensor));
  }
  iter.common_dtype_ = iter.operands_.back().tensor.get().scalar_type();
  iter.plan();
  if (iter.is_meta()) iter.numel_ = 0;  // Note [Calls without elements]
  return iter;
}

TensorIterator TensorIterator::with_operands(
    const std::function<Tensor(const Tensor& operand, bool written)>& moved) const {
  TensorIterator other = *this;
  for (size_t k = 0; k < operands_.size(); ++k) {
    const Operand& operand = operands_[k];
    const auto offset = operand.data - static_cast<char*>(operand.tensor.get().data());
    Tensor tensor = moved(operand.tensor.get(), /*written=*/k == 0);
    other.operands_[k].data = static_cast<char*>(tensor.data()) + offset;
    other.operands_[k].tensor = std::move(tensor);
  }
  return other;
}

Tensor TensorIterator::finish() {
  write_back();
  return caller_out_.defined() ? caller_out_ : operands_[0].tensor.take();
}

/// Writes a temporary to the caller's out.
void TensorIterator::write_back() {
  if (!caller_out_.defined()) return;
  if (caller_out_.sizes() != output().sizes()) {
    resize_output(caller_out_, output().sizes());
    caller_out_.unsafe_impl()->set_sizes_and_strides(output().sizes(), output().strides());
  }
  if (!caller_out_.is_meta()) caller_out_.copy_(output());
}

void TensorIterator::store() {
  const bool copies = caller_out_.defined() && !caller_out_.is_meta();  // copy_ bumps the version
  const Tensor& written = caller_out_.defined() ? caller_out_ : output();
  if (!copies) written.unsafe_impl()->bump_version();
  write_back();
}

void TensorIterator::for_each(Loop loop, const void* context, int64_t grain) const {
  const LineLoop lines = {loop, context};
  native::for_each_row(*this, run_lines, &lines, grain);
}

void TensorIterator::serial_for_each(Loop loop, const void* context, int64_t begin,
                                     int64_t end) const {
  const LineLoop lines = {loop, context};
  native::serial_for_each_row(*this, run_lines, &lines, begin, end);
}

}  // namespace at
