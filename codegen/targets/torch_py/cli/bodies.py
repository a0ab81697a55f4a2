"""Drafts the bodies of C++ functions: a loop over what the function is given, for its author to change.

Every draft refuses to run until its first line is removed, as its loop computes something else.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.model import Operator
from codegen.model.keywords import cpp_identifier
from codegen.model.program import combination_macro
from codegen.targets.torch_py import cpp
from codegen.targets.torch_py.keys import CUDA_KEY

_OPS = """\
namespace {{

/// What {symbol} keeps while it reads the elements, and what becomes of that.
template <class T>
struct {ops} {{
  using input_t = T;
  using acc_t = opmath_type<T>;  // float for float16 and bfloat16
  using output_t = T;
  static acc_t identity() {{ return acc_t(0); }}
  static acc_t reduce(acc_t acc, T value) {{ return acc + static_cast<acc_t>(value); }}
  static acc_t combine(acc_t a, acc_t b) {{ return a + b; }}
  static T project(acc_t acc) {{ return static_cast<T>(acc); }}
}};

}}  // namespace

"""


def helpers(operator: Operator, symbol: str, key: str) -> str:
    """What the drafted loop needs above it."""
    if not _has_loop(operator, key) or operator.structure != "reduction":
        return ""
    return _OPS.format(symbol=symbol, ops=_ops(symbol))


def body(operator: Operator, symbol: str, key: str) -> Sequence[str]:
    """The lines of the function."""
    lines = [f'  TORCH_CHECK_NOT_IMPLEMENTED(false, "{symbol} is not written yet");  // Remove this line.']
    if _has_loop(operator, key):
        lines += _LOOPS[operator.structure](operator, symbol)
    return lines


def _has_loop(operator: Operator, key: str) -> bool:
    if key == CUDA_KEY or not cpp.is_loop(operator, key) or operator.structure not in _LOOPS:
        return False
    tensors = operator.tensor_arguments
    return bool(tensors) and all(a.type.is_plain("Tensor") for a in tensors)


def _macro(operator: Operator) -> str:
    return combination_macro(operator.dtype_sets)


def _ops(symbol: str) -> str:
    """``TotalOps`` of total_kernel."""
    words = symbol.removesuffix("_kernel").split("_")
    return "".join(word.capitalize() for word in words) + "Ops"


def _pointwise(operator: Operator, symbol: str) -> list[str]:
    names = [cpp_identifier(a.name) for a in operator.tensor_arguments]
    parameters = ", ".join(f"scalar_t {name}" for name in names)
    return [
        f'  {_macro(operator)}(iter.common_dtype(), "{operator.base_name}", [&] {{',
        f"    cpu_kernel(iter, [=]({parameters}) -> scalar_t {{",
        f"      return {' + '.join(names)};  // What the operator computes for one element.",
        "    });",
        "  });",
    ]


def _reduction(operator: Operator, symbol: str) -> list[str]:
    return [
        f'  {_macro(operator)}(iter.common_dtype(), "{operator.base_name}",',
        f"    [&] {{ cpu_reduce(iter, {_ops(symbol)}<scalar_t>()); }});",
    ]


def _mutation(operator: Operator, symbol: str) -> list[str]:
    """A loop over the first tensor that is written to, and over the others as far as they broadcast to it."""
    tensors = operator.tensor_arguments
    written = next((a for a in tensors if a.is_write), tensors[0])
    read = [written, *(a for a in tensors if a is not written)]
    names = [cpp_identifier(a.name) for a in read]
    operands = ", ".join(f"&{name}" for name in [names[0], *names])
    parameters = ", ".join(f"scalar_t {name}" for name in names)
    return [
        f'  TensorIterator iter = TensorIterator::over("{operator.base_name}", {{{operands}}});',
        f'  {_macro(operator)}({names[0]}.scalar_type(), "{operator.base_name}", [&] {{',
        f"    cpu_kernel(iter, [=]({parameters}) -> scalar_t {{",
        f"      return {' + '.join(names)};  // The new value of an element of {names[0]}.",
        "    });",
        "  });",
    ]


def _shaped(operator: Operator, symbol: str) -> list[str]:
    """A loop over the first result, whose memory is contiguous unless its shape rule says otherwise."""
    first = cpp_identifier(operator.tensor_arguments[0].name)
    return [
        f"  const Tensor source = {first}.contiguous();",
        f'  {_macro(operator)}({first}.scalar_type(), "{operator.base_name}", [&] {{',
        "    const auto* in = source.const_data_ptr<scalar_t>();",
        "    auto* out = out0.data_ptr<scalar_t>();",
        "    const int64_t count = std::min(source.numel(), out0.numel());",
        "    for (int64_t i = 0; i < count; ++i) out[i] = in[i];  // What the operator computes.",
        "  });",
    ]


_LOOPS = {
    "pointwise": _pointwise,
    "reduction": _reduction,
    "mutation": _mutation,
    "shaped": _shaped,
}
