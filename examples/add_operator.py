"""Adds an operator that PyTorch does not have: one entry in a YAML file, built outside of torch_py's tree."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch_py as torch
from torch_py.autograd import gradcheck, gradgradcheck
from torch_py.utils.cpp_extension import build_operators

DECLARATION = """\
library: softcap_ops

topics:
  Softcap:
    - func: softcap(Tensor self, float cap) -> Tensor
      variants: function, method
      structure: pointwise
      dtypes: floating_and_reduced
      expr: cap * tanh(self / cap)
      doc: |
        Bounds ``self`` smoothly: close to ``self`` near zero, never beyond ``-cap`` and ``cap``.
"""
T = TypeVar("T")


def timed(what: str, step: Callable[[], T]) -> T:
    """Runs `step` and prints how long it took."""
    started = time.perf_counter()
    result = step()
    print(f"   {time.perf_counter() - started:7.3f} s  {what}", flush=True)
    return result


def run(output: Path) -> None:
    print(
        "\n2. A new operator: softcap(x, cap) = cap * tanh(x / cap). This declaration is all that one "
        "writes:\n"
    )
    print("".join(f"       {line}\n" for line in DECLARATION.splitlines()))
    path = output / "softcap" / "softcap.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    timed("wrote the entry", lambda: path.write_text(DECLARATION))
    print(
        "            compiling it for every instruction set: seconds with a filled ccache, else about half "
        "a minute",
        flush=True,
    )
    softcap = timed("generated, compiled and imported it", lambda: build_operators(path)).softcap

    x = torch.linspace(-60, 60, 7)
    print(
        f"            softcap({x.tolist()}, 30.0) = "
        f"{[round(value, 2) for value in timed('called it', lambda: softcap(x, 30.0)).tolist()]}"
    )
    timed("differentiated it twice", lambda: differentiate_twice(softcap))
    small = torch.linspace(-3, 3, 9, dtype=torch.float64).requires_grad_()
    timed(
        "compared the first derivative with finite differences",
        lambda: gradcheck(lambda x: softcap(x, 2.0), small),
    )
    timed(
        "compared the second derivative with finite differences",
        lambda: gradgradcheck(lambda x: softcap(x, 2.0), small),
    )
    compare_with_composition(softcap)


def differentiate_twice(softcap: Callable[..., torch.Tensor]) -> None:
    """Compares both derivatives with 1 - tanh(x / c)² and -2 tanh(x / c) (1 - tanh(x / c)²) / c."""
    x = torch.tensor([-1.0, 0.5, 4.0], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(softcap(x, 2.0).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    tanh = (x.detach() / 2).tanh()
    torch.testing.assert_close(first.detach(), 1 - tanh**2)
    torch.testing.assert_close(second, -tanh * (1 - tanh**2))


def compare_with_composition(softcap: Callable[..., torch.Tensor], count: int = 1_000_000) -> None:
    """One loop against three operators one after another, forward and backward."""
    x = torch.randn(count, requires_grad=True)

    def seconds(function: Callable[[], torch.Tensor]) -> tuple[float, float]:
        started = time.perf_counter()
        result = function()
        middle = time.perf_counter()
        result.backward(torch.ones_like(result))
        return middle - started, time.perf_counter() - middle

    # By turns, and the shortest of each: other programs on the machine lengthen single runs.
    runs = [
        (*seconds(lambda: softcap(x, 30.0)), *seconds(lambda: 30.0 * torch.tanh(x / 30.0))) for _ in range(30)
    ]
    forward, backward, forward_composed, backward_composed = (1e3 * min(times) for times in zip(*runs))
    print(
        f"   forward over {count:,} numbers: {forward:.2f} ms; as three operators: {forward_composed:.2f} ms"
    )
    print(f"   backward: {backward:.2f} ms; as three operators: {backward_composed:.2f} ms", end="")
    print(" (softcap computes it from its result)")


if __name__ == "__main__":
    raise SystemExit("a part of the demo: python examples/demo.py --part operator")
