"""`BackendTests`: the tests of a device that a package brings, which follow from its kernels."""

from __future__ import annotations

import copy
import io
import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

import torch_py as torch
from torch_py._ops import OpOverload
from torch_py.testing import assert_close
from torch_py.testing.operators.operator import DTYPES, tensors_of
from torch_py.testing.operators.plugin import EnrolledTests
from torch_py.testing.operators.registry import SampleInput, sample_inputs, sample_names

_TOLERANCES = {"float16": (2e-3, 1e-3), "bfloat16": (1.6e-2, 4e-3)}


@dataclass(frozen=True, eq=False)
class TestedKernel:
    """A kernel of the backend, as its `kernels.json` describes it."""

    __test__ = False

    row: dict[str, Any]

    def __str__(self) -> str:
        return str(self.row["name"])

    @property
    def overload(self) -> OpOverload:
        """The operator that it serves."""
        base, _, overload = str(self).partition(".")
        found: OpOverload = getattr(getattr(torch.ops.aten, base), overload or "default")
        return found

    def dtypes_under_test(self) -> list[str]:
        return [dtype for dtype in DTYPES if not self.row["dtypes"] or dtype in self.row["dtypes"]]

    def samples(self, dtype: str, requires_grad: bool = False) -> list[SampleInput]:
        """The samples of the generator with the operator's name, or that its entry names."""
        candidates = (self.row["unambiguous_name"], self.row["samples"])
        known = [name for name in candidates if name in sample_names()]
        assert known, f'write @samples("{self.row["unambiguous_name"]}") in the samples.py of the package'
        return sample_inputs(known[0], torch, dtype, requires_grad=requires_grad)


class BackendTests(EnrolledTests):
    """Tests of the devices of `package`, in whose module they are: values and gradients of all its kernels,
    memory, random numbers, files and messages."""

    package: ClassVar[ModuleType]

    @classmethod
    def operators(cls) -> list[TestedKernel]:
        """The operators with a kernel."""
        path = Path(cls.package.__file__ or "").parent / "kernels.json"
        return [TestedKernel(row) for row in json.loads(path.read_text())]

    @property
    def device(self) -> Any:
        """The first device."""
        return torch.device(self.package.__name__, 0)

    # Kernels

    def test_values(self, operator: TestedKernel, dtype: str) -> None:
        """Results, and what the operator writes, are those of the CPU; its own kernel computes them."""
        counted = 0
        for sample in operator.samples(dtype):
            here = sample.map(lambda t: t.to(self.device))
            expected = operator.overload(*sample.positional, **sample.kwargs)
            self.package.reset_host_fallbacks()
            found = operator.overload(*here.positional, **here.kwargs)
            counted += self.package.host_fallbacks().get(str(operator), 0)

            rtol, atol = _TOLERANCES.get(dtype, (None, None))
            for got, wanted in zip(tensors_of(found), tensors_of(expected), strict=True):
                assert got.device == self.device
                assert_close(got.cpu(), wanted, rtol=rtol, atol=atol, equal_nan=True)
            for got, wanted in zip(here.tensors(), sample.tensors(), strict=True):
                assert_close(got.cpu(), wanted, rtol=rtol, atol=atol, equal_nan=True)
        assert counted == 0, f"{operator} ran on the CPU {counted} times"

    def test_gradients(self, operator: TestedKernel) -> None:
        """Gradients are those of the CPU."""
        if "float32" not in operator.dtypes_under_test() or operator.overload._schema.is_mutable:
            return
        for sample in operator.samples("float32", requires_grad=True):
            inputs = [t for t in sample.tensors() if t.requires_grad]
            leaves = [t.detach().to(self.device).requires_grad_() for t in inputs]
            places = {id(t): leaf for t, leaf in zip(inputs, leaves)}
            here = sample.map(lambda t, places=places: places.get(id(t), t.to(self.device)))  # type: ignore[misc]

            expected = tensors_of(operator.overload(*sample.positional, **sample.kwargs))[0]
            found = tensors_of(operator.overload(*here.positional, **here.kwargs))[0]
            assert found.requires_grad == expected.requires_grad
            if not expected.requires_grad:
                continue
            ours = torch.autograd.grad(found.sum(), leaves, allow_unused=True)
            theirs = torch.autograd.grad(expected.sum(), inputs, allow_unused=True)
            for got, wanted in zip(ours, theirs):
                assert (got is None) == (wanted is None)
                if got is not None:
                    assert got.device == self.device
                    assert_close(got.cpu(), wanted)

    def test_kernels_are_listed(self) -> None:
        listed = (Path(self.package.__file__ or "").parent / "fallbacks.md").read_text()
        for operator in self.operators():
            assert f"- `{operator}`" not in listed
        assert "- `svd`" in listed or "- `_linalg_svd`" in listed or "- `linalg_svd`" in listed

    # The device

    def test_module(self) -> None:
        name = self.package.__name__
        assert getattr(torch, name) is self.package
        assert torch.get_device_module(name) is self.package
        assert self.package.is_available() and self.package.device_count() >= 1
        assert self.package.current_device() == 0
        self.package.synchronize()
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            self.package.set_device(self.package.device_count())

    def test_round_trip(self) -> None:
        """Copies to the device and back, also of parts, with other strides and into another dtype."""
        for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
            tensor = torch.arange(24).reshape(4, 6).to(dtype)
            for part in (tensor, tensor.T, tensor[1:3, ::2], tensor[0, 0], tensor[:0]):
                assert torch.equal(part.to(self.device).cpu(), part)
        half = torch.ones(3).to(self.device, torch.float16)
        assert (half.device, half.dtype) == (self.device, torch.float16)
        assert torch.equal(half.cpu().float(), torch.ones(3))

    def test_methods(self) -> None:
        name = self.package.__name__
        tensor = getattr(torch.ones(2), name)()
        assert tensor.device == self.device and getattr(tensor, f"is_{name}")
        assert not getattr(torch.ones(2), f"is_{name}")
        layer = getattr(torch.nn.Linear(2, 2), name)()
        assert layer.weight.device == self.device
        with pytest.raises(RuntimeError, match="Invalid device"):
            getattr(torch.ones(2), name)("cpu")

    def test_other_devices_are_refused(self) -> None:
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            torch.ones(2, device=self.device) + torch.ones(2)
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            torch.ones(2, device=f"{self.package.__name__}:{self.package.device_count()}")

    def test_several_devices(self) -> None:
        if self.package.device_count() < 2:
            pytest.skip("one device")
        other = torch.device(self.package.__name__, 1)
        tensor = torch.arange(3.0, device=self.device).requires_grad_()
        moved = tensor.to(other)
        assert moved.device == other and torch.equal(moved.cpu(), tensor.detach().cpu())
        (gradient,) = torch.autograd.grad((moved * 2).sum(), tensor)
        assert gradient.device == self.device and gradient.tolist() == [2, 2, 2]

    def test_memory_is_freed(self) -> None:
        """As many large tensors, one after another, as no device could hold at once."""
        for _ in range(64):
            torch.ones(16 << 20, device=self.device)

    def test_random_numbers(self) -> None:
        """A seed gives the same numbers again, in every generator."""
        torch.manual_seed(3)
        first = torch.rand(5, device=self.device)
        second = torch.rand(5, device=self.device)
        torch.manual_seed(3)
        assert torch.equal(torch.rand(5, device=self.device).cpu(), first.cpu())

        state = self.package.get_rng_state()
        third = torch.rand(5, device=self.device)
        self.package.set_rng_state(state)
        assert torch.equal(torch.rand(5, device=self.device).cpu(), third.cpu())
        assert not torch.equal(first.cpu(), second.cpu())

        generator = torch.Generator(device=self.device).manual_seed(9)
        drawn = torch.rand(5, device=self.device, generator=generator)
        generator.manual_seed(9)
        again = torch.rand(5, device=self.device, generator=generator)
        assert torch.equal(drawn.cpu(), again.cpu())

    def test_files(self) -> None:
        """Tensors are saved with their device, and loaded there or where map_location says."""
        tensor = torch.arange(6.0).reshape(2, 3).to(self.device)
        file = io.BytesIO()
        torch.save({"tensor": tensor, "part": tensor[1]}, file)

        file.seek(0)
        loaded = torch.load(file)
        assert loaded["tensor"].device == self.device
        assert torch.equal(loaded["tensor"].cpu(), tensor.cpu())
        loaded["tensor"].fill_(7)
        assert loaded["part"].tolist() == [7, 7, 7]

        file.seek(0)
        assert torch.load(file, map_location="cpu")["tensor"].device.type == "cpu"

    def test_pickles(self) -> None:
        tensor = torch.arange(6.0).reshape(2, 3).to(self.device)
        for copied in (pickle.loads(pickle.dumps(tensor)), copy.deepcopy(tensor)):
            assert copied.device == self.device and torch.equal(copied.cpu(), tensor.cpu())

    def test_compiled_programs(self) -> None:
        """torch.compile calls the operators of the device."""
        tensor = torch.arange(-3.0, 3.0, device=self.device).requires_grad_()

        def function(x: Any) -> Any:
            return ((x * 2).relu() + x).sum()

        compiled = torch.compile(function, fullgraph=True)
        found = compiled(tensor)
        assert found.device == self.device and found.item() == function(tensor).item()
        (ours,) = torch.autograd.grad(found, tensor)
        (theirs,) = torch.autograd.grad(function(tensor), tensor)
        assert_close(ours.cpu(), theirs.cpu())

    def test_checkpoints(self) -> None:
        tensor = torch.ones(3, device=self.device).requires_grad_()
        torch.utils.checkpoint.checkpoint(torch.sin, tensor, use_reentrant=False).sum().backward()
        assert_close(tensor.grad.cpu(), torch.ones(3).cos())

    def test_accelerator(self) -> None:
        if torch.cuda.is_available():
            pytest.skip("CUDA comes first")
        assert torch.accelerator.current_accelerator() == torch.device(self.package.__name__)
        assert torch.accelerator.device_count() == self.package.device_count()
        torch.accelerator.synchronize()

    def test_memory_of_the_host_is_another(self) -> None:
        """What would need the host to read the memory is refused."""
        tensor = torch.ones(2, device=self.device)
        with pytest.raises(TypeError, match="to numpy"):
            tensor.numpy()
        with pytest.raises(BufferError, match="Cannot pack"):
            tensor.__dlpack__()
        with pytest.raises(BufferError, match="not on the CPU"):
            memoryview(tensor.untyped_storage())
        with pytest.raises(NotImplementedError, match="processes cannot share"):
            tensor.share_memory_()

    def test_fallbacks_are_counted(self) -> None:
        self.package.reset_host_fallbacks()
        _, values, _ = torch.linalg.svd(torch.eye(3, device=self.device))
        assert values.tolist() == [1, 1, 1] and values.device == self.device
        assert self.package.host_fallbacks()

    def test_repr(self) -> None:
        assert f"device='{self.device}'" in repr(torch.ones(2, device=self.device))
