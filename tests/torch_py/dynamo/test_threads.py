"""Compiled functions that call each other, and several threads."""

import os
import signal
import threading
import time

import pytest

import torch_py as torch
from torch_py._dynamo.testing import CompileCounter


def test_threads_share_compiled_code():
    compiled = torch.compile(lambda x, n: (x * n).sum(), backend="eager")
    right = []

    def work(i):
        for n in range(5):
            right.append(compiled(torch.ones(3 + i), n).item() == n * (3 + i))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(right) == 30 and all(right)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_fork_while_another_thread_compiles():
    """The child compiles on its own, and sees nothing of what the capture wrote to objects meanwhile."""
    state = {"n": 0}
    has_begun = threading.Event()

    def backend(module, inputs):
        has_begun.set()
        time.sleep(0.2)
        return module.forward

    def function(x):
        state["n"] += 1
        return x + state["n"]

    other = threading.Thread(target=torch.compile(function, backend=backend), args=(torch.ones(2),))
    other.start()
    has_begun.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        result = torch.compile(lambda x: x * 3, backend="eager")(torch.ones(2))
        os._exit(0 if result.tolist() == [3, 3] and state["n"] in (0, 1) else 1)

    other.join()
    assert os.waitpid(child, 0)[1] == 0
    assert state["n"] == 1


def test_compiled_functions_and_modules_inside_of_others():
    counter = CompileCounter()
    doubled = torch.compile(lambda x: x * 2, backend="eager")
    module = torch.compile(torch.nn.Linear(3, 3), backend="eager")
    compiled = torch.compile(lambda x: module(doubled(x) + 1), backend=counter, fullgraph=True)
    x = torch.ones(2, 3)
    assert torch.equal(compiled(x), module._orig_mod(x * 2 + 1)) and counter.frame_count == 1


def test_generators_and_iterators_from_outside():
    def numbers(n):
        for i in range(n):
            yield torch.ones(2) * i

    assert [t.sum().item() for t in torch.compile(numbers, backend="eager")(3)] == [0, 2, 4]
    compiled = torch.compile(lambda x, items: x * next(items), backend="eager")
    items = iter([1, 2, 3])
    assert [compiled(torch.ones(1), items).item() for _ in range(3)] == [1, 2, 3]
