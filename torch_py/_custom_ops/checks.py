"""`torch.library.opcheck`: whether what a program says of an operator fits what the operator does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._custom_ops.aliases import check_aliases
from torch_py._custom_ops.gradient_check import check_gradient
from torch_py._custom_ops.registry import is_declared_in_python, kernels_of
from torch_py._dispatch_keys import BelowAutograd
from torch_py._ops import OpOverload
from torch_py._tensor import Tensor
from torch_py.utils._pytree import tree_leaves, tree_map

Check = Callable[[OpOverload, Any, Any, dict[str, Any]], None]


class OpCheckError(AssertionError):
    """A check of `torch.library.opcheck` found a problem."""


def check(
    operator: OpOverload,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    names: tuple[str, ...],
    raises: bool,
    tolerance: dict[str, Any],
) -> dict[str, Any]:
    """The result of each check by name: "SUCCESS", or the exception."""
    unknown = set(names) - set(_CHECKS)
    if unknown:
        raise ValueError(f"opcheck: unknown test_utils {sorted(unknown)}; there are {list(_CHECKS)}")

    results: dict[str, Any] = {}
    for name in names:
        try:
            _CHECKS[name](operator, _copied(args), _copied(kwargs), tolerance)
            results[name] = "SUCCESS"
        except Exception as problem:
            if raises:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {problem}") from problem
            results[name] = problem
    return results


def _copied(tree: Any) -> Any:
    def copy(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        return leaf.detach().clone().requires_grad_(leaf.requires_grad)

    return tree_map(copy, tree)


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _check_schema(operator: OpOverload, args: Any, kwargs: Any, tolerance: dict[str, Any]) -> None:
    """Arguments change, and share memory with results, only where the schema says so."""
    before = _copied((args, kwargs))
    versions = {id(tensor): tensor._version for tensor in _tensors((args, kwargs))}
    with BelowAutograd():
        results = operator(*args, **kwargs)
    check_aliases(operator, results, args, kwargs)

    for position, argument in enumerate(operator._schema.arguments):
        given, was = (
            values[0][position] if position < len(values[0]) else values[1].get(argument.name)
            for values in ((args, kwargs), before)
        )
        if argument.is_write:
            continue
        for now, then in zip(_tensors(given), _tensors(was)):
            # A write of equal values leaves the bits alone; one from outside of torch leaves the version.
            if now._version != versions[id(now)] or not _same_bits(now.detach(), then.detach()):
                raise RuntimeError(f"Argument {argument.name} is not defined as mutable but was mutated")


def _same_bits(now: Tensor, then: Tensor) -> bool:
    """Whether two tensors are equal, NaN and the signs of zeros included."""
    if now.shape != then.shape or now.layout is not _C.strided:
        return bool(now.shape == then.shape)
    if now.is_complex():
        now, then = _C._torch.view_as_real(now), _C._torch.view_as_real(then)
    return bool(_C._torch.equal(_bytes_of(now), _bytes_of(then)))


def _bytes_of(tensor: Tensor) -> Tensor:
    return tensor.contiguous().view(-1).view(_C.uint8)


def _check_autograd(operator: OpOverload, args: Any, kwargs: Any, tolerance: dict[str, Any]) -> None:
    """A gradient is recorded by a kernel for autograd, not by what the kernel of the device calls, and agrees
    with finite differences."""
    if not any(tensor.requires_grad for tensor in _tensors((args, kwargs))):
        return
    if not is_declared_in_python(operator):
        return check_gradient(operator, args, kwargs)

    kernels = kernels_of(operator)
    if kernels.has("Autograd") or kernels.has("CompositeImplicitAutograd"):
        return check_gradient(operator, args, kwargs)
    results = operator(*args, **kwargs)
    if any(tensor.requires_grad for tensor in _tensors(results)):
        raise AssertionError(
            f"{operator} has no kernel for autograd, and its results require grad: the graph that its kernel "
            "happens to record is lost wherever calls are seen as a whole. Use "
            "torch.library.register_autograd"
        )


def _check_fake(operator: OpOverload, args: Any, kwargs: Any, tolerance: dict[str, Any]) -> None:
    """Fake tensors get results of the same shape, dtype, strides and device."""
    # Imported on first use: fake tensors are above operators.
    from torch_py._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode()
    fake_args, fake_kwargs = tree_map(
        lambda leaf: mode.from_tensor(leaf) if isinstance(leaf, Tensor) else leaf, (args, kwargs)
    )
    with mode:
        fake = _tensors(operator(*fake_args, **fake_kwargs))
    real = _tensors(operator(*args, **kwargs))

    if len(fake) != len(real):
        raise AssertionError(f"{operator} returned {len(real)} tensors, and its register_fake {len(fake)}")
    for expected, got in zip(real, fake):
        for what in ("shape", "dtype", "device", "layout"):
            if getattr(expected, what) != getattr(got, what):
                raise AssertionError(
                    f"{operator} returned a tensor of {what} {getattr(expected, what)}, its register_fake "
                    f"one of {getattr(got, what)}"
                )
        if expected.stride() != got.stride() and expected.numel() > 0:
            raise AssertionError(
                f"{operator} returned a tensor with strides {expected.stride()}, its register_fake one with "
                f"{got.stride()}"
            )


def _check_recording(operator: OpOverload, args: Any, kwargs: Any, tolerance: dict[str, Any]) -> None:
    """A recorded call, run again, gives the same results."""
    # Imported on first use: graphs are above operators.
    from torch_py.fx.experimental.proxy_tensor import make_fx
    from torch_py.testing import assert_close

    if operator._schema.is_mutable:
        return

    given = _tensors((args, kwargs))

    def call(*tensors: Any) -> Any:
        items = iter(tensors)
        own_args, own_kwargs = tree_map(
            lambda leaf: next(items) if isinstance(leaf, Tensor) else leaf, (args, kwargs)
        )
        return operator(*own_args, **own_kwargs)

    recorded = make_fx(call, tracing_mode="fake")(*given)
    state = _C.default_generator.get_state()
    found = _tensors(recorded(*given))
    _C.default_generator.set_state(state)
    expected = _tensors(call(*given))

    tolerances = {name: value for name, value in tolerance.items() if value is not None}
    assert_close(found, expected, equal_nan=True, **tolerances)


_CHECKS: dict[str, Check] = {
    "test_schema": _check_schema,
    "test_autograd_registration": _check_autograd,
    "test_faketensor": _check_fake,
    "test_aot_dispatch_dynamic": _check_recording,
}
