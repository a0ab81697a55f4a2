// Plans loops: type promotion, broadcasting, outputs, and the order of dimensions.
#include "aten/iteration/TensorIterator.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "aten/core/NumberTensor.h"
#include "aten/iteration/Blocks.h"
#include "aten/iteration/MemoryOverlap.h"
#include "aten/ops/bitwise_xor.h"
#include "aten/ops/view.h"
#include "aten/parallel/Parallel.h"
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

/// `tensor` as `dtype`. 0-dim CPU tensors are cast in place of a dispatched copy, which would cost
/// more than the operator itself.
Tensor cast_operand(const Tensor& tensor, ScalarType dtype) {
  if (tensor.scalar_type() == dtype) return tensor;
  if (tensor.dim() != 0 || !tensor.is_cpu()) return tensor.to(dtype);

  const Tensor result =
      tensor.is_wrapped_number() ? number_tensor(dtype) : empty_tensor({}, dtype, kCPU);
  with_element(tensor, [&](auto from) {
    switch (dtype) {
#define CASE(cpp, name, python) \
  case ScalarType::name: *static_cast<cpp*>(result.data()) = convert<cpp>(from); break;
      TORCH_PY_FORALL_SCALAR_TYPES(CASE)
#undef CASE
      case ScalarType::Undefined: break;
    }
  });
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

void TensorIterator::cast_inputs(Promotion promotion, std::initializer_list<const Tensor*> inputs) {
  const ScalarType first = (*inputs.begin())->scalar_type();
  bool same = true;
  for (const Tensor* tensor : inputs)
    same = same && tensor->scalar_type() == first && !tensor->is_wrapped_number();

  common_dtype_ = first;
  if (promotion != Promotion::Same) {
    if (!same) {
      SmallVector<Tensor, 4> tensors;
      for (const Tensor* tensor : inputs) tensors.push_back(*tensor);
      common_dtype_ = result_type(tensors);
    }
    if (promotion == Promotion::IntToFloat && is_integral(common_dtype_, true))
      common_dtype_ = default_dtype();
    if (promotion == Promotion::BoolToLong && common_dtype_ == kBool) common_dtype_ = kLong;
  }

  const bool cast = promotion != Promotion::Same;
  for (const Tensor* tensor : inputs) {
    operands_.push_back({cast ? cast_operand(*tensor, common_dtype_) : *tensor});
  }
  promoted_dtype_ = common_dtype_;
  if (cast && is_storage_only(common_dtype_)) widen_inputs(promotion);

  // Numbers keep their value before rounding: unrounded_number().
  if (!cast || same || !is_reduced_floating(common_dtype_)) return;
  Operand* operand = &operands_[1];
  for (const Tensor* tensor : inputs) {
    if (is_number_like(*tensor) && tensor->scalar_type() != common_dtype_) {
      with_element(*tensor, [operand](auto value) { operand->unrounded = convert<float>(value); });
    }
    ++operand;
  }
}

/// Casts inputs of a storage dtype to a type that has loops and holds every value.
void TensorIterator::widen_inputs(Promotion promotion) {
  const bool is_comparison = common_dtype_ == kUInt64 && promotion == Promotion::Comparison;
  if (is_comparison && operands_.size() == 2) {  // logical_not only asks for zero
    common_dtype_ = kBool;
    operands_[1].tensor = operands_[1].tensor.to(kBool);
  } else if (is_comparison && is_relation(op_name_)) {
    common_dtype_ = kLong;
    for (size_t i = 1; i < operands_.size(); ++i)
      operands_[i].tensor = shifted_to_signed(operands_[i].tensor);
  } else {
    common_dtype_ = loop_dtype(common_dtype_, promotion);
    for (size_t i = 1; i < operands_.size(); ++i)
      operands_[i].tensor = cast_operand(operands_[i].tensor, common_dtype_);
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
  const Tensor& wide = operands_[0].tensor;
  if (!caller_out_.defined() && wide.scalar_type() != dtype) {
    caller_out_ = empty_strided_tensor(wide.sizes(), wide.strides(), dtype, wide.device());
  }
}

/// The common case: contiguous operands of one shape, and numbers, form one dimension without
/// planning.
bool TensorIterator::try_flat(const Tensor& out, ScalarType out_dtype) {
  const bool starts_with_number = operands_.size() > 2 && operands_[1].tensor.dim() == 0;
  const Tensor& first = operands_[starts_with_number ? 2 : 1].tensor;
  if (!first.is_contiguous()) return false;
  for (size_t i = 1; i < operands_.size(); ++i) {
    const Tensor& tensor = operands_[i].tensor;
    const bool fits =
        tensor.dim() == 0 || (tensor.is_contiguous() && tensor.sizes() == first.sizes());
    if (!fits) return false;
  }
  if (out.defined() && (out.device() != first.device() || out.scalar_type() != out_dtype ||
                        !out.is_contiguous() || out.sizes() != first.sizes())) {
    return false;
  }
  for (const Operand& operand : operands_) {
    if (operand.tensor.defined() && operand.tensor.device() != first.device()) return false;
  }
  if (out.defined() && needs_buffer(out, first.sizes())) return false;

  numel_ = first.numel();
  operands_[0].tensor =
      out.defined() ? out : empty_tensor(first.sizes(), out_dtype, first.device());
  shape_.push_back(numel_);
  for (Operand& operand : operands_) {
    const bool is_repeated = operand.tensor.dim() == 0 && first.dim() != 0;
    const auto step = static_cast<int64_t>(operand.tensor.itemsize());
    operand.data = static_cast<char*>(operand.tensor.data());
    operand.strides.push_back(is_repeated ? 0 : step);
  }
  return true;
}

void TensorIterator::compute_shape(const Tensor& out, OutputKind kind) {
  shape_ = DimVector(operands_[1].tensor.sizes());
  for (size_t i = 2; i < operands_.size(); ++i) {
    const IntArrayRef sizes = operands_[i].tensor.sizes();
    if (IntArrayRef(shape_) != sizes) shape_ = broadcast_sizes(shape_, sizes);
  }
  if (kind == OutputKind::Inplace) {
    TORCH_CHECK(out.sizes() == IntArrayRef(shape_), "output with shape ", out.sizes(),
                " doesn't match the broadcast shape ", IntArrayRef(shape_), " in ", op_name_);
  }
}

/// Whether the loop would overwrite elements of an input before it reads them. An input that
/// overlaps `out` partly is an error, and so is an input that would have to be resized as `out`.
bool TensorIterator::needs_buffer(const Tensor& out, IntArrayRef sizes) const {
  const bool fits = out.sizes() == sizes;
  bool reaches = false;
  for (size_t i = 1; i < operands_.size(); ++i) {
    const Tensor& input = operands_[i].tensor;
    TORCH_CHECK(fits || !out.is_same(input), op_name_, ": output with shape ", out.sizes(),
                " doesn't match the broadcast shape ", sizes);
    const Overlap overlap = memory_overlap(out, input);
    if (overlap == Overlap::Partial) check_no_partial_overlap(op_name_, out, input);

    // With Overlap::Full, each element may be read and written in one step.
    reaches = reaches || (fits ? overlap == Overlap::Strided : write_reaches(out, sizes, input));
  }
  return reaches;
}

void TensorIterator::set_output(const Tensor& out, ScalarType out_dtype, OutputKind kind) {
  Device device = operands_[1].tensor.device();
  for (size_t i = 1; i < operands_.size(); ++i) {
    if (!is_number_like(operands_[i].tensor)) {
      device = operands_[i].tensor.device();
      break;
    }
  }

  if (out.defined()) {
    TORCH_CHECK(out.device() == device ||
                    (is_number_like(operands_[1].tensor) && operands_.size() == 2),
                op_name_,
                ": Expected all tensors to be on the same device, but found at least two devices, ",
                device, " and ", out.device(), "!");
    TORCH_CHECK(can_cast(out_dtype, out.scalar_type()), op_name_, ": result type ", out_dtype,
                " can't be cast to the desired output type ", out.scalar_type());

    check_no_internal_overlap(op_name_, out);

    if (!needs_buffer(out, shape_) && out.scalar_type() == out_dtype) {
      if (kind != OutputKind::Inplace) resize_output(out, shape_);
      operands_[0].tensor = out;
      return;
    }
    caller_out_ = out;
    device = out.device();
  }
  // A new output keeps the order of dimensions of its inputs (channels_last stays channels_last).
  bool contiguous = true;
  for (size_t i = 1; i < operands_.size(); ++i) {
    contiguous =
        contiguous && (operands_[i].tensor.is_contiguous() || operands_[i].tensor.dim() == 0);
  }
  if (contiguous || shape_.size() < 2) {
    operands_[0].tensor = empty_tensor(shape_, out_dtype, device);
    return;
  }

  // Otherwise the result is dense in the order of the inputs' strides.
  const SmallVector<int, 6> order = dimension_order(shape_);
  DimVector strides(shape_.size());
  int64_t stride = 1;
  for (const int d : order) {
    strides[d] = stride;
    // The strides of an empty tensor with huge sizes may overflow; nothing reads them.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(shape_[d], 1), &stride)) stride = 1;
  }
  operands_[0].tensor = empty_strided_tensor(shape_, strides, out_dtype, device);
}

/// Dimensions from fastest to slowest. Of two dimensions, the first operand in which their strides
/// differ decides.
SmallVector<int, 6> TensorIterator::dimension_order(IntArrayRef shape) const {
  const int n = static_cast<int>(shape.size());
  SmallVector<DimVector, 4> strides;
  for (const Operand& operand : operands_) {
    if (operand.tensor.defined()) strides.push_back(broadcast_strides(operand.tensor, shape));
  }

  // +1: a is slower than b, -1: faster, 0: cannot tell.
  auto compare = [&](int a, int b) {
    for (const DimVector& s : strides) {
      if (s[a] == 0 || s[b] == 0) continue;
      if (s[a] != s[b]) return s[a] > s[b] ? 1 : -1;
      if (shape[a] != shape[b]) return shape[a] > shape[b] ? 1 : -1;
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

void TensorIterator::plan() {
  numel_ = 1;
  for (const int64_t size : shape_) {
    TORCH_CHECK(!__builtin_mul_overflow(numel_, size, &numel_), op_name_,
                ": numel: integer multiplication overflow, got sizes ", IntArrayRef(shape_));
  }

  const SmallVector<int, 6> order = dimension_order(shape_);
  for (Operand& operand : operands_) {
    operand.data = static_cast<char*>(operand.tensor.data());
    const DimVector strides = broadcast_strides(operand.tensor, shape_);
    operand.strides.clear();
    for (const int d : order) operand.strides.push_back(strides[d]);
  }

  DimVector ordered;
  for (const int d : order) ordered.push_back(shape_[d]);
  shape_ = std::move(ordered);
  coalesce();
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
  iter.operands_.push_back({});
  iter.cast_inputs(promotion, inputs);

  const ScalarType out_dtype = iter.output_dtype(promotion, iter.common_dtype_);
  const ScalarType stored_dtype = iter.output_dtype(promotion, iter.promoted_dtype_);

  if (!iter.try_flat(out, out_dtype)) {
    TORCH_CHECK(kind != OutputKind::ExactOut || out.scalar_type() == stored_dtype, op_name,
                ": Found dtype ", out.scalar_type(), " but expected ", stored_dtype);
    iter.check_devices(inputs);
    iter.compute_shape(out, kind);
    iter.set_output(out, out_dtype, kind);
    iter.plan();
  }

  if (stored_dtype != out_dtype && !out.defined()) iter.store_narrow(stored_dtype);
  return iter;
}

TensorIterator TensorIterator::over(const char* op_name,
                                    std::initializer_list<const Tensor*> operands) {
  TensorIterator iter;
  iter.op_name_ = op_name;
  for (const Tensor* tensor : operands) iter.operands_.push_back({*tensor});
  iter.common_dtype_ = iter.operands_.back().tensor.scalar_type();
  iter.shape_ = DimVector(iter.operands_[0].tensor.sizes());

  for (const Operand& operand : iter.operands_) {
    TORCH_CHECK(broadcast_sizes(iter.shape_, operand.tensor.sizes()) == iter.shape_, op_name,
                ": shape ", operand.tensor.sizes(), " does not broadcast to ",
                iter.operands_[0].tensor.sizes());
  }
  iter.plan();
  return iter;
}

TensorIterator TensorIterator::with_operands(
    const std::function<Tensor(const Tensor& operand, bool written)>& moved) const {
  TensorIterator other = *this;
  for (size_t k = 0; k < operands_.size(); ++k) {
    const Operand& operand = operands_[k];
    const auto offset = operand.data - static_cast<char*>(operand.tensor.data());
    other.operands_[k].tensor = moved(operand.tensor, /*written=*/k == 0);
    other.operands_[k].data = static_cast<char*>(other.operands_[k].tensor.data()) + offset;
  }
  return other;
}

const Tensor& TensorIterator::finish() {
  if (!caller_out_.defined()) return operands_[0].tensor;
  resize_output(caller_out_, operands_[0].tensor.sizes());
  if (!caller_out_.is_meta()) caller_out_.copy_(operands_[0].tensor);
  return caller_out_;
}

void TensorIterator::store() {
  const bool copies = caller_out_.defined() && !caller_out_.is_meta();  // copy_ bumps the version
  const Tensor& written = caller_out_.defined() ? caller_out_ : operands_[0].tensor;
  if (!copies) written.unsafe_impl()->bump_version();
  finish();
}

void TensorIterator::for_each(Loop loop, const void* context, int64_t grain) const {
  if (numel_ == 0) return;
  if (dim() > 1 && numel_ >= native::kLeastInBlocks) {
    const native::BlockPlan blocks = native::plan_blocks(*this);
    if (blocks.other != 0) return native::for_each_block(*this, blocks, loop, context, grain);
  }

  if (numel_ <= grain || in_parallel_region() || get_num_threads() == 1) {
    serial_for_each(loop, context, 0, numel_);
    return;
  }
  parallel_for(0, numel_, grain,
               [&](int64_t begin, int64_t end) { serial_for_each(loop, context, begin, end); });
}

void TensorIterator::serial_for_each(Loop loop, const void* context, int64_t begin,
                                     int64_t end) const {
  if (begin >= end) return;
  const int n = ntensors();
  char* data[kMaxOperands];
  int64_t inner[kMaxOperands];
  for (int k = 0; k < n; ++k) inner[k] = operands_[k].strides[0];

  DimVector index(shape_.size());
  int64_t rest = begin;
  for (size_t d = 0; d < shape_.size(); ++d) {
    index[d] = rest % shape_[d];
    rest /= shape_[d];
  }

  // One run of the fastest dimension after another.
  while (begin < end) {
    for (int k = 0; k < n; ++k) {
      data[k] = operands_[k].data;
      for (size_t d = 0; d < shape_.size(); ++d) data[k] += index[d] * operands_[k].strides[d];
    }

    // Whole rows follow each other along dimension 1.
    const bool whole_rows = shape_.size() > 1 && index[0] == 0 && end - begin >= shape_[0];
    if (whole_rows) {
      const int64_t rows = std::min(shape_[1] - index[1], (end - begin) / shape_[0]);
      for (int64_t row = 0; row < rows; ++row) {
        loop(context, data, inner, shape_[0]);
        for (int k = 0; k < n; ++k) data[k] += operands_[k].strides[1];
      }
      begin += rows * shape_[0];
      index[1] += rows - 1;
    } else {
      const int64_t run = std::min(shape_[0] - index[0], end - begin);
      loop(context, data, inner, run);
      begin += run;
      index[0] = 0;
    }
    for (size_t d = 1; d < shape_.size() && ++index[d] == shape_[d]; ++d) index[d] = 0;
  }
}

}  // namespace at
