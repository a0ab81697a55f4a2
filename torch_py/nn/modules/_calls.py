"""Calls of modules: `forward` and the hooks registered around it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torch_py.nn.modules._backward_hooks import BackwardHooks
from torch_py.utils.hooks import RemovableHandle, register

# Hooks around the calls of all modules, by number, each with its kind. They share one dictionary, so that a
# call without hooks needs only one check.
_everywhere: OrderedDict[int, tuple[str, Callable[..., Any]]] = OrderedDict()


def register_everywhere(kind: str, hook: Callable[..., Any]) -> RemovableHandle:
    """Registers a hook around the calls of all modules."""
    return register(_everywhere, (kind, hook))


def _hooks_everywhere(*kinds: str) -> list[tuple[str, Callable[..., Any]]]:
    """Returns the hooks of these kinds around the calls of all modules."""
    return [entry for entry in _everywhere.values() if entry[0].split("+")[0] in kinds]


class HooksEverywhere(Mapping[int, Callable[..., Any]]):
    """A mapping of the hooks of one kind around the calls of all modules, by number."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def _hooks(self) -> dict[int, Callable[..., Any]]:
        return {
            number: hook for number, (kind, hook) in _everywhere.items() if kind.split("+")[0] == self._kind
        }

    def __getitem__(self, number: int) -> Callable[..., Any]:
        return self._hooks()[number]

    def __iter__(self) -> Iterator[int]:
        return iter(self._hooks())

    def __len__(self) -> int:
        return len(self._hooks())


class ModuleCalls:
    """The part of `Module` that calls `forward` and registers hooks around it."""

    _hook_registries = (
        "_forward_hooks",
        "_forward_hooks_with_kwargs",
        "_forward_hooks_always_called",
        "_forward_pre_hooks",
        "_forward_pre_hooks_with_kwargs",
        "_backward_hooks",
        "_backward_pre_hooks",
        "_state_dict_hooks",
        "_state_dict_pre_hooks",
        "_load_state_dict_pre_hooks",
        "_load_state_dict_post_hooks",
    )
    _forward_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]

    def forward(self, *input: Any) -> Any:
        """Computes the output of the module. Every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        fields = self.__dict__
        if (
            _everywhere
            or fields["_forward_hooks"]
            or fields["_forward_pre_hooks"]
            or fields["_backward_hooks"]
            or fields["_backward_pre_hooks"]
            or "_compiled_call_impl" in fields
        ):
            compiled = fields.get("_compiled_call_impl")
            if compiled is not None:
                return compiled(*arguments, **keywords)
            return self._call_with_hooks(arguments, keywords)

        return self.forward(*arguments, **keywords)

    # PyTorch's names, for programs that wrap calls.
    _wrapped_call_impl = __call__

    def _call_impl(self, *arguments: Any, **keywords: Any) -> Any:
        """A call that is not compiled, also of a module for which `compile` was called."""
        return self._call_with_hooks(arguments, keywords)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Calls `hook(module, args)` before every call; it returns None or new arguments.

        With `with_kwargs` it is `hook(module, args, kwargs)` and returns None or both.
        """
        handle = register(
            self._forward_pre_hooks, hook, first=prepend, extra=[self._forward_pre_hooks_with_kwargs]
        )
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Calls `hook(module, args, output)` after every call; it returns None or another output.

        With `with_kwargs` it is `hook(module, args, kwargs, output)`.

        With `always_call` the hook also runs after a call that raised an exception, with None as the output.
        """
        extra = [self._forward_hooks_with_kwargs, self._forward_hooks_always_called]
        handle = register(self._forward_hooks, hook, first=prepend, extra=extra)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls `hook(module, grad_input, grad_output)` when the gradients of the inputs are computed; it
        returns None or another grad_input."""
        return register(self._backward_hooks, hook, first=prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Calls `hook(module, grad_output)` when the gradients of the outputs
        arrive; it returns None or another grad_output."""
        return register(self._backward_pre_hooks, hook, first=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The older name of `register_full_backward_hook`."""
        return self.register_full_backward_hook(hook)

    def _call_with_hooks(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Calls the module with its hooks; if that raises, runs the hooks that are always called."""
        called: set[Any] = set()
        try:
            return self._call_in_order(arguments, keywords, called)
        except Exception:
            for kind, hook in _hooks_everywhere("forward"):
                if "always" in kind and hook not in called:
                    _call_everywhere(kind, hook, self, arguments, keywords, None)
            for number in self._forward_hooks_always_called:
                if number not in called:
                    self._call_forward_hook(number, arguments, keywords, None)
            raise

    def _call_in_order(self, arguments: tuple[Any, ...], keywords: dict[str, Any], called: set[Any]) -> Any:
        """Runs pre-hooks, `forward` and hooks in this order; adds the hooks it has run to `called`."""
        for _, hook in _hooks_everywhere("forward_pre"):
            result = hook(self, arguments)
            if result is not None:
                arguments = result if isinstance(result, tuple) else (result,)
        for number, hook in list(self._forward_pre_hooks.items()):
            arguments, keywords = self._call_pre_hook(number, hook, arguments, keywords)

        point = self._backward_point()
        if point is not None:
            arguments = point.watch_inputs(arguments)
        output = self.forward(*arguments, **keywords)

        for kind, hook in _hooks_everywhere("forward"):
            called.add(hook)
            replaced = _call_everywhere(kind, hook, self, arguments, keywords, output)
            output = output if replaced is None else replaced
        for number in list(self._forward_hooks):
            called.add(number)
            replaced = self._call_forward_hook(number, arguments, keywords, output)
            output = output if replaced is None else replaced

        return output if point is None else point.watch_outputs(output)

    def compile(self, *arguments: Any, **keywords: Any) -> None:
        """Compiles calls of this module in place. The arguments are those of `torch_py.compile`."""
        # Imported on first use: most programs compile nothing.
        from torch_py.compiler._functions import compile_function

        vars(self)["_compiled_call_impl"] = compile_function(self._call_impl, *arguments, **keywords)

    def _backward_point(self) -> Any:
        """Returns what runs the backward hooks of this call, or None without such hooks."""
        hooks = [*(hook for _, hook in _hooks_everywhere("backward")), *self._backward_hooks.values()]
        pre_hooks = [
            *(hook for _, hook in _hooks_everywhere("backward_pre")),
            *self._backward_pre_hooks.values(),
        ]
        if not hooks and not pre_hooks:
            return None

        return BackwardHooks(self, hooks, pre_hooks)

    def _call_pre_hook(
        self, number: int, hook: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """Returns the arguments as one pre-hook leaves them."""
        if number not in self._forward_pre_hooks_with_kwargs:
            result = hook(self, arguments)
            if result is None:
                return arguments, keywords
            return (result if isinstance(result, tuple) else (result,)), keywords

        result = hook(self, arguments, keywords)
        if result is None:
            return arguments, keywords
        if isinstance(result, tuple) and len(result) == 2:
            return result

        raise RuntimeError(
            f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}."
        )

    def _call_forward_hook(self, number: int, arguments: Any, keywords: Any, output: Any) -> Any:
        hook = self._forward_hooks[number]
        if number in self._forward_hooks_with_kwargs:
            return hook(self, arguments, keywords, output)
        return hook(self, arguments, output)


def _call_everywhere(
    kind: str, hook: Callable[..., Any], module: Any, arguments: Any, keywords: Any, output: Any
) -> Any:
    return hook(module, arguments, keywords, output) if "kwargs" in kind else hook(module, arguments, output)
