"""One operator declared in Python, and how it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._C import is_grad_enabled
from torch_py._custom_ops.schema import Schema
from torch_py._tensor import Tensor
from torch_py.autograd.function import Function
from torch_py.autograd.grad_mode import no_grad


def _tensors(values: tuple[Any, ...]) -> list[Tensor]:
    found = []
    for value in values:
        found += [
            one
            for one in (value if isinstance(value, (list, tuple)) else (value,))
            if isinstance(one, Tensor)
        ]
    return found


class CustomOperator:
    """Called with the arguments of its schema: the kernel of their device, below autograd; meta tensors go to
    the shape rule.

    `kernels` is by device type, None for all devices.
    """

    def __init__(self, schema: Schema, function: Callable[..., Any] | None) -> None:
        self._schema = schema
        self._init_fn = function

        self.kernels: dict[str | None, Callable[..., Any]] = {}
        self.fake: Callable[..., Any] | None = None
        # Called in place of everything else, until it calls the operator again.
        self.around: Callable[..., Any] | None = None
        # Kept for programs that ask for them; arguments are not converted.
        self.autocast: dict[str, Callable[..., Any]] = {}

        self._inside_around = False
        self._node: type[Function] | None = None

        self._name = self.name = schema.name
        self.__name__ = schema.name.partition("::")[2]
        self.__module__ = f"torch.ops.{schema.name.partition('::')[0]}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self.name})>"

    @property
    def default(self) -> CustomOperator:
        """The overload without a name."""
        return self

    _opoverload = default

    def register_kernel(self, device_types: Any, fn: Any = None, /) -> Any:
        """A kernel for a device type, a list of them, or None for all; a decorator without `fn`."""
        names = (
            (device_types,) if device_types is None or isinstance(device_types, str) else tuple(device_types)
        )

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self.kernels.update({name: function for name in names})
            return function

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """What the operator does with meta tensors."""
        self.fake = fn
        return fn

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Any = None) -> None:
        """The gradient, as `torch.library.register_autograd`."""
        self.set_autograd(backward, setup_context)

    def set_autograd(self, backward: Callable[..., Any], setup_context: Callable[..., Any] | None) -> None:
        if any(argument.is_written for argument in self._schema.arguments):
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self.name} with schema "
                f"{self._schema.text}."
            )
        self._node = _node_of(self, backward, setup_context)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        positional, rest = self._schema.bind(arguments, keywords)
        if self.around is not None and not self._inside_around:
            self._inside_around = True
            try:
                return self.around(*positional, **rest)
            finally:
                self._inside_around = False

        tensors = _tensors((*positional, *rest.values()))
        in_transform = self._node is not None and any(map(_C._level_of, tensors))

        if in_transform or (is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
            node = self._node or _node_of(self, None, None)
            return node.apply(rest, *positional)

        return self.compute(positional, rest)

    def compute(self, positional: tuple[Any, ...], rest: dict[str, Any]) -> Any:
        """The kernel, without gradients."""
        tensors = _tensors((*positional, *rest.values()))
        device = next((tensor.device.type for tensor in tensors if tensor.device.type != "cpu"), "cpu")

        kernel = self.kernels.get(device) or self.kernels.get(None)
        if device == "meta":
            kernel = self.fake or self.kernels.get("meta")

        if kernel is None:
            registered = [name or "all devices" for name in self.kernels]
            raise NotImplementedError(
                f"{self.name}: no kernel for device {device!r}; there are kernels for {registered or 'none'}"
            )

        with no_grad():
            result = kernel(*positional, **rest)
        self._schema.check_result(result)
        return tuple(result) if isinstance(result, list) and self._schema.result_count > 1 else result

    def check(self, positional: tuple[Any, ...], rest: dict[str, Any]) -> dict[str, str]:
        """Compares the operator's results with what its shape rule says of them."""
        result = self(*positional, **rest)
        if self.fake is None:
            return {"test_schema": "SUCCESS", "test_faketensor": "SKIPPED: no register_fake"}

        meta = [value.detach().to("meta") if isinstance(value, Tensor) else value for value in positional]
        expected, got = (
            [
                (tuple(one.shape), one.dtype)
                for one in _tensors(value if isinstance(value, tuple) else (value,))
            ]
            for value in (result, self.fake(*meta, **rest))
        )

        if expected != got:
            raise AssertionError(f"opcheck: {self.name} returned {expected}, its register_fake {got}")
        return {"test_schema": "SUCCESS", "test_faketensor": "SUCCESS"}


def _node_of(
    operator: CustomOperator, backward: Callable[..., Any] | None, setup_context: Callable[..., Any] | None
) -> type[Function]:
    """The autograd Function of an operator; its first argument is the dict of keyword-only ones."""

    user_setup = setup_context

    class Node(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(rest: dict[str, Any], *positional: Any) -> Any:
            return operator.compute(positional, rest)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            rest, *positional = inputs
            if user_setup is not None:
                keywords = {"keyword_only_inputs": rest} if rest else {}
                user_setup(ctx=ctx, inputs=tuple(positional), output=output, **keywords)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            if backward is None:
                raise RuntimeError(
                    f"Trying to backward through {operator.name} but no autograd formula was registered. "
                    "Please use torch.library.register_autograd to add one."
                )
            found = backward(ctx, *gradients)
            return None, *(found if isinstance(found, tuple) else (found,))

    Node.__name__ = Node.__qualname__ = operator.__name__
    return Node
