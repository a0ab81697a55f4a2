"""Tensors on a device: factories, moves, printing, values, exchange with other libraries."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace

import pytest

from tests.subject import torch

CUDA = torch.device("cuda", 0)


def test_factories():
    for made in (
        torch.zeros(2, 3, device="cuda"),
        torch.tensor([[1, 2], [3, 4]], device="cuda"),
        torch.as_tensor([1.0], device="cuda"),
        torch.asarray([1.0], device="cuda:0"),
        torch.arange(5, device=0),
        torch.eye(2, device=CUDA),
        torch.cuda.FloatTensor(2, 3),
        torch.ones(2, device="cuda").new_tensor([1, 2]),
        torch.ones_like(torch.ones(2), device="cuda"),
    ):
        assert made.device == CUDA and made.is_cuda and not made.is_cpu and made.get_device() == 0

    assert torch.tensor([[1, 2], [3, 4]], device="cuda").tolist() == [[1, 2], [3, 4]]
    assert isinstance(torch.cuda.FloatTensor(1), torch.cuda.FloatTensor)
    assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)


def test_moves():
    host = torch.arange(6.0).reshape(2, 3)
    there = host.cuda()
    assert there.device == CUDA and there.cpu().equal(host) and there.cpu().is_cpu
    assert there.cuda() is there and there.to("cuda") is there and there.to(0) is there
    assert there.to("cuda", copy=True) is not there

    assert there.to(torch.float64).dtype == torch.float64 and there.double().is_cuda
    assert host.to(there).device == CUDA and there.to("cpu").equal(host)
    assert host.t().cuda().stride() == host.t().stride()
    assert host.type("torch.cuda.DoubleTensor").dtype == torch.float64
    assert there.type() == "torch.cuda.FloatTensor"
    assert host.to_device("cuda").is_cuda

    with pytest.raises(RuntimeError, match="must be cuda device"):
        host.cuda("cpu")
    large = torch.arange(100_000)
    assert large.cuda().cpu().equal(large)


def test_moves_between_devices(two_devices):
    there = torch.arange(4.0, device="cuda:0")
    other = there.to("cuda:1")
    assert other.device == torch.device("cuda", 1) and other.tolist() == there.tolist()
    assert other.cuda().device == CUDA  # the current one
    with torch.cuda.device(1):
        assert there.cuda().device == torch.device("cuda", 1)
    assert there.to("cuda:1").to("cuda:0").equal(there)


def test_modules():
    layer = torch.nn.Linear(2, 3).cuda()
    assert all(parameter.is_cuda and parameter.is_leaf for parameter in layer.parameters())
    result = layer(torch.ones(1, 2, device="cuda"))
    assert result.is_cuda
    result.sum().backward()
    assert layer.weight.grad.is_cuda
    assert all(parameter.is_cpu for parameter in layer.cpu().parameters())
    assert layer.to("cuda").weight.is_cuda


def test_printing_names_the_device():
    assert repr(torch.tensor([1.0, 2.0], device="cuda")) == "tensor([1., 2.], device='cuda:0')"
    assert repr(torch.tensor(3, device="cuda")) == "tensor(3, device='cuda:0')"
    assert "device='cuda:0', size=(0, 3)" in repr(torch.empty(0, 3, device="cuda"))
    wide = torch.arange(5000.0, device="cuda")
    assert "..." in repr(wide) and "device='cuda:0'" in repr(wide)
    assert "device='cuda:0', requires_grad=True" in repr(torch.ones(1, device="cuda", requires_grad=True))
    assert f"{torch.tensor(1.5, device='cuda'):.2f}" == "1.50"


def test_values():
    there = torch.tensor([[1.5, -2.0]], device="cuda")
    assert there[0, 1].item() == -2.0 and there.tolist() == [[1.5, -2.0]]
    assert float(there[0, 0]) == 1.5 and bool(there[0, 0] > 1) and int(there[0, 1]) == -2
    assert [float(value) for value in there[0]] == [1.5, -2.0]
    assert list(range(3))[torch.tensor(2, device="cuda")] == 2
    assert torch.tensor([True, False], device="cuda").tolist() == [True, False]
    assert there.t().tolist() == [[1.5], [-2.0]]
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        there.item()


def test_numpy_is_refused():
    numpy = pytest.importorskip("numpy")
    there = torch.ones(2, device="cuda")
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()"):
        there.numpy()
    with pytest.raises(TypeError, match="Use Tensor.cpu()"):
        numpy.asarray(there)
    with pytest.raises(BufferError, match="not on the CPU"):
        memoryview(there)
    assert torch.from_numpy(numpy.ones(2)).cuda().is_cuda


def test_dlpack_shares_memory():
    there = torch.arange(6.0, device="cuda").reshape(2, 3)
    assert there.__dlpack_device__() == (2, 0)
    back = torch.from_dlpack(there)
    assert back.device == CUDA and back.data_ptr() == there.data_ptr()
    back.add_(1)
    assert there.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert torch.from_dlpack(there.t()).tolist() == there.t().tolist()
    assert torch.from_dlpack(there, device="cpu").equal(there.cpu())
    assert torch.from_dlpack(torch.arange(3), device="cuda").device == CUDA
    with pytest.raises(ValueError, match="copying"):
        torch.from_dlpack(there, device="cpu", copy=False)


def test_dlpack_orders_streams():
    there = torch.zeros(4, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        there.fill_(7)
        taken = torch.from_dlpack(there)
    assert taken.data_ptr() == there.data_ptr()

    there.__dlpack__(stream=stream.cuda_stream)
    there.__dlpack__(stream=1)
    there.__dlpack__(stream=-1)

    with pytest.raises(TypeError, match="int"):
        there.__dlpack__(stream="x")
    with pytest.raises(AssertionError, match="unsupported stream"):
        there.__dlpack__(stream=0)
    with pytest.raises(BufferError, match="per-thread"):
        there.__dlpack__(stream=2)
    torch.cuda.synchronize()
    assert taken.tolist() == [7.0] * 4


def test_dlpack_of_another_device_is_refused(two_devices):
    there = torch.ones(1, device="cuda:1")
    with pytest.raises(BufferError, match="different CUDA device"):
        there.__dlpack__()
    with torch.cuda.device(1):
        assert torch.from_dlpack(there).device == there.device


def test_dlpack_of_pinned_memory():
    pinned = torch.ones(3).pin_memory()
    assert pinned.__dlpack_device__() == (3, 0)
    assert torch.from_dlpack(pinned).is_cpu


def test_cuda_array_interface():
    there = torch.arange(6, device="cuda").reshape(2, 3)
    known = there.__cuda_array_interface__
    assert known == {
        "typestr": "<i8",
        "shape": (2, 3),
        "strides": None,
        "data": (there.data_ptr(), False),
        "version": 2,
    }
    foreign = SimpleNamespace(__cuda_array_interface__=there.t().__cuda_array_interface__)
    shared = torch.as_tensor(foreign)
    assert shared.data_ptr() == there.data_ptr() and shared.equal(there.t()) and shared.device == CUDA
    copied = torch.tensor(foreign)
    assert copied.data_ptr() != there.data_ptr() and copied.equal(there.t())

    with pytest.raises(AttributeError, match="non-CUDA tensor"):
        torch.ones(1).__cuda_array_interface__  # noqa: B018
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.ones(1, device="cuda", requires_grad=True).__cuda_array_interface__  # noqa: B018


def test_storages():
    there = torch.arange(8, dtype=torch.uint8, device="cuda")
    storage = there.untyped_storage()
    assert storage.device == CUDA and storage.is_cuda and storage.get_device() == 0
    assert storage.tolist() == list(range(8)) and storage[3] == 3 and storage[2:4].tolist() == [2, 3]

    storage[0] = 9
    storage[1:3] = 7
    assert there.tolist() == [9, 7, 7, 3, 4, 5, 6, 7]
    assert storage.clone().device == CUDA and storage.cpu().tolist() == there.tolist()
    assert storage.fill_(1) is storage and there.tolist() == [1] * 8
    assert storage.copy_(torch.arange(8, dtype=torch.uint8).untyped_storage()) is storage
    assert there.tolist() == list(range(8))

    assert torch.UntypedStorage(4, device="cuda").device == CUDA
    assert torch.arange(3, dtype=torch.uint8).untyped_storage().cuda().tolist() == [0, 1, 2]
    storage.resize_(16)
    assert storage.nbytes() == 16 and storage.tolist()[:8] == list(range(8))


def test_copies_share_storages_alike():
    there = torch.arange(6.0, device="cuda")
    whole, part = copy.deepcopy([there, there[2:]])
    assert whole.device == CUDA and part.tolist() == [2.0, 3.0, 4.0, 5.0]
    whole.fill_(0)
    assert part.tolist() == [0.0] * 4 and there.tolist() == list(range(6))
    assert pickle.loads(pickle.dumps(there)).device == CUDA


def test_mixed_devices_are_refused():
    with pytest.raises(RuntimeError, match="device"):
        torch.ones(2) + torch.ones(2, device="cuda")
    assert (torch.ones(2, device="cuda") + torch.tensor(1.0)).tolist() == [2.0, 2.0]


def test_gradients():
    there = torch.ones(3, device="cuda", requires_grad=True)
    (there * 2).sum().backward()
    assert there.grad.device == CUDA and there.grad.tolist() == [2.0, 2.0, 2.0]
    assert there.detach().record_stream(torch.cuda.Stream()) is None
