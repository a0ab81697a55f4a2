"""Names that packages ask for: what is there does what PyTorch does, what is not says so when it is used."""

from __future__ import annotations

import io

import pytest

from tests.subject import torch

NAMED = "xpu mps hpu mtia ipu xla hip ve fpga maia lazy vulkan".split()


def outcome(call, module):
    try:
        return call(module)
    except Exception as error:
        return type(error)


CALLS = {
    "number first": lambda t: [
        getattr(t, f)(7, t.tensor([2.0, -3.0])).tolist()
        for f in ("add", "sub", "mul", "div", "true_divide", "floor_divide")
    ],
    "number first, weighted": lambda t: t.add(7, t.tensor([2, 3]), alpha=2).tolist(),
    "number first, rounded": lambda t: [
        t.div(7, t.tensor([2, -3]), rounding_mode=mode).tolist() for mode in ("floor", "trunc", None)
    ],
    "numbers only": lambda t: t.sub(7, 2).item(),
    "assert one": lambda t: t._assert_async(t.tensor(1)),
    "assert zero": lambda t: t._assert_async(t.tensor(0.0), "text"),
    "assert many": lambda t: t._assert_async(t.ones(2)),
    "assert no tensor": lambda t: t._assert_async(True),
    "assert number": lambda t: t._assert_scalar(0, "text"),
    "coalesce": lambda t: t.ones(2).coalesce(),
    "is_coalesced": lambda t: t.ones(2).is_coalesced(),
    "values": lambda t: t.ones(2).values(),
    "crow_indices": lambda t: t.ones(2).crow_indices(),
    "record_stream": lambda t: t.ones(2).record_stream(t.Stream()),
    "dequantize": lambda t: t.ones(2).dequantize().tolist(),
    "q_scale": lambda t: t.ones(2).q_scale(),
    "sparse.mm": lambda t: t.sparse.mm(t.ones(2, 3), t.ones(3, 2)).tolist(),
    "sparse.addmm": lambda t: t.sparse.addmm(t.ones(2, 2), t.ones(2, 3), t.ones(3, 2), alpha=2).tolist(),
    "sparse.sum": lambda t: t.sparse.sum(t.ones(2)),
    "sparse.softmax": lambda t: t.sparse.softmax(t.ones(2), 0),
    "stream": lambda t: (
        repr(t.Stream()),
        t.Stream().query(),
        t.Stream() == t.Stream("cpu"),
        t.Stream().synchronize(),
    ),
    "stream of cuda": lambda t: t.Stream("cuda"),
    "stream's event": lambda t: t.Stream().record_event(),
    "event": lambda t: (repr(t.Event(enable_timing=True)), t.Event().query(), t.Event().wait()),
    "event set": lambda t: t.Event().record(),
    "event's time": lambda t: t.Event().elapsed_time(t.Event()),
    "scatter": lambda t: t.nn.parallel.scatter(t.ones(4), ["cpu"]),
    "gather": lambda t: t.nn.parallel.gather([t.ones(2)], "cpu"),
    "parallel_apply": lambda t: t.nn.parallel.parallel_apply([t.nn.Identity()], []),
    "accelerator": lambda t: str(t._C._get_accelerator()),
    "accelerator checked": lambda t: t._C._get_accelerator(True),
    "reduction": lambda t: [t.nn.functional._Reduction.get_enum(name) for name in ("none", "mean", "sum")],
    "no reduction": lambda t: t.nn.functional._Reduction.get_enum("max"),
    "older reduction": lambda t: [
        t.nn._reduction.legacy_get_string(a, b, emit_warning=False)
        for a in (None, False)
        for b in (None, False)
    ],
    "multithreading": lambda t: t.autograd.set_multithreading_enabled(True).prev,
    "indent": lambda t: t.nn.modules.module._addindent("a\nb", 2),
    "rows": lambda t: t._convert_indices_from_coo_to_csr(t.tensor([0, 0, 2, 3]), 5).tolist(),
    "rows back": lambda t: t._convert_indices_from_csr_to_coo(
        t.tensor([0, 2, 2, 3]), t.tensor([1, 0, 2])
    ).tolist(),
    "softmax backward": lambda t: t._softmax_backward_data(
        t.tensor([1.0, 2.0]), t.tensor([0.25, 0.75]), 0, t.float32
    ).tolist(),
    "leaves": lambda t: (
        t.utils._pytree.arg_tree_leaves([1, 2], a=(3,)),
        t.utils._pytree.tree_is_leaf([1]),
        t.utils._pytree.tree_is_leaf(1),
    ),
    "structure": lambda t: t.utils._pytree.is_structseq_instance(t.ones(2).max(0)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_as_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)


@pytest.mark.parametrize("name", NAMED)
def test_device_names_parse_and_are_refused_when_used(name):
    peer = pytest.importorskip("torch")
    assert (
        repr(torch.device(name, 1)) == repr(peer.device(name, 1)) and torch.device(f"{name}:1").type == name
    )
    for use in (
        lambda t: t.empty(2, device=name),
        lambda t: t.ones(2).to(name),
        lambda t: t.nn.Linear(2, 2).to(name),
    ):
        found, expected = outcome(use, torch), outcome(use, peer)
        assert issubclass(found, expected), (found, expected)


@pytest.mark.parametrize("name", ["nope", "mps:", "MPS", "xpu:01", ":1"])
def test_no_device(name):
    with pytest.raises(RuntimeError, match="device string"):
        torch.device(name)


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.sparse_coo_tensor([[0]], [1.0], (1,)),
        lambda: torch.ones(2).to_sparse(),
        lambda: torch.package.PackageExporter("a"),
        lambda: torch.utils.cpp_extension.load("a", []),
        lambda: torch.utils.cpp_extension.CUDAExtension("a", []),
        lambda: torch.distributed.rpc.init_rpc("a"),
    ],
)
def test_what_is_missing_says_so(call):
    import torch_py.distributed.rpc
    import torch_py.utils.cpp_extension  # noqa: F401

    with pytest.raises(NotImplementedError, match="torch"):
        call()


def test_repetition_is_a_copy():
    x = torch.zeros(1, 4, 2)
    for copy in (
        x.repeat(1, 1, 1),
        x.tile(1),
        x.repeat_interleave(1, 0),
        torch.nn.functional.channel_shuffle(x, 1),
    ):
        assert copy.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


def test_numpy_of_what_requires_grad():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()
    with torch.no_grad():
        assert x.numpy().tolist() == [1, 1]


def test_normalisations_are_told_apart():
    from torch_py.nn.modules.batchnorm import _BatchNorm, _NormBase
    from torch_py.nn.modules.dropout import _DropoutNd

    instance, batch = torch.nn.InstanceNorm2d(2), torch.nn.BatchNorm2d(2)
    assert (
        isinstance(instance, _NormBase)
        and isinstance(batch, _NormBase)
        and isinstance(torch.nn.Dropout(), _DropoutNd)
    )
    assert isinstance(batch, _BatchNorm) and not isinstance(instance, _BatchNorm)


def test_hooks_of_all_modules_are_seen():
    from torch_py.nn.modules import module

    handle = module.register_module_forward_hook(lambda *arguments: None)
    try:
        assert len(module._global_forward_hooks) == 1 and not module._global_forward_pre_hooks
    finally:
        handle.remove()
    assert not module._global_forward_hooks


def test_prefix_is_consumed():
    from torch_py.nn.modules.utils import consume_prefix_in_state_dict_if_present

    state = torch.nn.DataParallel(torch.nn.Linear(2, 2)).state_dict()
    consume_prefix_in_state_dict_if_present(state, "module.")
    torch.nn.Linear(2, 2).load_state_dict(state)
    assert list(state) == ["weight", "bias"] and "" in state._metadata


def test_records_of_a_file():
    file = io.BytesIO()
    torch.save({"a": torch.arange(3.0)}, file)
    file.seek(0)
    reader = torch.PyTorchFileReader(file)
    assert (
        reader.has_record("data.pkl")
        and "data/0" in reader.get_all_records()
        and not reader.has_record("none")
    )
    assert reader.get_storage_from_record("data/0", 3, torch.float32).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="none"):
        reader.get_record("none")
