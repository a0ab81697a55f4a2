"""Convolutions by cuDNN, compared with the same ones as products of columns: differences, times, refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch_py as torch

PASSES = ("forward", "image", "weight")
# The largest difference that rounding explains, relative to the largest element.
TOLERANCES = {"float64": 1e-11, "float32": 1e-4, "TF32": 1e-2, "float16": 1e-2, "bfloat16": 5e-2}
KINDS = ("float32", "TF32", "bfloat16", "bfloat16 channels_last")


@dataclass(frozen=True)
class Geometry:
    name: str
    image: tuple[int, ...]
    weight: tuple[int, ...]
    options: dict[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] = KINDS
    is_transposed: bool = False


GEOMETRIES = (
    Geometry("3 x 3", (32, 128, 56, 56), (128, 128, 3, 3), {"padding": 1}, (*KINDS, "float16", "float64")),
    Geometry("3 x 3, stride 2", (32, 128, 56, 56), (128, 128, 3, 3), {"padding": 1, "stride": 2}),
    Geometry("depthwise", (32, 256, 56, 56), (256, 1, 3, 3), {"padding": 1, "groups": 256}),
    Geometry("depthwise 7 x 7", (32, 256, 28, 28), (256, 1, 7, 7), {"padding": 3, "groups": 256}),
    Geometry("1 x 1", (32, 256, 56, 56), (256, 256, 1, 1)),
    Geometry("1 x 1 of 7 x 7", (64, 512, 7, 7), (512, 512, 1, 1)),
    Geometry("first 7 x 7", (32, 3, 224, 224), (64, 3, 7, 7), {"padding": 3, "stride": 2}),
    Geometry("small images", (64, 256, 8, 8), (256, 256, 3, 3), {"padding": 1}),
    Geometry("groups, dilation", (8, 64, 28, 28), (64, 16, 3, 3), {"dilation": 2, "groups": 4}),
    Geometry("odd channels", (2, 5, 17, 13), (7, 5, 3, 2), {"padding": (1, 0)}, (*KINDS, "float64")),
    Geometry("one dimension", (16, 64, 4096), (64, 64, 5), {"padding": 2}, KINDS[:3]),
    Geometry("volumes", (4, 32, 16, 28, 28), (32, 32, 3, 3, 3), {"padding": 1}, KINDS[:3]),
    Geometry("transposed", (16, 64, 28, 28), (64, 32, 4, 4), {"padding": 1, "stride": 2}, is_transposed=True),
)


def check(geometries: tuple[Geometry, ...] = GEOMETRIES) -> str:
    """Prints a line for each geometry and kind of numbers. Returns what cuDNN refused; raises
    AssertionError if a difference is too large."""
    cudnn = torch.backends.cudnn
    print(f"cuDNN {cudnn.version()}; each pass: difference, µs by cuDNN/by its fastest engine/by columns")
    failed = []
    for geometry in geometries:
        for kind in geometry.kinds:
            line = f"  {geometry.name}, {kind}:"
            for name, difference, times in _compared(geometry, kind):
                line += f"  {name} {difference:.0e} " + "/".join(f"{time:.0f}" for time in times)
                if not difference <= TOLERANCES[kind.split()[0]]:
                    failed.append(f"{geometry.name}, {kind}, {name}")
            print(line, flush=True)

    text = "\n".join(f"  {problem}: {why}" for problem, why in cudnn._refused())
    assert not failed, f"wrong: {'; '.join(failed)}; refused:\n{text}"
    return f"refused:\n{text}"


def _compared(geometry: Geometry, kind: str) -> Iterator[tuple[str, float, list[float]]]:
    calls = _calls(geometry, kind)
    for name in PASSES:
        results, times = [], []
        for enabled, benchmark in ((True, False), (True, True), (False, False)):
            with torch.backends.cudnn.flags(enabled, benchmark, allow_tf32=kind == "TF32"):
                results.append(calls[name]().double())
                times.append(_microseconds(calls[name]))
        scale = results[2].abs().max()
        difference = max((result - results[2]).abs().max() / scale for result in results[:2])
        yield name, difference.item(), times


def _calls(geometry: Geometry, kind: str) -> dict[str, Callable[[], Any]]:
    """The passes of a convolution, by their names."""
    dtype = getattr(torch, "float32" if kind == "TF32" else kind.split()[0])
    last = {"memory_format": torch.channels_last} if "channels_last" in kind else {}
    image, weight = (
        torch.randn(*sizes, device="cuda").to(dtype=dtype, **last)
        for sizes in (geometry.image, geometry.weight)
    )
    spatial = len(geometry.image) - 2
    function = getattr(
        torch.nn.functional, f"conv_transpose{spatial}d" if geometry.is_transposed else f"conv{spatial}d"
    )

    def gradient(of: Any, other: Any) -> Callable[[], Any]:
        of = of.detach().requires_grad_()
        arguments = (of, other) if other is weight else (other, of)
        result = function(*arguments, **geometry.options)
        grad = torch.randn(*result.shape, device="cuda").to(dtype=dtype, **last)
        return lambda: torch.autograd.grad(result, of, grad, retain_graph=True)[0]

    return {
        "forward": lambda: function(image, weight, **geometry.options),
        "image": gradient(image, weight),
        "weight": gradient(weight, image),
    }


def _microseconds(call: Callable[[], Any], rounds: int = 4, count: int = 5) -> float:
    """On the device: the mean of a few calls, in the quickest of a few rounds."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(rounds):
        begin.record()
        for _ in range(count):
            call()
        end.record()
        end.synchronize()
        times.append(float(begin.elapsed_time(end)) * 1000 / count)
    return min(times)
