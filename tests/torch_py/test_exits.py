"""Ends of processes: nothing crashes, waits, speaks up or stays behind, whatever is alive.

TORCH_PY_EXITS is the number of times that each program runs (1).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.subject import only_torch_py

pytestmark = only_torch_py

_TIMES = int(os.environ.get("TORCH_PY_EXITS", "1"))

_LEAF = "x = T.ones(3, requires_grad=True)\n"

_THREADS = """
import threading, time
def start(work, count=2):
    started = []
    def run():
        started.append(0)
        while True: work()
    for _ in range(count): threading.Thread(target=run, daemon=True).start()
    while len(started) < count: time.sleep(0.001)
    time.sleep(0.03)
large = T.ones(300, 300)
"""

_FUNCTION = """
class Double(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.twice = x * 2
        return sum([ctx.twice for _ in range(100)], x)
    @staticmethod
    def backward(ctx, g):
        return sum([g * i for i in range(100)], ctx.saved_tensors[0])
"""

PROGRAMS = {
    "graph": _LEAF + "y = (x * x).exp()",
    "graph in a cycle": _LEAF + "y = (x * x).exp(); y.own = y; x.result = y; z = y.view(3); z.base = [z, y]",
    "capsule": "capsule = T.ones(3).__dlpack__(); other = T.ones(3).__dlpack__(max_version=(1, 0))",
    "exports": "import numpy; t = T.ones(3); a = t.numpy(); m = memoryview(t); f = T.from_numpy(a)",
    "hooks": _LEAF
    + "x.register_hook(lambda g: g); y = x.exp(); y.register_hook(lambda g: g); y.sum().backward()",
    "custom function": _LEAF + _FUNCTION + "y = Double.apply(x); z = y.exp(); y.z = z",
    "saved tensor hooks": _LEAF
    + "with T.autograd.graph.saved_tensors_hooks(lambda t: [t], lambda l: l[0]): y = (x * x).exp()",
    "subclass": "class S(T.Tensor): pass\ns = S(T.ones(3)).requires_grad_(); y = s * s; s.y = y",
    "module": "net = T.nn.Linear(3, 3); loss = net(T.ones(2, 3)).sum(); net.loss = loss",
    "error": _LEAF + "y = x.exp()\ntry: T.ones(2) + T.ones(3)\nexcept RuntimeError as error: kept = error",
    "daemons in operators": _THREADS + "start(lambda: (large @ large).relu().sum())",
    "daemons in small operators": _THREADS + "small = T.ones(3); start(lambda: small + small)",
    "daemons in backward": _THREADS
    + "w = T.ones(300, 300, requires_grad=True); start(lambda: (w @ large).sum().backward())",
    "daemons in Python": _THREADS
    + _FUNCTION
    + "w = T.ones(99, 99, requires_grad=True); start(lambda: Double.apply(w).sum().backward())",
    "daemons in hooks": _THREADS
    + "w = T.ones(300, 300, requires_grad=True); w.register_hook(lambda g: sum([g] * 9))\n"
    + "start(lambda: (w @ large).sum().backward())",
    "loader": "from torch_py.utils.data import DataLoader\n"
    "batches = iter(DataLoader(T.arange(40), batch_size=4, num_workers=2)); first = next(batches)",
    "exit in a thread": _THREADS + "start(lambda: large @ large); import os; sys.exit(0)",
}


def _run(program: str, **more: Any) -> subprocess.CompletedProcess[str]:
    # Freed memory is overwritten, so that a use of it has consequences.
    environment = {
        **os.environ,
        "PYTHONMALLOC": "malloc",
        "MALLOC_PERTURB_": "165",
        "TORCH_PY_NUM_THREADS": "2",
    }
    environment.update(more.pop("environment", {}))
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", "import sys\nimport torch_py as T\n" + program],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        **more,
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_exit(name: str) -> None:
    for _ in range(_TIMES):
        done = _run(PROGRAMS[name])
        assert done.returncode == 0 and done.stderr == ""


def test_objects_of_a_graph_die_with_it() -> None:
    # `last` goes after the module that has the graph: whatever the collector still knows must be whole.
    program = (
        _LEAF
        + """
import builtins
class_of_last = '''
import gc, os
class Last:
    def __del__(self, objects=gc.get_objects, kind=kind, write=os.write, type=type, len=len, str=str):
        write(1, str(len([each for each in objects() if type(each) is kind])).encode())
'''
space = {"kind": T.Tensor}
exec(class_of_last, space)
builtins.last = space["Last"]()
del space
y = (x * x).exp()
"""
    )

    done = _run(program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0", "")


# --- Threads that the system refuses ---

_PARALLEL = """
x = T.ones(7_000_000)
assert (x + 1).sum() == 14_000_000
y = T.ones(500, 500)
assert (y @ y).sum() == 500 ** 3
assert T.linalg.svd(y[:100, :100]).S[0] > 99
print("right")
"""


def test_fewer_threads_than_asked_for() -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    done = _run(_PARALLEL, environment={"TORCH_PY_NUM_THREADS": "200"}, preexec_fn=limit)
    assert done.returncode == 0 and done.stdout == "right\n"
    assert done.stderr.count("UserWarning: parallel_for: the system allows") == 1
    assert "of 200 threads" in done.stderr


# --- Nothing stays behind ---


def _shared_memory() -> set[str]:
    return {each.name for each in Path("/dev/shm").iterdir()} if Path("/dev/shm").is_dir() else set()


_KILLED_WORKERS = """
import os, signal, time
import torch_py.multiprocessing as mp
from torch_py.utils.data import DataLoader
class Data(T.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, i): return T.ones(1000) * i
def descriptors(): return len(os.listdir("/proc/self/fd"))
def passes():
    for signal_number in (signal.SIGKILL, signal.SIGTERM):
        batches = iter(DataLoader(Data(), batch_size=4, num_workers=2))
        kept = next(batches)
        for worker in mp.active_children(): os.kill(worker.pid, signal_number)
        try:
            for batch in batches: pass
        except RuntimeError as error:
            assert "exited unexpectedly" in str(error) or "killed" in str(error), error
        del batches
    shared = T.ones(1000).share_memory_()
passes()
before = descriptors()
for _ in range(3): passes()
print(descriptors() - before)
"""


def test_killed_workers_leave_nothing() -> None:
    before = _shared_memory()
    done = _run(_KILLED_WORKERS)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert _shared_memory() <= before


def test_repeated_graphs_keep_memory_constant() -> None:
    program = """
def work():
    for _ in range(300):
        x = T.ones(1000, requires_grad=True)
        y = (x * x).exp(); y.own = y; y.leaf = x
        memoryview(T.ones(1000)); T.from_dlpack(T.ones(1000)); T.ones(1000).__dlpack__()
import gc
def resident():
    gc.collect()
    with open("/proc/self/statm") as file: return int(file.read().split()[1]) * 4096
for _ in range(3): work()
before = resident()
for _ in range(10): work()
print(resident() - before)
"""

    done = _run(program)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 4 << 20  # 3,000 rounds of at least 12 kB
