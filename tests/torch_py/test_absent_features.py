"""Features of PyTorch that torch_py lacks: their names can be imported, and their use is refused."""

from __future__ import annotations

import contextlib

import pytest

import torch_py as torch
from tests.subject import only_torch_py

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


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
def test_absent_functions_are_refused(call):
    import torch_py.distributed.rpc
    import torch_py.utils.cpp_extension  # noqa: F401

    with pytest.raises(NotImplementedError, match="torch"):
        call()


@only_torch_py
def test_absent_packages_can_be_imported_but_not_used() -> None:
    from torch_py.nested import nested_tensor
    from torch_py.quantization import FakeQuantize, QuantStub

    assert QuantStub()(3) == 3
    for use in (
        lambda: nested_tensor([1]),
        lambda: FakeQuantize(),
        lambda: torch.nested.as_nested_tensor([]),
    ):
        with pytest.raises(NotImplementedError, match=r"torch\.(nested|quantization)\.\w+: torch_py"):
            use()


def double(x):
    """Twice."""
    return 2 * x


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.jit.export_opnames(None),
        lambda: torch._dynamo.export(double, aten_graph=True),
        lambda: torch.SymInt(3),
        lambda: torch.ao.quantization.convert(None),
    ],
)
def test_compiler_functions_are_refused(call):
    with pytest.raises(NotImplementedError, match="torch"):
        call()


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps", "mtia"])
def test_absent_devices_are_empty_and_refuse_use(kind):
    module = getattr(torch, kind)
    assert not module.is_available() and module.device_count() == 0 and module.memory_allocated() == 0
    module.manual_seed(0)
    module.empty_cache()
    with pytest.raises((AssertionError, RuntimeError), match=kind):
        module.current_device()
    with pytest.raises((AssertionError, RuntimeError), match=kind):
        module.Stream()
    with module.device(None), contextlib.ExitStack():
        pass


@pytest.mark.parametrize("name", ["quint4x2", "float4_e2m1fn_x2", "qint8"])
def test_absent_dtypes_are_refused_where_they_are_used(name):
    dtype = getattr(torch, name)
    assert repr(dtype) == f"torch.{name}" and dtype != torch.uint8
    with pytest.raises(TypeError, match="dtype"):
        torch.zeros(2, dtype=dtype)


@only_torch_py
def test_types_of_absent_devices_have_no_instances():
    for kind in (torch.cuda.FloatTensor, torch.sparse.LongTensor):
        assert not isinstance(torch.ones(1), kind)
        with pytest.raises(TypeError, match=r"type torch\.\w+\.\w+Tensor not available"):
            kind(2)

    @torch.cuda.nvtx.range("marked")
    def marked():
        return 1

    with pytest.raises(RuntimeError, match="NVTX functions not installed"):
        marked()
