"""`FakeTensorMode`: calls compute shapes, dtypes and devices, and no elements.

A fake tensor is an instance of a class without memory that has a device, which need not exist, and next to it
a *twin*: a meta tensor of the same geometry. The mode receives every operator call (see `TorchDispatchMode`),
runs the Meta kernel on the twins and wraps what it returns. Views of fake tensors have twins that are views.
Autograd and composites are above the mode and do not know of it; what they allocate comes as calls, too
(Note [Allocations seen by modes] in aten/core/Allocation.h).
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

from torch_py import _C
from torch_py._ops import ops
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._subclasses.calls import map_tensors, on_meta, run, tensors_in
from torch_py._subclasses.converter import FakeTensorConverter
from torch_py._subclasses.devices import common_device, device_argument, is_factory, with_index
from torch_py._subclasses.errors import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorDeviceMismatchError,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from torch_py._subclasses.tensor import FakeTensor, all_known
from torch_py._subclasses.unseen import unseen
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode_stack,
)

__all__ = [
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeTensor",
    "FakeTensorConverter",
    "FakeTensorDeviceMismatchError",
    "FakeTensorMode",
    "UnsupportedFakeTensorException",
    "UnsupportedOperatorException",
]

# Real tensors of at most so many elements are remembered, so that programs may ask for the number.
CONSTANT_NUMEL_LIMIT = 1


class FakeTensorMode(TorchDispatchMode):
    """Inside ``with mode:``, every call returns fake tensors: with the shape, strides, dtype and device that
    the call would give, and without memory or computation. Backward gives fake gradients.

    :meth:`from_tensor` makes fake tensors of real ones. A call that meets a real tensor raises
    AssertionError, unless `allow_non_fake_inputs`, which converts it. `allow_fallback_kernels` has no effect:
    all operators have rules for shapes. Sizes are numbers, so `shape_env` must be None.

        with FakeTensorMode():
            layer = torch.nn.Linear(1_000_000, 1_000_000, device="cuda")
            print(layer(torch.ones(8, 1_000_000, device="cuda")))
            # FakeTensor(..., device='cuda:0', size=(8, 1000000), grad_fn=<LinearBackward0>)
    """

    _sees_allocations = True

    def __init__(
        self,
        *,
        allow_fallback_kernels: bool = True,
        allow_non_fake_inputs: bool = False,
        shape_env: Any = None,
        static_shapes: bool | None = None,
        export: bool = False,
    ) -> None:
        super().__init__()
        if shape_env is not None or static_shapes is False:
            raise NotImplementedError(
                "FakeTensorMode: torch_py has no symbolic sizes (shape_env, static_shapes=False); "
                "make one fake call for each size instead"
            )
        self.allow_fallback_kernels = allow_fallback_kernels
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self.shape_env = None
        self.static_shapes = True
        self.export = export
        self.fake_tensor_converter = FakeTensorConverter()
        # Those with constants, by the address of the constant's memory.
        self._constants: dict[int, list[weakref.ref[FakeTensor]]] = {}

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    def __deepcopy__(self, memo: Any) -> FakeTensorMode:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError("FakeTensorMode: fake tensors have no elements and cannot be pickled or saved")

    def asked_for_text(self) -> None:
        """Called before the text of one of the fake tensors is made."""

    def _is_entered(self) -> bool:
        """Whether this thread is in the mode, and not in one of its calls."""
        return any(mode is self for mode in _get_current_dispatch_mode_stack())

    def from_tensor(
        self,
        tensor: Tensor,
        *,
        static_shapes: bool | None = None,
        source: Any = None,
        symbolic_context: Any = None,
        trace: bool = True,
    ) -> FakeTensor:
        """The fake tensor of a real one, the same at each call. Tensors that share memory give fake tensors
        that do; parameters give parameters.

        Raises UnsupportedFakeTensorException for tensors of other classes or layouts.
        """
        if isinstance(tensor, FakeTensor):
            return tensor if tensor.fake_mode is self else self._wrap(_twin_like(tensor), tensor.device)
        if _C._level_of(tensor):
            return self._inside_of_transform(tensor)  # type: ignore[return-value]
        with DisableTorchFunctionSubclass():
            return self.fake_tensor_converter.from_real_tensor(self, tensor)

    def _inside_of_transform(self, tensor: Tensor) -> Tensor:
        """What the function transform has wrapped is fake, and wrapped as before."""
        level = _C._level_of(tensor)
        value = self.from_tensor(_C._inside(tensor))
        if _C._is_batch(tensor):
            return _C._wrap_batch(value, level)  # type: ignore[no-any-return]
        tangent = _C._tangent(tensor)
        fake_tangent = None if tangent is None else self.from_tensor(tangent)
        return _C._wrap_dual(value, fake_tangent, level)  # type: ignore[no-any-return]

    # A call

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not all_known(types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            return self._call(func, args, kwargs or {})

    def _call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if func is ops.aten.lift_fresh.default and not isinstance(args[0], FakeTensor):
            return self._lifted(args[0])

        args, kwargs = self._converted(func, args, kwargs)
        if func._fake_rule is not None:
            with self:
                return func._fake_rule(*args, **kwargs)
        device = with_index(self._device_of_result(func, args, kwargs))
        known = self._from_constants(func, args, kwargs) if device.type == "cpu" else None
        if known is not None:
            return known

        twins: dict[int, FakeTensor] = {}
        result = run(func, *on_meta(func, args, kwargs, twins))
        self._after_writes(func, args, kwargs)

        def wrapped(twin: Tensor) -> FakeTensor:
            same = twins.get(id(twin))
            return self._wrap(twin, device) if same is None else same

        return map_tensors(result, wrapped)

    def _wrap(self, twin: Tensor, device: Any) -> FakeTensor:
        return FakeTensor(self, twin, device)

    def _converted(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments with a fake tensor for each real one."""

        def fake(tensor: Tensor) -> Tensor:
            if isinstance(tensor, FakeTensor):
                if tensor.fake_mode is not self:
                    raise AssertionError(f"Mixing fake modes NYI: {func} got a tensor of {tensor.fake_mode}")
                return tensor
            if not self.allow_non_fake_inputs:
                raise AssertionError(
                    "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
                    f"'allow_non_fake_inputs'. Found in {func}({_described(args, kwargs)})"
                )
            return self.from_tensor(tensor)

        return (
            tuple(map_tensors(value, fake) for value in args),
            {name: map_tensors(value, fake) for name, value in kwargs.items()},
        )

    def _device_of_result(self, func: Any, args: Any, kwargs: Any) -> Any:
        common = common_device(func, args, kwargs)
        asked = device_argument(func)
        if asked is not None:
            position, name = asked
            given = args[position] if 0 <= position < len(args) else kwargs.get(name)
            if given is not None:
                return given
            if is_factory(func):
                return "cpu"
        return common if common is not None else "cpu"

    # Constants

    def _lifted(self, tensor: Tensor) -> FakeTensor:
        """The fake tensor of numbers of the program, which it remembers if there is only one."""
        with unseen():
            fake = self._wrap(self.fake_tensor_converter.twin_of(tensor), tensor.device)
            self.fake_tensor_converter.keep_memory(tensor)
            if tensor.numel() <= CONSTANT_NUMEL_LIMIT:
                self._remember(fake, tensor)
        return fake

    def _remember(self, fake: FakeTensor, constant: Tensor) -> None:
        fake.constant = constant
        self._constants.setdefault(constant.untyped_storage()._cdata, []).append(weakref.ref(fake))

    def _from_constants(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The result of a call whose tensors are all constants; None for others, or if it is too large."""
        fakes = tensors_in(args, kwargs)
        if not fakes or "nondeterministic_seeded" in func.tags:
            return None
        if any(fake.constant is None for fake in fakes):
            return None

        real_args = tuple(map_tensors(value, _constant_of) for value in args)
        real_kwargs = {name: map_tensors(value, _constant_of) for name, value in kwargs.items()}
        with unseen():
            result = func(*real_args, **real_kwargs)

        # What is written to, the call on the twins returns.
        is_small = all(tensor.numel() <= CONSTANT_NUMEL_LIMIT for tensor in tensors_in((result,), {}))
        return map_tensors(result, self._lifted) if is_small and not func._schema.is_mutable else None

    def _after_writes(self, func: Any, args: Any, kwargs: Any) -> None:
        """Follows what an operator did to the twins of the tensors that it writes to."""
        schema = func._schema
        if not schema.is_mutable:
            return
        all_constant = all(fake.constant is not None for fake in tensors_in(args, kwargs))
        for position, argument in enumerate(schema.arguments):
            if not argument.is_write:
                continue
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            for fake in tensors_in((value,), {}):
                if not all_constant:
                    self._forget_constant(fake)
                fake._take_geometry(fake._twin)

    def _forget_constant(self, fake: FakeTensor) -> None:
        """Also of the tensors that share its memory."""
        if fake.constant is None:
            return
        for reference in self._constants.pop(fake.constant.untyped_storage()._cdata, []):
            other = reference()
            if other is not None:
                other.constant = None


# Values of calls: tensors, lists of them, and others


def _constant_of(fake: Any) -> Any:
    return fake.constant


def _twin_like(tensor: Any) -> Tensor:
    with unseen():
        twin: Any = _C._torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device="meta")
    return twin  # type: ignore[no-any-return]


def _described(args: Any, kwargs: Any) -> str:
    def text(value: Any) -> str:
        real = isinstance(value, Tensor) and not isinstance(value, FakeTensor)
        return f"tensor([...], size={tuple(value.shape)})" if real else str(value)

    return ", ".join([*(text(value) for value in args), *(f"{k}={text(v)}" for k, v in kwargs.items())])


def is_fake(x: Any) -> bool:
    """Whether `x` is a fake tensor."""
    return isinstance(x, FakeTensor)


def maybe_get_fake_mode(t: Any) -> FakeTensorMode | None:
    """The mode of a fake tensor; None for other objects."""
    return t.fake_mode if isinstance(t, FakeTensor) else None


@contextlib.contextmanager
def unset_fake_temporarily() -> Iterator[FakeTensorMode | None]:
    """Leaves the fake modes of this thread for a while; gives the innermost of them."""
    modes = _get_current_dispatch_mode_stack()
    fake = [mode for mode in modes if isinstance(mode, FakeTensorMode)]
    with _disable_current_modes():
        for mode in modes:
            if mode not in fake:
                mode.__enter__()
        try:
            yield fake[-1] if fake else None
        finally:
            for mode in reversed(modes):
                if mode not in fake:
                    mode.__exit__(None, None, None)


__getattr__ = _lacking(__name__)
