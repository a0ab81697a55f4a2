"""The class of fake tensors."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

from torch_py import _C
from torch_py._subclasses.devices import with_index
from torch_py._subclasses.unseen import unseen
from torch_py._tensor import Tensor
from torch_py._tensor_str import _append, _autograd_suffixes
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.nn.parameter import Buffer, Parameter
from torch_py.utils._python_dispatch import _disable_current_modes


class FakeTensor(Tensor):
    """A tensor with a shape, strides, a dtype and a device, and without elements.

    Programs get fake tensors from a :class:`FakeTensorMode`. `device` is the device that the tensor stands
    for; it need not exist. `fake_mode` is the mode that made it. `constant` is a real tensor of one element
    where the program has given the number itself (``torch.tensor(3)``), else None. Asking for elements
    raises RuntimeError: `DataDependentOutputException` for a number, `DynamicOutputShapeException` for a
    tensor whose shape depends on them.

        with FakeTensorMode():
            print(torch.empty(2, 3, device="cuda"))  # FakeTensor(..., device='cuda:0', size=(2, 3))
    """

    __module__ = "torch_py._subclasses.fake_tensor"
    fake_mode: Any = None
    constant: Tensor | None = None
    is_data: bool = False  # made by `.data`: changes of it do not count as changes of what it was taken of
    _twin: Tensor

    @staticmethod
    def __new__(cls, fake_mode: Any, elem: Tensor, device: Any, constant: Tensor | None = None) -> FakeTensor:
        """A fake tensor on `device` with the geometry of a meta tensor `elem`."""
        if not elem.is_meta or isinstance(elem, FakeTensor):
            raise ValueError(f"FakeTensor: expected elem to be a meta tensor, got one on {elem.device}")
        made: Any = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            elem.size(),
            strides=elem.stride(),
            storage_offset=elem.storage_offset(),
            dtype=elem.dtype,
            device=with_index(device),
        )
        made.fake_mode = fake_mode
        made.constant = constant
        made._twin = elem
        return made  # type: ignore[no-any-return]

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        pass

    @staticmethod
    def from_tensor(t: Tensor, fake_mode: Any) -> FakeTensor:
        """See :meth:`FakeTensorMode.from_tensor`."""
        return fake_mode.from_tensor(t)  # type: ignore[no-any-return]

    @property
    def fake_device(self) -> Any:
        return self.device

    # Calls

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls outside of the mode run inside of it: Python functions, too, create tensors on their way."""
        with _entered_for((args, kwargs)), DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not all_known(types):
            return NotImplemented
        mode = _mode_in((args, kwargs))
        assert mode is not None
        with mode:
            return func(*args, **(kwargs or {}))

    # Memory

    @property
    def data(self) -> Any:
        """The same fake memory without history."""
        made = Tensor.data.__get__(self)  # type: ignore[attr-defined]
        made.is_data = True
        return made

    @data.setter
    def data(self, other: Any) -> None:
        if not isinstance(other, FakeTensor):
            raise RuntimeError(
                f"FakeTensor.data: expected a FakeTensor, got a {type(other).__name__}; "
                "use FakeTensorMode.from_tensor"
            )
        Tensor.data.__set__(self, other)  # type: ignore[attr-defined]
        self._twin = other._twin
        self.constant = other.constant

    def set_(self, *source: Any, **window: Any) -> FakeTensor:
        """`Tensor.set_`, also for the storage of a fake tensor."""
        if source and not isinstance(source[0], Tensor):
            source = (self._over(source[0]), *source[1:])
        return super().set_(*source, **window)  # type: ignore[misc, no-any-return]

    def _over(self, storage: Any) -> FakeTensor:
        """A fake tensor of all elements that `storage`, which is on the meta device, has room for."""
        with unseen():
            twin: Any = _C._torch.empty(0, dtype=self.dtype, device="meta")
            twin.set_(storage)
        return FakeTensor(self.fake_mode, twin, self.device)

    def untyped_storage(self) -> Any:
        """The storage of the twin, on the meta device: it tells which fake tensors share memory."""
        return self._twin.untyped_storage()

    def numpy(self, *, force: bool = False) -> Any:
        raise RuntimeError("FakeTensor.numpy(): a fake tensor has no elements")

    def __array__(self, *arguments: Any, **keywords: Any) -> Any:
        raise RuntimeError("FakeTensor.__array__(): a fake tensor has no elements")

    def tolist(self) -> Any:
        """The numbers of the program where they are known; DataDependentOutputException otherwise."""
        if self.dim() == 0:
            return self.item()
        return [element.tolist() for element in self]

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError(
                "FakeTensor.__deepcopy__: only graph leaves can be deep-copied, got a tensor with "
                f"grad_fn={self.grad_fn}; copy .detach() instead"
            )

        with _disable_current_modes():
            result: Any = self.fake_mode._wrap(copy.deepcopy(self._twin, memo), self.device)
        result.requires_grad_(self.requires_grad)
        memo[id(self)] = result
        if self.grad is not None:
            result.grad = copy.deepcopy(self.grad, memo)
        rest = {name: value for name, value in vars(self).items() if name not in vars(result)}
        vars(result).update(copy.deepcopy(rest, memo))
        return result

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError("FakeTensor: a fake tensor has no elements and cannot be pickled or saved")

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        self.fake_mode.asked_for_text()
        with DisableTorchFunctionSubclass():
            prefix = "Parameter(FakeTensor(" if isinstance(self, Parameter) else "FakeTensor("
            suffixes = [f"device='{self.device}'"] if self.device.type != "cpu" else []
            suffixes.append(f"size={tuple(self.shape)}")
            if self.dtype != _C.get_default_dtype():
                suffixes.append(f"dtype={self.dtype}")
            text = _append(f"{prefix}...", suffixes + _autograd_suffixes(self), len(prefix))
        return text + ")" if prefix.startswith("Parameter") else text


def all_known(types: Any) -> bool:
    return all(issubclass(kind, (FakeTensor, Parameter, Buffer)) or kind is Tensor for kind in types)


def _mode_in(values: Any) -> Any:
    if isinstance(values, FakeTensor):
        return values.fake_mode
    if isinstance(values, dict):
        values = values.values()
    elif not isinstance(values, (tuple, list)):
        return None
    return next((mode for value in values if (mode := _mode_in(value)) is not None), None)


def _entered_for(values: Any) -> contextlib.AbstractContextManager[Any]:
    """The mode of the fake tensors among `values`, unless this thread is in it already."""
    mode = _mode_in(values)
    return contextlib.nullcontext() if mode is None or mode._is_entered() else mode
