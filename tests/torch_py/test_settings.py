"""Default device and dtype, deterministic mode, threads, generator states and swap_tensors."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest

import torch_py as torch

META, CPU = torch.device("meta"), torch.device("cpu")
FACTORIES = [
    lambda: torch.empty(2),
    lambda: torch.zeros(2),
    lambda: torch.ones(2),
    lambda: torch.full((2,), 1.0),
    lambda: torch.arange(3),
    lambda: torch.eye(2),
    lambda: torch.linspace(0, 1, 3),
    lambda: torch.logspace(0, 1, 3),
    lambda: torch.rand(2),
    lambda: torch.randn(2),
    lambda: torch.randint(3, (2,)),
    lambda: torch.randperm(4),
    lambda: torch.scalar_tensor(1.0),
    lambda: torch.tril_indices(2, 2),
    lambda: torch.hann_window(4),
    lambda: torch.fft.fftfreq(3),
    lambda: torch.empty_strided((2,), (1,)),
    lambda: torch.tensor([1, 2]),
    lambda: torch.as_tensor([1, 2]),
    lambda: torch.asarray([1, 2]),
    lambda: torch.as_tensor(torch.ones(2, device="cpu")),
    lambda: torch.nn.Linear(2, 2).weight,
]


@pytest.mark.parametrize("make", FACTORIES)
def test_factories_follow_the_default_device(make):
    assert make().device == CPU
    with META as entered:
        assert entered == META
        assert make().device == META
    assert make().device == CPU


def test_what_the_default_device_leaves_alone():
    x = torch.ones(2)
    with META:
        assert torch.ones_like(x).device == CPU
        assert x.new_zeros(2).device == CPU
        assert torch.empty(2, device="cpu").device == CPU
        assert torch.FloatTensor(2).device == CPU
        assert torch.from_numpy(np.ones(2)).device == CPU
        assert copy.deepcopy(x).tolist() == [1, 1]
        assert torch.Generator().device == CPU
        assert pickle.loads(pickle.dumps(x)).tolist() == [1, 1]


def test_nested_blocks_and_set_default_device():
    torch.set_default_device("meta")
    try:
        assert torch.get_default_device() == META
        with CPU:
            assert torch.ones(1).device == CPU
            torch.set_default_device(META)  # the last choice counts
            assert torch.ones(1).device == META
        assert torch.ones(1).device == META
    finally:
        torch.set_default_device(None)

    assert torch.get_default_device() == CPU
    with pytest.raises(KeyError), META:
        raise KeyError
    assert torch.ones(1).device == CPU


def test_default_device_is_of_the_thread():
    found = []
    with META:
        thread = threading.Thread(target=lambda: found.append(torch.ones(1).device))
        thread.start()
        thread.join()
    assert found == [CPU]


def test_out_on_another_device_is_refused():
    with META, pytest.raises(RuntimeError, match="device type"):
        torch.zeros(2, out=torch.empty(2, device="cpu"))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: torch.set_default_device(3.5), TypeError, "float"),
        (lambda: torch.set_default_device("foo"), RuntimeError, "foo"),
        (lambda: torch.device(""), RuntimeError, "empty"),
        (lambda: torch.device(1), RuntimeError, "none is available"),
        (lambda: torch.device(-1), RuntimeError, "negative"),
        (lambda: torch.set_default_tensor_type("torch.IntTensor"), TypeError, "floating-point"),
        (lambda: torch.set_default_tensor_type(3), TypeError, "3"),
        (lambda: torch.set_default_tensor_type(torch.Tensor), TypeError, "Tensor"),
        (lambda: torch.set_default_tensor_type("torch.cuda.FloatTensor"), TypeError, "CUDA"),
        (lambda: torch.use_deterministic_algorithms(1), TypeError, "must be bool, not int"),
        (lambda: torch.use_deterministic_algorithms(True, True), TypeError, "positional"),
        (lambda: torch.set_deterministic_debug_mode(3), RuntimeError, "0, 1, or 2, but got 3"),
        (lambda: torch.set_deterministic_debug_mode("x"), RuntimeError, "but got x"),
        (lambda: torch.set_deterministic_debug_mode(None), TypeError, "NoneType"),
        (lambda: torch.set_num_interop_threads(0), RuntimeError, "positive"),
        (lambda: torch.set_num_interop_threads("a"), RuntimeError, "str"),
        (lambda: torch.set_flush_denormal(1), RuntimeError, "bool, but got int"),
        (lambda: torch.set_warn_always(1), RuntimeError, "int"),
        (lambda: torch.set_float32_matmul_precision(3), RuntimeError, "int"),
        (lambda: torch.get_device_module(3.5), RuntimeError, "3.5"),
        (lambda: torch.Generator().get_offset(), RuntimeError, "does not use offset"),
        (lambda: torch.Generator().set_offset(1), RuntimeError, "does not use offset"),
        (lambda: torch.Generator().graphsafe_get_state(), NotImplementedError, "graphsafe_get_state"),
        (
            lambda: torch.Generator().graphsafe_set_state(torch.Generator()),
            NotImplementedError,
            "graphsafe_set_state",
        ),
        (lambda: torch.Generator().graphsafe_set_state(3), TypeError, "int"),
        (
            lambda: torch.Generator().set_state(torch.zeros(5056, dtype=torch.uint8)),
            RuntimeError,
            "Invalid mt19937",
        ),
        (lambda: torch.Generator().set_state(torch.zeros(3, dtype=torch.uint8)), RuntimeError, "size 5056"),
        (lambda: torch.utils.swap_tensors(torch.ones(1), 3), TypeError, "'t2'"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "kind, dtype",
    [("torch.DoubleTensor", "float64"), ("torch.HalfTensor", "float16"), ("DoubleTensor", "float64")],
)
def test_set_default_tensor_type(kind, dtype):
    try:
        torch.set_default_tensor_type(kind if "." in kind else getattr(torch, kind))
        assert torch.tensor(1.0).dtype == getattr(torch, dtype)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.fixture
def determinism():
    yield
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True


@pytest.mark.parametrize("mode, level", [(0, 0), (1, 1), (2, 2), ("default", 0), ("warn", 1), ("error", 2)])
def test_deterministic_debug_mode(determinism, mode, level):
    torch.set_deterministic_debug_mode(mode)
    assert torch.get_deterministic_debug_mode() == level
    assert torch.are_deterministic_algorithms_enabled() is (level > 0)
    assert torch.is_deterministic_algorithms_warn_only_enabled() is (level == 1)


@pytest.mark.parametrize(
    "dtype, filler",
    [
        ("int32", 2**31 - 1),
        ("int64", 2**63 - 1),
        ("uint8", 255),
        ("int8", 127),
        ("bool", True),
        ("float32", None),
        ("float16", None),
        ("complex64", None),
    ],
)
def test_deterministic_mode_fills_new_memory(determinism, dtype, filler):
    dtype = getattr(torch, dtype)
    torch.use_deterministic_algorithms(True)
    like = torch.zeros(3, dtype=dtype)

    for made in (
        torch.empty(3, dtype=dtype),
        torch.empty_like(like),
        like.new_empty(3),
        torch.empty_strided((3,), (1,), dtype=dtype),
    ):
        assert made.isnan().all() if filler is None else (made == filler).all()

    torch.utils.deterministic.fill_uninitialized_memory = False
    assert torch.utils.deterministic.fill_uninitialized_memory is False
    with pytest.raises(RuntimeError, match="expected a bool"):
        torch.utils.deterministic.fill_uninitialized_memory = 1


def test_flush_denormal():
    if not torch.set_flush_denormal(True):
        pytest.skip("the processor has no such switch")
    assert (torch.tensor([1e-323], dtype=torch.float64) * 1).item() == 0
    torch.set_flush_denormal(False)
    assert (torch.tensor([1e-323], dtype=torch.float64) * 1).item() == 1e-323


def test_matmul_precision_ignores_unknown_names():
    before = torch.get_float32_matmul_precision()
    with pytest.warns(UserWarning, match="low"):
        torch.set_float32_matmul_precision("low")
    assert torch.get_float32_matmul_precision() == before


@pytest.mark.parametrize("draws", [0, 1, 5, 623, 624, 625, 1000])
def test_states_of_generators_are_pytorchs(draws):
    peer = pytest.importorskip("torch")
    ours = torch.Generator().manual_seed(7)
    theirs = peer.Generator().manual_seed(7)

    torch.randint(2**31, (draws,), generator=ours, dtype=torch.int32)
    peer.randint(2**31, (draws,), generator=theirs, dtype=peer.int32)

    follower = torch.Generator()
    follower.set_state(torch.from_numpy(theirs.get_state().numpy()))
    back = peer.Generator()
    back.set_state(peer.from_numpy(ours.get_state().numpy()))

    expected = peer.rand(9, generator=theirs).tolist()
    assert torch.rand(9, generator=follower).tolist() == expected
    assert peer.rand(9, generator=back).tolist() == expected
    assert follower.initial_seed() == 7


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)), lambda g: g.clone_state()],
)
def test_copies_of_generators_continue_alike(duplicate):
    generator = torch.Generator().manual_seed(3)
    torch.randn(3, generator=generator)
    other = duplicate(generator)
    assert other is not generator
    assert torch.randn(5, generator=other).tolist() == torch.randn(5, generator=generator).tolist()


def test_swap_tensors_exchanges_everything():
    a = torch.nn.Parameter(torch.ones(2))
    b = torch.zeros(3)
    b.note = "kept"
    alias = a
    torch.utils.swap_tensors(a, b)
    assert alias is a
    assert (type(a), type(b)) == (torch.Tensor, torch.nn.Parameter)
    assert a.tolist() == [0, 0, 0] and a.note == "kept" and not a.requires_grad
    assert b.tolist() == [1, 1] and b.requires_grad and not hasattr(b, "note")
    (b * 2).sum().backward()
    assert b.grad.tolist() == [2, 2]


def test_swap_tensors_refuses_what_would_be_seen():
    import weakref

    a = torch.ones(2)
    b = torch.zeros(3)
    reference = weakref.ref(a)
    with pytest.raises(RuntimeError, match="weakref"):
        torch.utils.swap_tensors(a, b)
    del reference
    view = a.view(2)
    with pytest.raises(RuntimeError, match="single reference"):
        torch.utils.swap_tensors(a, b)
    assert view.tolist() == a.tolist() == [1, 1]
