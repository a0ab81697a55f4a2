"""Graph modules as scripts that run by themselves, with inputs of the same kinds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py._tensor import Tensor
from torch_py.fx._folder import import_statements, wrap_statements
from torch_py.fx.graph_module import GraphModule

_LARGEST_LITERAL = 256  # elements

_MAIN = """
if __name__ == "__main__":
    torch.manual_seed(0)
    print(Graph()(*inputs()))
"""


def script(
    module: GraphModule,
    inputs: Sequence[Any],
    main: str = _MAIN,
    imports: Sequence[str] = (),
    is_traced: bool = False,
) -> str:
    """A program with the class ``Graph``, and ``inputs()``, which makes arguments for it.

    Tensors get the sizes, strides and dtypes of `inputs`, and random values between the smallest and largest
    of theirs; what fake tensors contain is not known. `main` is what the program does, and `imports` are
    further statements at its beginning. With `is_traced`, `symbolic_trace(Graph())` gives the graph again.
    Raises RuntimeError for functions that no statement imports.
    """
    code = module.graph.python_code(root_module="self")
    known = ["import torch_py as torch", "from torch_py.fx._script import strided"]
    found = dict.fromkeys([*known, *import_statements(code.globals), *imports])
    body = [f"    {line}".rstrip() for line in code.src.strip().split("\n")]

    lines = [
        *found,
        *(wrap_statements(code.globals) if is_traced else ()),
        "",
        "",
        "class Graph(torch.nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        *(f"        {line}" for line in _attributes(module)),
        "",
        *body,
        "",
        "",
        "def inputs():",
        "    return [",
        *(f"        {_argument(value)}," for value in inputs),
        "    ]",
        "",
        main,
    ]
    return "\n".join(lines)


def _attributes(module: GraphModule) -> list[str]:
    """The statements that make the tensors and layers that the graph reads."""
    lines = []
    for node in module.graph.nodes:
        if node.op not in ("get_attr", "call_module"):
            continue
        value: Any = module
        for name in str(node.target).split("."):
            value = getattr(value, name)
        text = _argument(value, is_exact=True) if isinstance(value, Tensor) else repr(value)
        if not isinstance(value, Tensor):
            text = f"torch.nn.{text}" if type(value).__module__.startswith("torch_py.nn.") else text
        lines.append(f"self.{node.target} = {text}" if "." not in str(node.target) else _nested(node, text))
    return list(dict.fromkeys(lines))


def _nested(node: Any, text: str) -> str:
    owner, _, name = str(node.target).rpartition(".")
    parts = owner.split(".")
    made = [f"self.{'.'.join(parts[: n + 1])}" for n in range(len(parts))]
    steps = [
        f"{path} = getattr({path.rpartition('.')[0]}, {path.rpartition('.')[2]!r}, None)" for path in made
    ]
    steps = [f"{step} or torch.nn.Module()" for step in steps]
    return "; ".join([*steps, f"self.{owner}.{name} = {text}"])


def _argument(value: Any, is_exact: bool = False) -> str:
    """An expression that makes a value like this one."""
    if not isinstance(value, Tensor):
        return repr(value)

    given = value.detach()
    if is_exact and type(value) is not FakeTensor and value.numel() <= _LARGEST_LITERAL:
        return f"torch.tensor({given.tolist()!r}, dtype={value.dtype}, device={str(value.device)!r})"
    words = [repr(tuple(value.shape)), repr(value.stride()), str(value.dtype)]
    if str(value.device) != "cpu":
        words.append(f"device={str(value.device)!r}")
    words += [f"{name}={number!r}" for name, number in _range_of(given).items()]
    if value.requires_grad:
        words.append("requires_grad=True")
    return f"strided({', '.join(words)})"


def _range_of(tensor: Any) -> dict[str, Any]:
    """The smallest and the largest element; nothing if they are not numbers, or not known."""
    dtype = tensor.dtype
    if type(tensor) is FakeTensor or tensor.numel() == 0 or dtype.is_complex or dtype == _C.bool:
        return {}
    numbers = {"low": tensor.min().item(), "high": tensor.max().item()}
    return numbers if all(map(math.isfinite, numbers.values())) else {}


def strided(
    sizes: Sequence[int],
    strides: Sequence[int],
    dtype: Any,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
) -> Any:
    """A tensor of these sizes and strides with random elements, from `low` to `high`.

    Without bounds, real numbers are normally distributed, and integers are 0 or 1.
    """
    count = 0 if 0 in sizes else 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    row = _random(count, dtype, device, low, high)
    return row.as_strided(sizes, strides).requires_grad_(requires_grad)


def _random(count: int, dtype: Any, device: Any, low: float | None, high: float | None) -> Any:
    functions: Any = _C._torch
    if not (dtype.is_floating_point or dtype.is_complex):
        bounds = (0, 2) if low is None or high is None else (int(low), int(high) + 1)
        return functions.randint(*bounds, (count,), device=device).to(dtype)
    wide = dtype if dtype.is_complex else _C.float64
    if low is None or high is None:
        return functions.randn((count,), dtype=wide, device=device).to(dtype)
    return (functions.rand((count,), dtype=wide, device=device) * (high - low) + low).to(dtype)
