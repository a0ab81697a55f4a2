"""Fake tensors of real ones."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from torch_py import _C
from torch_py._subclasses.errors import UnsupportedFakeTensorException
from torch_py._subclasses.unseen import unseen
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import enable_grad, inference_mode, set_grad_enabled
from torch_py.nn.parameter import Buffer, Parameter

if TYPE_CHECKING:
    from torch_py._subclasses.fake_tensor import FakeTensor, FakeTensorMode


class FakeTensorConverter:
    """Makes one fake tensor of each real one. Tensors that share memory give fake ones that do.

    A mode has a converter. It forgets tensors, and the places in memory that it knows, when they die.
    """

    def __init__(self) -> None:
        self._made: dict[int, FakeTensor] = {}
        self._memory: dict[int, Any] = {}  # fake storages, by the address of the real one
        self._users: dict[int, int] = {}  # how many known tensors use the storage at an address

    def from_real_tensor(self, mode: FakeTensorMode, tensor: Tensor) -> FakeTensor:
        known = self._made.get(id(tensor))
        if known is not None:
            return known

        _check_has_fake(tensor)
        with inference_mode(tensor.is_inference()):  # whatever the mode of the call
            fake = self._converted(mode, tensor)
        mark_like(fake, tensor)
        if tensor.is_leaf and tensor.grad is not None:
            fake.grad = self.from_real_tensor(mode, tensor.grad)

        self._remember(tensor, fake)
        return fake

    def _converted(self, mode: FakeTensorMode, tensor: Tensor) -> FakeTensor:
        base = tensor._base
        if base is not None and tensor.dtype == base.dtype:
            return self._view_of(mode, base, tensor)

        with unseen():
            twin = self.twin_of(tensor)
        return requiring_as(mode, mode._wrap(twin, tensor.device), tensor)

    def _view_of(self, mode: FakeTensorMode, base: Tensor, tensor: Tensor) -> FakeTensor:
        source = self.from_real_tensor(mode, base)
        return viewed_as(mode, source, tensor, tensor.size(), tensor.stride(), tensor.storage_offset())  # type: ignore[no-any-return]

    def twin_of(self, tensor: Tensor) -> Tensor:
        """A meta tensor of the same geometry, on memory that stands for that of `tensor`."""
        address = tensor.untyped_storage()._cdata
        memory = self._memory.get(address)
        if memory is None:
            count = tensor.untyped_storage().nbytes()
            memory = _C._torch.empty(count, dtype=_C.uint8, device="meta").untyped_storage()
            self._memory[address] = memory

        twin: Any = _C._torch.empty(0, dtype=tensor.dtype, device="meta")
        twin.set_(memory, tensor.storage_offset(), tensor.size(), tensor.stride())
        return twin  # type: ignore[no-any-return]

    def keep_memory(self, tensor: Tensor) -> None:
        """Knows the memory of `tensor` as long as the tensor lives."""
        address = tensor.untyped_storage()._cdata
        self._users[address] = self._users.get(address, 0) + 1
        weakref.finalize(tensor, _forget, weakref.ref(self), id(tensor), address).atexit = False

    def _remember(self, tensor: Tensor, fake: FakeTensor) -> None:
        self._made[id(tensor)] = fake
        self.keep_memory(tensor)

    def _forget(self, key: int, address: int) -> None:
        self._made.pop(key, None)
        self._users[address] -= 1
        if self._users[address] == 0:
            del self._users[address]
            self._memory.pop(address, None)


def _forget(converter: Any, key: int, address: int) -> None:
    alive = converter()
    if alive is not None:
        alive._forget(key, address)


def _check_has_fake(tensor: Tensor) -> None:
    if tensor.is_mkldnn:
        raise UnsupportedFakeTensorException(
            "from_tensor: tensors of the layout torch._mkldnn have no fake ones"
        )
    if type(tensor) is not Tensor and not isinstance(tensor, (Parameter, Buffer)):
        raise UnsupportedFakeTensorException(
            f"from_tensor: a {type(tensor).__name__} has no fake tensor; only Tensor and Parameter have"
        )


def requiring_as(mode: FakeTensorMode, fake: Any, tensor: Tensor) -> Any:
    """A fake tensor that requires a gradient if `tensor` does, and is a leaf if that is one."""
    if not tensor.requires_grad:
        return fake

    fake.requires_grad_()
    if tensor.is_leaf:
        return fake
    with mode, enable_grad():
        made = fake.clone()
        if made.stride() != fake.stride():  # of elements in one place, or with gaps between them
            made.untyped_storage().resize_(fake.untyped_storage().nbytes())
            made.as_strided_(fake.shape, fake.stride(), fake.storage_offset())
        return made


def viewed_as(
    mode: FakeTensorMode, base: Any, tensor: Tensor, size: Any, stride: Any, offset: int = 0
) -> Any:
    """A view of a fake tensor with these sizes, made as the view `tensor` was."""
    with mode, set_grad_enabled(not tensor._was_viewed_without_grad()):
        view = base.as_strided(size, stride, offset)
        if tensor.requires_grad and not view.requires_grad:
            view.requires_grad_()
            if not tensor.is_leaf:  # the history begins at another view of the base
                view = view.as_strided(size, stride, offset)
    view._take_view_origin(tensor)
    return view


def mark_like(fake: Any, tensor: Tensor) -> None:
    """A parameter stays one, and a buffer too."""
    if isinstance(tensor, Parameter):
        fake._is_param = True
    if isinstance(tensor, Buffer):
        fake._is_buffer = True
        fake.persistent = tensor.persistent
