"""The first minute on a GPU: one step after another, each of which prints what it finds.

A step that fails is printed with its traceback, and the next one runs all the same.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import torch_py as torch
from tools.device import convolutions


def devices() -> str:
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    assert names, "no device"
    return f"{names}, {torch.cuda.get_device_properties(0)}"


def memory() -> str:
    x = torch.empty(1 << 28, device="cuda")
    del x
    return f"{torch.cuda.memory_allocated()} of {torch.cuda.memory_reserved()} bytes in use"


def copies() -> str:
    x = torch.arange(1000.0)
    assert torch.equal(x.cuda().cpu(), x)
    return "to the device and back"


def formula() -> str:
    x = torch.linspace(-3, 3, 100_003)
    difference = (torch.sigmoid(x.cuda()).cpu() - torch.sigmoid(x)).abs().max().item()
    assert difference < 1e-6, difference
    return f"sigmoid differs by {difference:.1e}"


def reduction() -> str:
    x = torch.arange(1_000_003.0, dtype=torch.float64)
    assert x.cuda().sum().item() == x.sum().item()
    return "sum of a million"


def strided() -> str:
    x = torch.arange(60.0).view(3, 4, 5)
    assert torch.equal((x.cuda().transpose(0, 2) + 1).cpu(), x.transpose(0, 2) + 1)
    return "a transposed operand"


def random() -> str:
    torch.cuda.manual_seed(1)
    x = torch.randn(1_000_000, device="cuda")
    assert abs(x.mean().item()) < 0.01 and abs(x.std().item() - 1) < 0.01
    return f"mean {x.mean().item():.4f}, deviation {x.std().item():.4f}"


def gradients() -> str:
    x = torch.linspace(-2, 2, 1001)
    ours = x.cuda().requires_grad_()
    torch.softmax(ours * ours, 0).log().sum().backward()
    theirs = x.clone().requires_grad_()
    torch.softmax(theirs * theirs, 0).log().sum().backward()
    torch.testing.assert_close(ours.grad.cpu(), theirs.grad)
    return "through softmax and log"


def report() -> str:
    x = torch.arange(5.0, device="cuda")
    try:
        x.index_select(0, torch.tensor([7], device="cuda")).cpu()
    except IndexError as error:
        torch.ones(3, device="cuda").sum().item()  # the device is still of use
        return str(error)
    raise AssertionError("an index that is out of range was accepted")


def scan_and_sort() -> str:
    x = torch.randn(200_000)
    torch.testing.assert_close(x.double().cuda().cumsum(0).cpu(), x.double().cumsum(0))
    assert torch.equal(x.cuda().sort().values.cpu(), x.sort().values)
    assert torch.equal(x.cuda().topk(17).values.cpu(), x.topk(17).values)
    return "cumsum, sort, topk"


def graph() -> str:
    x = torch.zeros(4, device="cuda")
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        x += 1
    recorded.replay()
    recorded.replay()
    assert x.tolist() == [2.0] * 4, x
    return "recorded and replayed"


def streams() -> str:
    other = torch.cuda.Stream()
    x = torch.ones(1 << 24, device="cuda")
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):
        y = x * 2
    torch.cuda.current_stream().wait_stream(other)
    assert y.sum().item() == 2 << 24
    return "two of them"


def convolutions_by_cudnn() -> str:
    return convolutions.check()


STEPS: tuple[Callable[[], str], ...] = (
    devices,
    memory,
    copies,
    formula,
    reduction,
    strided,
    random,
    gradients,
    report,
    scan_and_sort,
    graph,
    streams,
    convolutions_by_cudnn,
)


def main() -> int:
    failed = 0
    for step in STEPS:
        started = time.perf_counter()
        said: Any
        try:
            said = step()
        except Exception:
            failed += 1
            said = "FAILED\n" + traceback.format_exc()
        print(f"{step.__name__} ({time.perf_counter() - started:.2f} s): {said}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
