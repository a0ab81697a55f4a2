// Value: an argument or a result of any operator. Stack: the arguments of a boxed call.
#pragma once
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "aten/core/Tensor.h"
#include "c10/core/ScalarType.h"

namespace at {

/// A value that only the language of the program understands; the bindings say what is inside.
class TORCH_PY_API ForeignObject {
 public:
  virtual ~ForeignObject();
};

/// One value of any type that schemas have (c10/dispatch/Schema.h), or None: no value, and no
/// optional value. It owns what it holds; lists become vectors.
class Value {
 public:
  using Object = std::shared_ptr<const ForeignObject>;
  using List = std::vector<Value>;  // of types without a list of their own: bool[], str[], int?[]
  using Tensors = std::vector<Tensor>;
  using Scalars = std::vector<Scalar>;
  using Doubles = std::vector<double>;
  using Variant = std::variant<std::monostate, Tensor, Tensors, bool, int64_t, double, Scalar,
                               DimVector, Doubles, Scalars, ScalarType, Layout, Device,
                               MemoryFormat, std::string, Generator*, List, Object>;

  Value() = default;
  /// An undefined tensor is None.
  Value(Tensor tensor) {
    if (tensor.defined()) value_ = std::move(tensor);
  }
  Value(Tensors tensors) : value_(std::move(tensors)) {}
  Value(TensorList tensors) : value_(Tensors(tensors.begin(), tensors.end())) {}
  // Only of a bool: pointers convert to it.
  template <std::same_as<bool> Flag>
  Value(Flag flag) : value_(flag) {}
  Value(int64_t number) : value_(number) {}
  Value(double number) : value_(number) {}
  Value(const Scalar& number) : value_(number) {}
  Value(DimVector numbers) : value_(std::move(numbers)) {}
  Value(IntArrayRef numbers) : value_(DimVector(numbers)) {}
  Value(Doubles numbers) : value_(std::move(numbers)) {}
  Value(ArrayRef<double> numbers) : value_(Doubles(numbers.begin(), numbers.end())) {}
  Value(Scalars numbers) : value_(std::move(numbers)) {}
  Value(ArrayRef<Scalar> numbers) : value_(Scalars(numbers.begin(), numbers.end())) {}
  Value(ScalarType dtype) : value_(dtype) {}
  Value(Layout layout) : value_(layout) {}
  Value(Device device) : value_(device) {}
  Value(MemoryFormat format) : value_(format) {}
  Value(std::string text) : value_(std::move(text)) {}
  Value(std::string_view text) : value_(std::string(text)) {}
  /// Null means the default generator, which a schema spells None.
  Value(Generator* generator) {
    if (generator != nullptr) value_ = generator;
  }
  Value(List values) : value_(std::move(values)) {}
  Value(Object object) : value_(std::move(object)) {}
  template <class T>
  Value(const std::optional<T>& optional) {
    if (optional) *this = Value(*optional);
  }

  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(value_);
  }
  /// The value of type T, which it must have.
  template <class T>
  T& get() {
    return std::get<T>(value_);
  }
  template <class T>
  const T& get() const {
    return std::get<T>(value_);
  }
  const Variant& variant() const { return value_; }

 private:
  Variant value_;
};

/// The arguments of a call, in the order of the schema, and after the call its results.
class Stack : public std::vector<Value> {
 public:
  using std::vector<Value>::vector;
};

}  // namespace at
