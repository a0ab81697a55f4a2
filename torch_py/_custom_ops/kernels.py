"""Which Python functions serve the dispatch keys of an operator that is declared in Python.

A program registers a function for a key, or for a group of keys: "CompositeExplicitAutograd" serves every
device, "CompositeImplicitAutograd" is made of other operators and also serves autograd and whoever looks at
calls, "Autograd" records the gradient on every device. A key of its own comes before groups, in this order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torch_py._custom_ops.aliases import check_aliases
from torch_py._custom_ops.keys import AUTOGRAD, BACKENDS
from torch_py._dispatch_keys import DispatchKey
from torch_py._ops import OpOverload


def fallthrough_kernel(*arguments: Any, **keywords: Any) -> None:
    """Registered as a kernel: calls pass over the key. Raises NotImplementedError when it is called."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class Kernel(NamedTuple):
    function: Callable[..., Any]
    takes_keys: bool = False


class Kernels:
    """The functions that are registered for one operator."""

    def __init__(self, operator: OpOverload) -> None:
        self.operator = operator
        self._given: dict[str, Kernel] = {}  # by the name of a key or of a group

    def has(self, name: str) -> bool:
        return name in self._given

    def set(self, name: str, function: Callable[..., Any], takes_keys: bool = False) -> None:
        self._given[name] = Kernel(function, takes_keys)
        self._refresh()

    def remove(self, name: str, function: Callable[..., Any]) -> None:
        """Takes a registration back, unless another one has replaced it."""
        if name in self._given and self._given[name].function is function:
            del self._given[name]
            self._refresh()

    def _refresh(self) -> None:
        for key in DispatchKey:
            if key.name in ("Undefined", "Profiler"):
                continue
            kernel = self._serving(key)
            if kernel is not None and kernel.function is fallthrough_kernel:
                kernel = None
            if kernel is not None and self._computes(key, kernel):
                kernel = self._with_new_results(kernel)
            function, takes_keys = kernel or (None, False)
            if function is not None or self.operator.has_kernel_for_dispatch_key(key):
                self.operator._set_python_kernel(key, function, takes_keys)

    def _computes(self, key: DispatchKey, kernel: Kernel) -> bool:
        """Whether a kernel makes the results of a device. One that is made of other operators may return an
        argument: whoever looks at calls sees those."""
        if key not in BACKENDS or key is DispatchKey.Meta:
            return False
        return kernel in (self._given.get(key.name), self._given.get("CompositeExplicitAutograd"))

    def _with_new_results(self, kernel: Kernel) -> Kernel:
        """The kernel, whose results must not share memory where the schema does not say so."""
        operator, function = self.operator, kernel.function

        def checked(*args: Any, **kwargs: Any) -> Any:
            results = function(*args, **kwargs)
            check_aliases(operator, results, args[1:] if kernel.takes_keys else args, kwargs)
            return results

        return Kernel(checked, kernel.takes_keys)

    def _serving(self, key: DispatchKey) -> Kernel | None:
        if key is DispatchKey.Transform:
            return self._composition()
        own = self._given.get(key.name)
        if own is not None:
            return own
        if key in BACKENDS:
            return self._of_backend()
        if key in AUTOGRAD:
            return self._given.get("Autograd") or self._composition()
        return self._composition() if key is DispatchKey.Python else None

    def _of_backend(self) -> Kernel | None:
        everywhere = self._given.get("CompositeExplicitAutograd")
        composite = self._given.get("CompositeImplicitAutograd")
        return everywhere or composite or self._given.get("Autograd")

    def _composition(self) -> Kernel | None:
        """The function that is made of other operators, unless there are kernels for the whole."""
        others = ("CompositeExplicitAutograd", "Autograd", *(key.name for key in BACKENDS))
        if any(name in self._given for name in others if name != "Meta"):
            return None
        return self._given.get("CompositeImplicitAutograd")
