// Plans reductions: the dimensions to reduce, the dtypes, the result and the iterator over both.
#include "aten/iteration/ReductionPlan.h"

#include <bitset>

#include "aten/iteration/MemoryOverlap.h"
#include "c10/util/CheckedMath.h"

namespace at {

/// Assembles the iterator of a reduction, which sees the result in the shape of the input: reduced
/// dimensions have stride 0.
class ReductionBuilder {
 public:
  ReductionBuilder(TensorIterator& iter, const char* op_name, const Tensor& self,
                   OptionalIntArrayRef dims, bool keepdim, bool no_dims_are_all = true)
      : iter_(iter),
        self_(self),
        keepdim_(keepdim),
        reduced_(mask(op_name, self, dims, no_dims_are_all)) {
    iter_.op_name_ = op_name;
  }

  static std::bitset<64> mask(const char* op_name, const Tensor& self, OptionalIntArrayRef dims,
                              bool no_dims_are_all) {
    std::bitset<64> reduced;
    TORCH_CHECK(self.dim() <= 64, op_name, ": only tensors with up to 64 dims are supported, got ",
                self.dim());

    if (!dims.has_value() || (no_dims_are_all && dims->empty())) return reduced.set();
    for (const int64_t dim : *dims) {
      const int64_t d = wrap_dim(dim, self.dim());
      TORCH_CHECK(!reduced[d], op_name, ": dim ", d, " appears multiple times in the list of dims");
      reduced.set(d);
    }
    return reduced;
  }

  DimVector result_sizes() const {
    DimVector sizes;
    for (int64_t d = 0; d < self_.dim(); ++d) {
      if (!reduced_[d]) {
        sizes.push_back(self_.sizes()[d]);
      } else if (keepdim_) {
        sizes.push_back(1);
      }
    }
    return sizes;
  }

  void build(const Tensor& out, ScalarType input_dtype, ScalarType out_dtype) {
    set_operands(out, input_dtype, out_dtype);
    set_geometry();
    if (iter_.is_meta()) iter_.numel_ = 0;  // Note [Calls without elements]
  }

 private:
  void set_operands(const Tensor& out, ScalarType input_dtype, ScalarType out_dtype) {
    iter_.operands_.emplace_back(PlannedTensor());
    iter_.operands_.emplace_back(self_.scalar_type() == input_dtype
                                     ? PlannedTensor::borrowed(self_)
                                     : PlannedTensor(self_.to(input_dtype)));
    iter_.common_dtype_ = input_dtype;
    set_result(out, result_sizes(), out_dtype);
  }

  void set_geometry() {
    // All elements of contiguous memory form one dimension without planning.
    const Tensor& input = iter_.input(0);
    if (reduced_.all() && input.is_contiguous()) {
      TensorIterator::set_flat(iter_.operands_[0], /*is_repeated=*/true);
      TensorIterator::set_flat(iter_.operands_[1], /*is_repeated=*/false);
      iter_.numel_ = input.numel();
      iter_.shape_.push_back(iter_.numel_);
      return;
    }

    iter_.shape_ = DimVector(self_.sizes());
    iter_.operands_[0].strides = result_strides();
    iter_.plan(/*first_without_strides=*/1);
  }

  void set_result(const Tensor& out, IntArrayRef sizes, ScalarType out_dtype) {
    if (out.defined()) {
      TORCH_CHECK(
          out.device() == self_.device(), iter_.op_name_,
          ": Expected all tensors to be on the same device, but found at least two devices, ",
          self_.device(), " and ", out.device(), "!");
      TORCH_CHECK(can_cast(out_dtype, out.scalar_type()), iter_.op_name_, ": result type ",
                  out_dtype, " can't be cast to the desired output type ", out.scalar_type());

      check_changeable(out);
      check_no_internal_overlap(iter_.op_name_, out);

      if (out.scalar_type() == out_dtype && !write_reaches(out, sizes, self_)) {
        resize_output(out, sizes);
        iter_.operands_[0].tensor = PlannedTensor::borrowed(out);
        return;
      }
      iter_.caller_out_ = out;
    }

    iter_.operands_[0].tensor = empty_tensor(sizes, out_dtype, self_.device());
  }

  /// Byte strides of the result in the shape of `self`: 0 along reduced dimensions.
  DimVector result_strides() const {
    const Tensor& result = iter_.output();
    DimVector strides(self_.dim());
    int64_t from = 0;
    for (int64_t d = 0; d < self_.dim(); ++d) {
      if (!reduced_[d])
        strides[d] =
            c10::wrapping_multiply(result.strides()[from], static_cast<int64_t>(result.itemsize()));
      if (!reduced_[d] || keepdim_) ++from;
    }
    return strides;
  }

  TensorIterator& iter_;
  const Tensor& self_;
  bool keepdim_;
  std::bitset<64> reduced_;
};

namespace native {

namespace {

struct ReductionTypes {
  ScalarType input;
  ScalarType output;
};

/// The dtypes that `rule` chooses; an explicit `dtype` replaces that of the input.
ReductionTypes reduction_types(const Tensor& self, ReductionDtype rule,
                               std::optional<ScalarType> dtype) {
  const ScalarType type = dtype.value_or(self.scalar_type());

  switch (rule) {
    case ReductionDtype::Extremum:
    case ReductionDtype::Same: return {type, type};
    case ReductionDtype::IntToLong: {
      const ScalarType wide = !dtype.has_value() && is_integral(type, true) ? kLong : type;
      return {wide, wide};
    }
    case ReductionDtype::IntToFloat: {
      const ScalarType wide = is_integral(type, true) ? default_dtype() : type;
      return {wide, wide};
    }
    case ReductionDtype::ComplexToReal: return {type, c10::to_real(type)};
    case ReductionDtype::Bool:
      if (is_float8(type) || type == kComplexHalf) return {kBool, kBool};
      return {type, type == kByte ? kByte : kBool};  // uint8 was the mask type before bool existed
    case ReductionDtype::Index: return {type, kLong};
  }

  return {type, type};
}

/// The dtype to compute in when `out` is given: sums and products without `dtype` use that of
/// `out`, and an explicit `dtype` must equal it.
std::optional<ScalarType> dtype_with_out(const char* op_name, const Tensor& out, const Tensor& self,
                                         ReductionDtype rule, std::optional<ScalarType> dtype) {
  const ScalarType found = out.scalar_type();

  if (dtype.has_value()) {
    TORCH_CHECK(found == *dtype, op_name, ": Expected out tensor to have dtype ",
                cpp_type_name(*dtype), ", but got ", cpp_type_name(found), " instead");
  } else if (rule == ReductionDtype::IntToLong) {
    return found;
  } else if (rule == ReductionDtype::Extremum) {
    TORCH_CHECK(found == self.scalar_type(), op_name,
                ": Expected the dtype for input and out to match, but got ", self.scalar_type(),
                " for input's dtype and ", found, " for out's dtype.");
  } else if (rule == ReductionDtype::Bool) {
    TORCH_CHECK(found == kBool || found == kByte, op_name,
                " only supports bool tensor for result, got: ", found);
  }

  return dtype;
}

/// An extremum over zero elements is an error, even if the result has no elements or is on meta.
void check_nonempty(const char* op_name, const Tensor& self, OptionalIntArrayRef dims) {
  if (self.numel() > 0) return;

  const auto check = [&](int64_t d) {
    TORCH_CHECK_INDEX(self.sizes()[d] != 0, op_name, "(): Expected reduction dim ", d,
                      " to have non-zero size.");
  };
  if (dims.has_value() && !dims->empty()) {
    for (const int64_t dim : *dims) check(wrap_dim(dim, self.dim()));
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) check(d);
  }
}

}  // namespace

DimVector reduced_sizes(const Tensor& self, OptionalIntArrayRef dims, bool keepdim) {
  TensorIterator unused;
  return ReductionBuilder(unused, "reduction", self, dims, keepdim).result_sizes();
}

TensorIterator make_reduction(const char* op_name, const Tensor& out, const Tensor& self,
                              OptionalIntArrayRef dims, bool keepdim, ReductionDtype rule,
                              std::optional<ScalarType> dtype) {
  if (out.defined()) dtype = dtype_with_out(op_name, out, self, rule, dtype);
  const ReductionTypes types = reduction_types(self, rule, dtype);

  // For any and all, an empty list of dimensions reduces none; for other reductions it means all.
  const bool no_dims_are_all = rule != ReductionDtype::Bool;
  TensorIterator iter;
  ReductionBuilder(iter, op_name, self, dims, keepdim, no_dims_are_all)
      .build(out, types.input, types.output);
  if (rule == ReductionDtype::Extremum) check_nonempty(op_name, self, dims);
  return iter;
}

}  // namespace native
}  // namespace at
