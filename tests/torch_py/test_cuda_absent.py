"""`torch.cuda` without a CUDA library or a GPU: questions are answered, requests are refused in words."""

from __future__ import annotations

import importlib.util
import inspect
import os
import subprocess
import sys
import warnings

import pytest

from tests.subject import HAS_CUDA_LIBRARY, only_torch_py, torch
from tests.torch_py.outcomes import outcome

# With a CUDA library the errors are the driver's.
pytestmark = pytest.mark.skipif(
    torch.cuda.is_available() or HAS_CUDA_LIBRARY, reason="there is a GPU, or `make cuda` was run"
)

AGREEING = {
    "available": lambda t: t.cuda.is_available(),
    "count": lambda t: t.cuda.device_count(),
    "initialized": lambda t: t.cuda.is_initialized(),
    "init": lambda t: t.cuda.init(),
    "lazy init": lambda t: t.cuda._lazy_init(),
    "current device": lambda t: t.cuda.current_device(),
    "no device": lambda t: t.cuda.set_device(-1),
    "device of": lambda t: t.cuda.device_of(t.ones(1)).__enter__(),
    "name": lambda t: t.cuda.get_device_name(),
    "name of 0": lambda t: t.cuda.get_device_name(0),
    "capability": lambda t: t.cuda.get_device_capability(),
    "properties": lambda t: t.cuda.get_device_properties(0),
    "peer": lambda t: t.cuda.can_device_access_peer(0, 1),
    "stream": lambda t: t.cuda.Stream(),
    "event": lambda t: t.cuda.Event(),
    "current stream": lambda t: t.cuda.current_stream(),
    "default stream": lambda t: t.cuda.default_stream(),
    "no stream": lambda t: t.cuda.set_stream(None),
    "no stream block": lambda t: t.cuda.stream(None).__enter__(),
    "synchronize": lambda t: t.cuda.synchronize(),
    "graph": lambda t: t.cuda.CUDAGraph(),
    "statistics": lambda t: dict(t.cuda.memory_stats()),
    "allocated": lambda t: t.cuda.memory_allocated(),
    "most allocated": lambda t: t.cuda.max_memory_allocated(),
    "reserved": lambda t: t.cuda.memory_reserved(),
    "cached": lambda t: t.cuda.memory_cached(),
    "free memory": lambda t: t.cuda.mem_get_info(),
    "empty cache": lambda t: t.cuda.empty_cache(),
    "fraction": lambda t: t.cuda.set_per_process_memory_fraction(0.5),
    "raw memory": lambda t: t.cuda.caching_allocator_alloc(1),
    "host statistics": lambda t: dict(t.cuda.host_memory_stats()),
    "pluggable allocator": lambda t: t.cuda.CUDAPluggableAllocator("/no/such", "a", "b"),
    "random state": lambda t: t.cuda.get_rng_state(),
    "random states": lambda t: t.cuda.get_rng_state_all(),
    "set random states": lambda t: t.cuda.set_rng_state_all([]),
    "set random state": lambda t: t.cuda.set_rng_state(t.zeros(16, dtype=t.uint8)),
    "seed": lambda t: t.cuda.seed(),
    "seed all": lambda t: t.cuda.seed_all(),
    "manual seed": lambda t: t.cuda.manual_seed(1),
    "manual seed all": lambda t: t.cuda.manual_seed_all(1),
    "initial seed": lambda t: t.cuda.initial_seed(),
    "generators": lambda t: t.cuda.default_generators,
    "generator": lambda t: t.Generator("cuda"),
    "architectures": lambda t: t.cuda.get_arch_list(),
    "flags": lambda t: t.cuda.get_gencode_flags(),
    "bfloat16": lambda t: t.cuda.is_bf16_supported(),
    "tf32": lambda t: t.cuda.is_tf32_supported(),
    "temperature": lambda t: t.cuda.temperature(),
    "utilization": lambda t: t.cuda.utilization(),
    "sync mode": lambda t: t.cuda.get_sync_debug_mode(),
    "cudart": lambda t: t.cuda.cudart(),
    "blas": lambda t: t.cuda.current_blas_handle(),
    "mark": lambda t: t.cuda.nvtx.mark("a"),
    "tensor": lambda t: t.ones(1, device="cuda"),
    "tensor.cuda": lambda t: t.ones(1).cuda(),
    "tensor.to": lambda t: t.ones(1).to("cuda:0"),
    "tensor.to(0)": lambda t: t.ones(1).to(0),
    "device(0)": lambda t: t.device(0),
    "module": lambda t: t.nn.Linear(1, 1).cuda(),
    "pin_memory": lambda t: t.ones(1).pin_memory(),
    "pinned": lambda t: t.ones(1, pin_memory=True),
    "is_pinned": lambda t: t.ones(1).is_pinned(),
    "array interface": lambda t: t.ones(1).__cuda_array_interface__,
    "record_stream": lambda t: t.ones(1).record_stream(t.Stream()),
    "old type": lambda t: t.cuda.FloatTensor(2),
    "generic stream": lambda t: t.Stream("cuda"),
    "generic event": lambda t: t.Event("cuda"),
    "accelerator": lambda t: t.accelerator.current_accelerator(),
    "accelerator's device": lambda t: t.accelerator.current_device_index(),
    "accelerator's stream": lambda t: t.accelerator.current_stream(),
    "accelerator's wait": lambda t: t.accelerator.synchronize(),
    "version": lambda t: t.version.cuda,
    "built": lambda t: t.backends.cuda.is_built(),
}


@pytest.mark.parametrize("call", AGREEING.values(), ids=AGREEING)
def test_absence_agrees_with_pytorch(call):
    peer = pytest.importorskip("torch")
    if peer.cuda.is_available() or peer.version.cuda is not None:
        pytest.skip("the installed PyTorch has CUDA")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = outcome(call, torch), outcome(call, peer)
    if isinstance(expected, type) and isinstance(found, type):
        assert issubclass(found, expected), (found, expected)
    else:
        assert found == expected


def test_every_public_name_is_there_with_pytorchs_parameters():
    peer = pytest.importorskip("torch")
    differing = []
    for name in dir(peer.cuda):
        original = getattr(peer.cuda, name)
        of_package = getattr(original, "__module__", None) or ""
        if name.startswith("_") or inspect.ismodule(original) or not of_package.startswith("torch.cuda"):
            continue

        assert hasattr(torch.cuda, name), name
        if not inspect.isfunction(original):
            continue
        theirs = list(inspect.signature(original).parameters)
        ours = list(inspect.signature(getattr(torch.cuda, name)).parameters)
        if theirs != ours:
            differing.append((name, theirs, ours))
    assert not differing


@only_torch_py
def test_errors_say_what_is_missing():
    with pytest.raises(AssertionError, match=r"no CUDA library was found.*make cuda"):
        torch.cuda.current_device()
    with pytest.raises(AssertionError, match="no CUDA library was found"):
        torch.ones(1, device="cuda")
    with pytest.raises(RuntimeError, match="no CUDA library was found"):
        torch.cuda.Stream()


@only_torch_py
@pytest.mark.parametrize(("content", "words"), [(None, "cannot be opened"), (b"text", "cannot be opened")])
def test_a_library_that_cannot_be_opened_is_explained(tmp_path, content, words):
    library = tmp_path / "library.so"
    if content is not None:
        library.write_bytes(content)
    program = """
import torch_py as torch
assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
for use in (torch.cuda.current_device, lambda: torch.ones(1, device="cuda")):
    try:
        use()
    except AssertionError as error:
        print(error)
"""

    surroundings = {**os.environ, "TORCH_PY_CUDA_LIBRARY": str(library)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=surroundings, capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and all(words in line and str(library) in line for line in lines)


@only_torch_py
def test_a_library_that_is_no_backend_is_opened_once():
    program = """
import os, threading
os.environ["TORCH_PY_CUDA_LIBRARY"] = os.path.abspath(LIBRARY)
import torch_py as torch
from torch_py import _C
from torch_py.cuda import _load

opened = []
def record(path, original=_C._open_backend):
    opened.append(path)
    return original(path)
_C._open_backend = record
threads = [threading.Thread(target=torch.cuda.device_count) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not torch.cuda.is_available() and len(opened) == 1, len(opened)
assert "is not a CUDA library of torch_py" in _load.reason(), _load.reason()
"""
    library = importlib.util.find_spec("torch_py._C").origin  # a library, and in the process already
    program = f"LIBRARY = {library!r}\n" + program
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@only_torch_py
def test_import_does_not_look_for_the_library():
    program = """
import sys
import torch_py as torch
torch.ones(2).add(1).tolist(), torch.manual_seed(3), torch.ones(2).is_pinned()
torch.from_dlpack(torch.ones(2))
assert "torch_py.cuda._load" not in sys.modules and "torch_py.cuda" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@only_torch_py
def test_waiting_seeds_do_not_pile_up():
    torch.cuda.is_available()
    from torch_py.cuda import _init

    for seed in range(3):
        torch.cuda.manual_seed(seed)
    assert not _init._waiting
