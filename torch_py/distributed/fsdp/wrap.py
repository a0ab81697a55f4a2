"""Which submodules get a wrapper of their own."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.nn.modules.activation import MultiheadAttention
from torch_py.nn.modules.container import ModuleDict, ModuleList
from torch_py.nn.modules.module import Module

__all__ = [
    "CustomPolicy",
    "ModuleWrapPolicy",
    "always_wrap_policy",
    "enable_wrap",
    "lambda_auto_wrap_policy",
    "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy",
    "wrap",
]


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Wraps every submodule."""
    return True


def lambda_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable[[Module], bool]
) -> bool:
    """Wraps the submodules for which `lambda_fn` is true."""
    return True if recurse else lambda_fn(module)


def transformer_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, transformer_layer_cls: Iterable[type[Module]]
) -> bool:
    """Wraps the submodules of some types."""
    return _module_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls)


def _module_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, module_classes: Iterable[type[Module]]
) -> bool:
    return True if recurse else isinstance(module, tuple(module_classes))


def size_based_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = int(1e8),
    force_leaf_modules: set[type[Module]] | None = None,
    exclude_wrap_modules: set[type[Module]] | None = None,
) -> bool:
    """Wraps submodules with at least `min_num_params` elements that are not in wrappers inside them."""
    leaves = (
        size_based_auto_wrap_policy.FORCE_LEAF_MODULES if force_leaf_modules is None else force_leaf_modules
    )  # type: ignore[attr-defined]
    excluded = size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES  # type: ignore[attr-defined]
    excluded = excluded if exclude_wrap_modules is None else exclude_wrap_modules

    large = nonwrapped_numel >= min_num_params
    return large and not isinstance(module, tuple(leaves if recurse else excluded))


size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = {ModuleList, ModuleDict}  # type: ignore[attr-defined]
size_based_auto_wrap_policy.FORCE_LEAF_MODULES = {MultiheadAttention}  # type: ignore[attr-defined]


def _or_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, policies: Sequence[Callable[..., bool]]
) -> bool:
    """Wraps the submodules that one of `policies` wraps."""
    return any(
        policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel) for policy in policies
    )


class _Policy(ABC):
    """Says for each submodule whether to wrap it, and with which options."""

    @abstractmethod
    def _options(self, module: Module) -> dict[str, Any] | None:
        """Options for the wrapper, or None to leave the module."""


class ModuleWrapPolicy(_Policy):
    """Wraps the submodules of some types."""

    def __init__(self, module_classes: Iterable[type[Module]]) -> None:
        self._module_classes = set(module_classes)

    def _options(self, module: Module) -> dict[str, Any] | None:
        return {} if isinstance(module, tuple(self._module_classes)) else None

    def __call__(self, module: Module, recurse: bool, *args: Any, **kwargs: Any) -> bool:
        return _module_wrap_policy(module, recurse, -1, self._module_classes)

    def __repr__(self) -> str:
        return f"{super().__repr__()}({self._module_classes})"


class CustomPolicy(_Policy):
    """Wraps the submodules for which `lambda_fn` is true or a dict of options for the wrapper."""

    def __init__(self, lambda_fn: Callable[[Module], bool | dict[str, Any]]) -> None:
        self._lambda_fn = lambda_fn

    def _options(self, module: Module) -> dict[str, Any] | None:
        answer = self._lambda_fn(module)
        if not isinstance(answer, (bool, dict)):
            raise ValueError(
                "The lambda_fn passed to CustomPolicy should return False/True or a kwarg dict, but it "
                f"returned {answer}"
            )
        return (answer if isinstance(answer, dict) else {}) if answer else None


# The wrapper of the innermost `enable_wrap` block, with its options.
_wrappers: list[Callable[[Module], Module]] = []


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls: Any, **wrapper_kwargs: Any) -> Iterator[None]:
    """Inside the block, `wrap` puts `wrapper_cls(module, **wrapper_kwargs)` around modules."""
    _wrappers.append(partial(wrapper_cls, **wrapper_kwargs))
    try:
        yield
    finally:
        _wrappers.pop()


def wrap(module: Module, **wrap_overrides: Any) -> Module:
    """`module` in the wrapper of the `enable_wrap` block; outside of one, `module` itself."""
    return _wrappers[-1](module, **wrap_overrides) if _wrappers else module


def wrap_submodules(
    root: Module, policy: Any, wrapper: Callable[..., Module], ignored: Sequence[Module] = ()
) -> None:
    """Wraps the submodules of `root` that `policy`, a function or a policy object, chooses."""
    left_out = {inner for module in ignored for inner in module.modules()}
    for name, child in list(root.named_children()):
        if child in left_out:
            continue
        if isinstance(policy, _Policy):
            wrap_submodules(child, policy, wrapper, ignored)
            options = policy._options(child)
            if options is not None:
                setattr(root, name, wrapper(child, **options))
        else:
            setattr(root, name, _wrapped_by_size(child, policy, wrapper, ignored))


def _unwrapped_elements(module: Module, wrapper: Callable[..., Module]) -> int:
    """The elements of parameters of `module` that are not inside a wrapper."""
    kind = wrapper.func if isinstance(wrapper, partial) else wrapper
    if isinstance(kind, type) and isinstance(module, kind):
        return 0
    own = sum(parameter.numel() for parameter in module.parameters(recurse=False))
    return own + sum(_unwrapped_elements(child, wrapper) for child in module.children())


def _wrapped_by_size(
    module: Module, policy: Callable[..., bool], wrapper: Callable[..., Module], ignored: Sequence[Module]
) -> Module:
    elements = _unwrapped_elements(module, wrapper)
    if policy(module=module, recurse=True, nonwrapped_numel=elements):
        wrap_submodules(module, policy, wrapper, ignored)
        elements = _unwrapped_elements(module, wrapper)
    return wrapper(module) if policy(module=module, recurse=False, nonwrapped_numel=elements) else module


__getattr__ = _lacking(__name__)
