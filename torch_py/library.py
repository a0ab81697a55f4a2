"""Operators written in Python: called as `torch.ops.NAMESPACE.NAME`, with kernels by device, rules for
tensors without elements, a gradient, rules for batches and automatic dtypes.

They are entries of the dispatcher like torch_py's own operators, which come from native_functions.yaml (or
`torch.utils.build_operators`): modes, fake tensors, transforms and the profiler see both in the same way.
``Library("aten", "IMPL")`` puts a Python function in the place of one of torch_py's own kernels.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from torch_py._custom_ops.checks import check
from torch_py._custom_ops.custom_op import CustomOpDef
from torch_py._custom_ops.inference import infer_schema
from torch_py._custom_ops.kernels import fallthrough_kernel
from torch_py._custom_ops.keys import checked_key, key_of_device
from torch_py._custom_ops.registry import any_operator_of, declare, find, forget, operator_of, register
from torch_py._custom_ops.rules import set_autocast, set_autograd, set_fake, set_torch_dispatch, set_vmap
from torch_py._dispatch_keys import keys_named
from torch_py._ops import OpOverload, find_operator
from torch_py._pytorch_names.packages import lacking as _lacking

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = (),
) -> Any:
    """Makes a function the operator `name` ("namespace::name"); a decorator when `fn` is left out.

    The schema is read from the annotations unless given. The function must not return its arguments or views
    of them, and may write to the arguments `mutates_args` only. Raises ValueError for a bad name or
    annotation.

        @torch.library.custom_op("mine::scale", mutates_args=())
        def scale(x: torch.Tensor, factor: float = 2.0) -> torch.Tensor:
            return torch.from_numpy(x.numpy() * factor)

        @scale.register_fake
        def _(x, factor=2.0):
            return torch.empty_like(x)
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        operator = CustomOpDef(name, text, function, tags or ())
        operator.register_kernel(device_types, function)
        return operator

    return make if fn is None else make(fn)


def triton_op(
    name: str, fn: Any = None, /, *, mutates_args: str | Iterable[str], schema: str | None = None
) -> Any:
    """As `custom_op`."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel: Any, /) -> Any:
    """Returns the kernel unchanged; only a tracer would need it."""
    return triton_kernel


def define(qualname: Any, schema: Any, *rest: Any, lib: Any = None, tags: Any = ()) -> Any:
    """Declares operator `qualname` with `schema`, "(Tensor x, int n) -> Tensor", without kernels yet.

    ``define(lib, schema)`` is an older spelling of ``lib.define(schema)``, a decorator for the kernel.
    """
    if isinstance(qualname, Library):
        name = qualname.define(schema, *rest)
        return lambda function: qualname.impl(name, function) or function
    if not isinstance(qualname, str):
        raise ValueError(
            f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}"
        )

    operator = declare(f"{qualname}{schema}", tags)
    if lib is not None:
        lib._defined.append(operator)


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Any = None) -> Any:
    """Registers a kernel for device types ("cpu", "default" for all); a decorator without `func`.

    ``impl(lib, name, dispatch_key)`` is an older spelling of ``lib.impl(name, function, dispatch_key)``.
    """
    if isinstance(qualname, Library):
        return lambda function: qualname.impl(types, function, func or "") or function
    names = [types] if isinstance(types, str) else list(types)

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        undo = register(find(qualname), map(key_of_device, names), function)
        if lib is not None:
            lib._undo.extend(undo)
        return function

    return add if func is None else add(func)


def register_kernel(
    op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None
) -> Any:
    """As `impl`, for a name or what `custom_op` returned; `device_types` of None stands for all devices."""
    if isinstance(op, CustomOpDef):
        return op.register_kernel(device_types, func)
    operator = operator_of(op, "register_kernel")
    return impl(operator.name(), "default" if device_types is None else device_types, func, lib=lib)


def register_fake(
    op: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Any = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> Any:
    """Registers what the operator does with tensors that have no elements, as those of the meta device and
    fake tensors: it computes the shapes, dtypes and devices of results, by calls such as `torch.empty_like`.

    A decorator without `func`.
    """

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        set_fake(operator_of(op, "register_fake"), function)
        return function

    return add if func is None else add(func)


impl_abstract = register_fake


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:
    """The gradient: ``backward(ctx, *grads)`` returns one for each argument;
    ``setup_context(ctx, inputs, output)`` saves for it. Keyword-only arguments come as
    ``keyword_only_inputs``, a dict."""
    set_autograd(operator_of(op, "register_autograd"), backward, setup_context)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Any = None) -> Any:
    """Inside ``torch.autocast(device_type)``, the floating-point arguments on that device are converted to
    the dtype `cast_inputs`, and the operator runs outside of autocast. float64 is left alone.

    Raises ValueError for device types other than "cpu" and "cuda".
    """
    return set_autocast(operator_of(op, "register_autocast"), device_type, cast_inputs)


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """The rule for `torch.vmap`: ``func(info, in_dims, *args, **kwargs)`` gets the arguments of all members
    and returns the results and the positions of the batch dimension in them. `in_dims` are its positions in
    the arguments, None for those without; `info` has `batch_size` and `randomness`.

    Without a rule, the operator is called for one member after another. A decorator without `func`.
    """

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        set_vmap(operator_of(op, "register_vmap"), function)
        return function

    return add if func is None else add(func)


def register_torch_dispatch(
    op: Any, torch_dispatch_class: type, func: Callable[..., Any] | None = None, /, *, lib: Any = None
) -> Any:
    """Handles the calls of one operator in place of the `__torch_dispatch__` of a mode's or a tensor's class:
    ``func(mode or class, operator, types, args, kwargs)``. A decorator without `func`."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        set_torch_dispatch(operator_of(op, "register_torch_dispatch"), torch_dispatch_class, function)
        return function

    return add if func is None else add(func)


def get_ctx() -> NoReturn:
    """Raises NotImplementedError: only a tracer needs sizes known at run time."""
    raise RuntimeError(
        "torch.library.get_ctx() can only be called inside of a fake impl that is being traced; torch_py "
        "does not trace"
    )


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Iterable[str] = (
        "test_schema",
        "test_autograd_registration",
        "test_faketensor",
        "test_aot_dispatch_dynamic",
    ),
    raise_exception: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
) -> dict[str, Any]:
    """Calls the operator and checks that what was registered for it fits: its schema, which says what it
    writes to and which results share memory; its gradient, against finite differences in float64; and its
    results for fake tensors, which must be those of real ones in shape, dtype, strides and device.

    `op` is any operator: one that a program has declared, one of a package, one of torch_py.

    Returns "SUCCESS" or the problem for each check. Raises AssertionError for the first problem, unless
    `raise_exception` is false.
    """
    operator = any_operator_of(op, "opcheck")
    names = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    return check(operator, args, kwargs or {}, names, raise_exception, {"rtol": rtol, "atol": atol})


def _take_back(defined: list[OpOverload], undo: list[Callable[[], None]]) -> None:
    """Ends a library: its operators are gone, and kernels that it replaced serve again."""
    for operator in defined:
        forget(operator)
    defined.clear()
    for take_back in reversed(undo):
        take_back()
    undo.clear()


class Library:
    """Operators of namespace `ns`: "DEF" declares them, "FRAGMENT" adds to them, "IMPL" registers kernels.

    The operators that it declares, and the kernels that it registers, exist as long as it does.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Unsupported library kind: {kind}")
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._defined: list[OpOverload] = []
        self._undo: list[Callable[[], None]] = []
        weakref.finalize(self, _take_back, self._defined, self._undo).atexit = False

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declares an operator, "name(Tensor x) -> Tensor"; returns its name."""
        operator = declare(f"{self.ns}::{schema}", tags)
        self._defined.append(operator)
        return operator.name()

    def impl(
        self,
        op_name: Any,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Registers a kernel under a dispatch key, or a name that stands for several: of a device, "Meta"
        (tensors without elements), "Autograd" (the gradient), "AutocastCPU" (inside torch.autocast),
        "CompositeExplicitAutograd" (every device), "CompositeImplicitAutograd" (a composition of other
        operators; the default). With `with_keyset`, `fn` receives the keys of the call first.

        For an operator of torch_py itself, `fn` takes the place of its kernel for the key.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        op = getattr(op_name, "_opoverload", op_name)
        name = op.name() if isinstance(op, OpOverload) else str(op)
        qualified = name if "::" in name else f"{self.ns}::{name}"
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"

        if qualified.startswith("aten::"):
            self._undo += _replace_own(qualified.removeprefix("aten::"), fn, key, with_keyset)
        else:
            self._undo += register(find(qualified), [checked_key(key)], fn, with_keyset)

    def _register_fake(self, op_name: str, fn: Callable[..., Any], **options: Any) -> None:
        register_fake(f"{self.ns}::{op_name}", fn)

    def _destroy(self) -> None:
        """Takes back what `define` declared and `impl` registered, as the end of the library does."""
        _take_back(self._defined, self._undo)


def _replace_own(
    name: str, function: Callable[..., Any], key: str, takes_keys: bool
) -> list[Callable[[], None]]:
    """Puts a function in the place of kernels of torch_py's own operator; returns what takes it back."""
    overload = find_operator(name.removesuffix(".default"))
    if overload is None:
        raise RuntimeError(f"operator aten::{name} does not exist")

    undo: list[Callable[[], None]] = []
    for one in keys_named(key):
        overload._set_python_kernel(one, function, takes_keys)
        undo.append(lambda one=one: overload._set_python_kernel(one, None))  # type: ignore[misc]
    return undo


__getattr__ = _lacking(__name__)
