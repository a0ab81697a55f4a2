// From an operator's C++ signature: how its calls become boxed and boxed ones reach its kernels.
#pragma once
// See Note [Boxed calls].
#include <iterator>
#include <tuple>
#include <utility>

#include "aten/core/Value.h"
#include "c10/dispatch/OperatorEntry.h"

namespace at::boxing {

/// A value as an argument of type T. Views (ArrayRef, string_view) and references are of what the
/// value holds, so they end with it.
template <class T>
struct Argument {
  static T of(const Value& value) { return value.get<T>(); }
};

template <>
struct Argument<const Tensor&> {
  /// None is an undefined tensor.
  static const Tensor& of(const Value& value) {
    static const Tensor undefined;
    return value.is_none() ? undefined : value.get<Tensor>();
  }
};
template <>
struct Argument<const Scalar&> {
  static const Scalar& of(const Value& value) { return value.get<Scalar>(); }
};
template <>
struct Argument<TensorList> {
  static TensorList of(const Value& value) { return value.get<Value::Tensors>(); }
};
template <>
struct Argument<ArrayRef<Scalar>> {
  static ArrayRef<Scalar> of(const Value& value) { return value.get<Value::Scalars>(); }
};
template <>
struct Argument<ArrayRef<double>> {
  static ArrayRef<double> of(const Value& value) { return value.get<Value::Doubles>(); }
};
template <>
struct Argument<IntArrayRef> {
  static IntArrayRef of(const Value& value) { return value.get<DimVector>(); }
};
template <>
struct Argument<OptionalIntArrayRef> {
  static OptionalIntArrayRef of(const Value& value) {
    if (value.is_none()) return {};
    return IntArrayRef(value.get<DimVector>());
  }
};
template <>
struct Argument<std::string_view> {
  static std::string_view of(const Value& value) { return value.get<std::string>(); }
};
template <>
struct Argument<Generator*> {
  static Generator* of(const Value& value) {
    return value.is_none() ? nullptr : value.get<Generator*>();
  }
};
template <class T>
struct Argument<std::optional<T>> {
  static std::optional<T> of(const Value& value) {
    if (value.is_none()) return std::nullopt;
    return Argument<T>::of(value);
  }
};
template <class T>
struct Argument<const std::optional<T>&> : Argument<std::optional<T>> {};

/// The results of a function, from and to the stack.
template <class T>
struct Results {
  static void push(Stack& stack, T&& result) { stack.emplace_back(std::move(result)); }
  static T take(Stack& stack) { return std::move(stack.back().get<T>()); }
};
template <>
struct Results<Tensor> {
  static void push(Stack& stack, Tensor&& result) { stack.emplace_back(std::move(result)); }
  static Tensor take(Stack& stack) {
    return stack.back().is_none() ? Tensor() : std::move(stack.back().get<Tensor>());
  }
};
template <class... T>
struct Results<std::tuple<T...>> {
  static void push(Stack& stack, std::tuple<T...>&& results) {
    std::apply([&](T&... result) { (stack.emplace_back(std::move(result)), ...); }, results);
  }
  static std::tuple<T...> take(Stack& stack) {
    return take(stack, std::index_sequence_for<T...>());
  }

 private:
  template <size_t... I>
  static std::tuple<T...> take(Stack& stack, std::index_sequence<I...>) {
    return {take_one<T>(stack[I])...};
  }
  template <class U>
  static U take_one(Value& value) {
    if constexpr (std::is_same_v<U, Tensor>) {
      if (value.is_none()) return Tensor();
    }
    return std::move(value.get<U>());
  }
};

/// Everything that depends on the signature alone.
template <class Schema>
struct Signature;

template <class Result, class... Args>
struct Signature<Result(DispatchKeySet, Args...)> {
  /// Boxing::unbox
  static void unbox(const OperatorEntry&, void* function, const DispatchKeySet* keys,
                    Stack& stack) {
    unbox(function, keys, stack, std::index_sequence_for<Args...>());
  }

  /// Boxes a call that has arrived at an operator whose kernel is boxed.
  __attribute__((noinline)) static Result box(const OperatorEntry& entry, DispatchKeySet keys,
                                              Args... arguments) {
    Stack stack;
    stack.reserve(sizeof...(Args));
    (stack.emplace_back(arguments), ...);
    entry.boxed_kernel(entry.serving_key(keys))->call(entry, keys, stack);
    if constexpr (!std::is_void_v<Result>) return Results<Result>::take(stack);
  }

 private:
  template <size_t... I>
  static void unbox(void* function, const DispatchKeySet* keys, Stack& stack,
                    std::index_sequence<I...>) {
    const auto call = [&]() -> Result {
      if (keys != nullptr) {
        return reinterpret_cast<Result (*)(DispatchKeySet, Args...)>(function)(
            *keys, Argument<Args>::of(stack[I])...);
      }
      return reinterpret_cast<Result (*)(Args...)>(function)(Argument<Args>::of(stack[I])...);
    };

    if constexpr (std::is_void_v<Result>) {
      call();
      stack.clear();
    } else {
      Result result = call();
      stack.clear();
      Results<Result>::push(stack, std::move(result));
    }
  }
};

template <class Op, class Schema>
struct Box;

/// The kernel of an operator in whose table a boxed kernel serves a key.
template <class Op, class Result, class... Args>
struct Box<Op, Result(DispatchKeySet, Args...)> {
  static Result call(DispatchKeySet keys, Args... arguments) {
    return Signature<typename Op::Schema>::box(Op::entry, keys, arguments...);
  }
};

/// What the entry of an operator needs for boxed calls.
template <class Op>
constexpr Boxing boxing_of() {
  constexpr auto address = [](Boxing::Function which) -> void* {
    if (which == Boxing::Function::Call) return reinterpret_cast<void*>(&Op::call);
    return reinterpret_cast<void*>(&Box<Op, typename Op::Schema>::call);
  };
  return {address, &Signature<typename Op::Schema>::unbox};
}

}  // namespace at::boxing
