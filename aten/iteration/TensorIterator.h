#pragma once
// TensorIterator, the plan of a pointwise or reduction loop over strided tensors.
#include <functional>
#include <initializer_list>
#include <optional>

#include "aten/core/Tensor.h"
#include "aten/iteration/PlannedTensor.h"
#include "c10/util/SmallVector.h"

namespace at {

/// How a pointwise operator chooses the dtype it computes in and the dtype of its result.
enum class Promotion : uint8_t {
  Default,        // result_type of the inputs, for both
  IntToFloat,     // as Default, but integers and bool become the default dtype
  Comparison,     // inputs promoted, result bool
  Same,           // every input keeps its dtype; the result has the first input's
  ComplexToReal,  // as Default, but a complex input gives a result of its real type
  BoolToLong      // as Default, but bool becomes int64
};

/// The variant of an operator that is called; it decides whether `out` may be resized, and may have
/// another dtype than the result.
enum class OutputKind : uint8_t { Function, Inplace, Out, ExactOut };

/// Plan of one pointwise or reduction pass over several tensors: operand 0 is written, the others
/// are read. Dimensions are reordered and merged so that dimension 0 is the fastest; strides are in
/// bytes. A plan does not keep the tensors alive that it is made for.
class TORCH_PY_API TensorIterator {
 public:
  static constexpr int kMaxOperands = 8;
  /// Elements below which a second thread costs more than it brings.
  static constexpr int64_t kGrain = 32768;
  /// Runs over n elements: data[k] advances by strides[k] bytes per element.
  using Loop = void (*)(const void* context, char* const* data, const int64_t* strides, int64_t n);

  /// Casts inputs to the common dtype, checks devices, overlap and castability, broadcasts,
  /// allocates (undefined `out`) or resizes the output, and coalesces.
  static TensorIterator pointwise(const char* op_name, Promotion promotion, const Tensor& out,
                                  std::initializer_list<const Tensor*> inputs,
                                  OutputKind kind = OutputKind::Function);
  /// Operands as they are (no casts, no allocation): each must broadcast to operand 0's shape.
  static TensorIterator over(const char* op_name, std::initializer_list<const Tensor*> operands);

  /// The same plan over other memory: `moved(operand, is_written)` returns a tensor with the
  /// geometry of each operand.
  TensorIterator
  with_operands(const std::function<Tensor(const Tensor& operand, bool written)>& moved) const;

  /// Writes a temporary back to the caller's out, and returns the output. Ends the plan.
  Tensor finish();
  /// finish() of an in-place or out= call: bumps the version of the caller's tensor once.
  void store();

  const char* op_name() const { return op_name_; }
  int ntensors() const { return static_cast<int>(operands_.size()); }
  int64_t numel() const { return numel_; }
  int dim() const { return static_cast<int>(shape_.size()); }
  /// Coalesced sizes and byte strides, fastest dimension first.
  IntArrayRef shape() const { return shape_; }
  IntArrayRef strides(int operand) const { return operands_[operand].strides; }
  char* data(int operand) const { return operands_[operand].data; }
  ScalarType dtype(int operand = 0) const { return tensor(operand).scalar_type(); }
  ScalarType common_dtype() const { return common_dtype_; }
  Device device() const { return output().device(); }
  bool is_meta() const { return device().is_meta(); }
  const Tensor& output() const { return tensor(0); }
  const Tensor& input(int i) const { return tensor(i + 1); }
  const Tensor& tensor(int operand) const { return operands_[operand].tensor.get(); }
  /// The value of a 0-dim CPU operand before it was rounded to the common dtype, float16 or
  /// bfloat16; empty if nothing was rounded. Products and quotients compute with it in float32 and
  /// round once: rounded first, the factor of `x *= 1 - 1e-4` would be 1.
  std::optional<float> unrounded_number(int operand) const { return operands_[operand].unrounded; }

  /// Calls loop(context, ...) over all elements, split over threads above the grain.
  void for_each(Loop loop, const void* context, int64_t grain = kGrain) const;
  /// Elements [begin, end) of the coalesced order, in the calling thread.
  void serial_for_each(Loop loop, const void* context, int64_t begin, int64_t end) const;

 private:
  friend class ReductionBuilder;
  struct Operand {
    PlannedTensor tensor{};
    char* data = nullptr;
    DimVector strides{};
    std::optional<float> unrounded{};
  };

  void check_devices(std::initializer_list<const Tensor*> inputs) const;
  void set_inputs(Promotion promotion, std::initializer_list<const Tensor*> inputs);
  void cast_inputs(bool keep_numbers);
  void widen_inputs(Promotion promotion);
  ScalarType output_dtype(Promotion promotion, ScalarType common) const;
  void store_narrow(ScalarType dtype);
  bool try_flat(const Tensor& out, ScalarType out_dtype);
  static void set_flat(Operand& operand, bool is_repeated);
  void compute_shape(const Tensor& out, OutputKind kind);
  bool needs_buffer(const Tensor& out, IntArrayRef sizes) const;
  void set_output(const Tensor& out, ScalarType out_dtype, OutputKind kind);
  void plan(size_t first_without_strides = 0);
  void set_strides(size_t first);
  SmallVector<int, 6> dimension_order(size_t first) const;
  void order_dimensions();
  void coalesce();
  void write_back();

  const char* op_name_ = "";
  SmallVector<Operand, 4> operands_;
  DimVector shape_;
  int64_t numel_ = 0;
  ScalarType common_dtype_ = ScalarType::Undefined;
  // Differs from common_dtype_ where the loop computes in a wider type.
  ScalarType promoted_dtype_ = ScalarType::Undefined;
  Tensor caller_out_;  // defined when operand 0 is a temporary
};
using TensorIteratorBase = TensorIterator;

/// Refuses a tensor to be written in which two elements share memory (expand).
TORCH_PY_API void check_no_internal_overlap(const char* op_name, const Tensor& tensor);
/// Refuses an input that overlaps the tensor to be written partly.
TORCH_PY_API void check_no_partial_overlap(const char* op_name, const Tensor& out,
                                           const Tensor& input);

}  // namespace at
