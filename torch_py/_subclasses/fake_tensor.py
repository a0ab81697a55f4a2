"""`FakeTensorMode`: calls compute shapes, dtypes and devices, and no elements.

A fake tensor is an instance of a class without memory that has a device, which need not exist, and next to it
a *twin*: a meta tensor of the same geometry. The mode receives every operator call (see `TorchDispatchMode`),
runs the Meta kernel on the twins and wraps what it returns. Views of fake tensors have twins that are views.
Autograd and composites are above the mode and do not know of it; what they allocate comes as calls, too
(Note [Allocations seen by modes] in aten/core/Allocation.h).
"""

from __future__ import annotations

import contextlib
import copy
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from torch_py import _C
from torch_py._ops import ops
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._subclasses.converter import FakeTensorConverter
from torch_py._subclasses.devices import (
    META,
    common_device,
    device_argument,
    is_factory,
    with_index,
)
from torch_py._subclasses.errors import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorDeviceMismatchError,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from torch_py._subclasses.unseen import unseen
from torch_py._tensor import Tensor
from torch_py._tensor_str import _append, _autograd_suffixes
from torch_py._torch_function import DisableTorchFunctionSubclass
from torch_py.nn.parameter import Buffer, Parameter
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

# What asking a meta tensor for its elements says.
_NO_DATA = ("Cannot copy out of meta tensor", "Tensor.item() cannot be called on meta tensors")


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

    fake_mode: Any = None
    constant: Tensor | None = None
    _twin: Tensor

    @staticmethod
    def __new__(
        cls, fake_mode: FakeTensorMode, elem: Tensor, device: Any, constant: Tensor | None = None
    ) -> FakeTensor:
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
    def from_tensor(t: Tensor, fake_mode: FakeTensorMode) -> FakeTensor:
        """See :meth:`FakeTensorMode.from_tensor`."""
        return fake_mode.from_tensor(t)

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
        if not _all_known(types):
            return NotImplemented
        mode = _mode_in((args, kwargs))
        assert mode is not None
        with mode:
            return func(*args, **(kwargs or {}))

    # Memory

    @property
    def data(self) -> Any:
        """The same fake memory without history."""
        return Tensor.data.__get__(self)  # type: ignore[attr-defined]

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

    def set_(self, *source: Any) -> FakeTensor:
        """Stands for a tensor on the fake memory of another one from now on."""
        if source and isinstance(source[0], FakeTensor):
            source = (source[0]._twin, *source[1:])
        with unseen():
            self._twin.set_(*source)  # type: ignore[attr-defined]
        self.constant = None
        self._take_geometry(self._twin)  # type: ignore[attr-defined]
        return self

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
        with DisableTorchFunctionSubclass():
            prefix = "Parameter(FakeTensor(" if isinstance(self, Parameter) else "FakeTensor("
            suffixes = [f"device='{self.device}'"] if self.device.type != "cpu" else []
            suffixes.append(f"size={tuple(self.shape)}")
            if self.dtype != _C.get_default_dtype():
                suffixes.append(f"dtype={self.dtype}")
            text = _append(f"{prefix}...", suffixes + _autograd_suffixes(self), len(prefix))
        return text + ")" if prefix.startswith("Parameter") else text


class FakeTensorMode(TorchDispatchMode):
    """Inside ``with mode:``, every call returns fake tensors: with the shape, strides, dtype and device that
    the call would give, and without memory or computation. Backward gives fake gradients.

    :meth:`from_tensor` makes fake tensors of real ones. A call that meets a real tensor raises
    AssertionError, unless `allow_non_fake_inputs`, which converts it. `allow_fallback_kernels` has no effect:
    all operators have rules for shapes. Sizes are numbers, so `shape_env` must be None.

        with FakeTensorMode():
            layer = torch.nn.Linear(1_000_000, 1_000_000, device="cuda")
            print(layer(torch.ones(8, 1_000_000, device="cuda")))
            # FakeTensor(..., device='cuda:0', size=(8, 1000000), grad_fn=<AddmmBackward0>)
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
        with DisableTorchFunctionSubclass():
            return self.fake_tensor_converter.from_real_tensor(self, tensor)

    # A call

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not _all_known(types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            return self._call(func, args, kwargs or {})

    def _call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if func is ops.aten.lift_fresh.default and not isinstance(args[0], FakeTensor):
            return self._lifted(args[0])

        args, kwargs = self._converted(func, args, kwargs)
        known = self._from_constants(func, args, kwargs)
        if known is not None:
            return known

        device = self._device_of_result(func, args, kwargs)
        twins: dict[int, FakeTensor] = {}
        result = _run(func, *_on_meta(func, args, kwargs, twins))
        self._after_writes(func, args, kwargs)

        def wrapped(twin: Tensor) -> FakeTensor:
            same = twins.get(id(twin))
            return self._wrap(twin, device) if same is None else same

        return _map_tensors(result, wrapped)

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
            tuple(_map_tensors(value, fake) for value in args),
            {name: _map_tensors(value, fake) for name, value in kwargs.items()},
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
            if tensor.numel() <= CONSTANT_NUMEL_LIMIT:
                self._remember(fake, tensor)
        return fake

    def _remember(self, fake: FakeTensor, constant: Tensor) -> None:
        fake.constant = constant
        self._constants.setdefault(constant.untyped_storage()._cdata, []).append(weakref.ref(fake))

    def _from_constants(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The result of a call whose tensors are all constants; None for others, or if it is too large."""
        fakes = _tensors_in(args, kwargs)
        if not fakes or "nondeterministic_seeded" in func.tags:
            return None
        if any(fake.constant is None or fake.device.type != "cpu" for fake in fakes):
            return None

        written = func._schema.is_mutable
        real_args, real_kwargs = (
            tuple(_map_tensors(value, _constant_of) for value in args),
            {name: _map_tensors(value, _constant_of) for name, value in kwargs.items()},
        )
        with unseen():
            try:
                result = func(*real_args, **real_kwargs)
            except NotImplementedError:
                return None  # as on a device that does not exist
        if written or any(tensor.numel() > CONSTANT_NUMEL_LIMIT for tensor in _tensors_in((result,), {})):
            return None
        if any(tensor.device.type != "cpu" for tensor in _tensors_in((result,), {})):
            return None
        return _map_tensors(result, self._lifted)

    def _after_writes(self, func: Any, args: Any, kwargs: Any) -> None:
        """Follows what an operator did to the twins of the tensors that it writes to."""
        schema = func._schema
        if not schema.is_mutable:
            return
        all_constant = all(fake.constant is not None for fake in _tensors_in(args, kwargs))
        for position, argument in enumerate(schema.arguments):
            if not argument.is_write:
                continue
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            for fake in _tensors_in((value,), {}):
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


def _map_tensors(value: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_map_tensors(item, function) for item in value)
    return value


def _tensors_in(args: Any, kwargs: Any) -> list[Any]:
    found: list[Any] = []
    for value in (*args, *kwargs.values()):
        _map_tensors(value, lambda tensor: found.append(tensor) or tensor)
    return found


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


# The call on the meta device


def _on_meta(func: Any, args: Any, kwargs: Any, twins: dict[int, FakeTensor]) -> tuple[Any, Any]:
    """The arguments with twins in the place of fake tensors, and the meta device in the place of others."""

    def twin(fake: FakeTensor) -> Tensor:
        twin = fake._twin
        twins[id(twin)] = fake
        # Derivatives that compute several gradients ask which of them are wanted.
        if twin.requires_grad is not fake.requires_grad and twin.is_leaf:
            twin.requires_grad_(fake.requires_grad)
        return twin

    args = [_map_tensors(value, twin) for value in args]
    kwargs = {name: _map_tensors(value, twin) for name, value in kwargs.items()}
    kwargs.pop("pin_memory", None)  # the meta device has no memory to pin

    asked = device_argument(func)
    if asked is not None:
        position, name = asked
        if 0 <= position < len(args):
            args[position] = args[position] and META
        elif kwargs.get(name) is not None or is_factory(func):
            kwargs[name] = META
    return args, kwargs


def _run(func: Any, args: Any, kwargs: Any) -> Any:
    with unseen():
        try:
            return func(*args, **kwargs)
        except (NotImplementedError, RuntimeError) as error:
            if not _asks_for_elements(func, error):
                raise
            returns_tensors = any(value.type.startswith("Tensor") for value in func._schema.returns)
            kind = DynamicOutputShapeException if returns_tensors else DataDependentOutputException
            raise kind(func) from None


def _asks_for_elements(func: Any, error: Exception) -> bool:
    text = str(error)
    return func._structure == "dynamic" or text.startswith(_NO_DATA) or "from the 'Meta' backend" in text


def _all_known(types: Any) -> bool:
    return all(issubclass(kind, (FakeTensor, Parameter, Buffer)) or kind is Tensor for kind in types)


# Modes of tensors


def _mode_in(values: Any) -> FakeTensorMode | None:
    if isinstance(values, FakeTensor):
        return values.fake_mode
    if isinstance(values, dict):
        values = values.values()
    elif not isinstance(values, (tuple, list)):
        return None
    return next((mode for value in values if (mode := _mode_in(value)) is not None), None)


def _entered_for(values: Any) -> contextlib.AbstractContextManager[Any]:
    """The mode of the fake tensors among `values`, unless this thread is in a fake mode already."""
    if any(isinstance(mode, FakeTensorMode) for mode in _get_current_dispatch_mode_stack()):
        return contextlib.nullcontext()
    mode = _mode_in(values)
    return contextlib.nullcontext() if mode is None else mode


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
