"""Custom autograd Functions: one node of the graph, whose methods run when the graph is compiled.

Compiled code depends on what these read, and must not lose what they do. So they are interpreted first, on
copies of the arguments, in a graph that is thrown away (`_Rehearsal`): what they read is guarded, and the
graph ends before a Function that does more than compute.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch_py import _C
from torch_py._dynamo import torch_calls
from torch_py._dynamo.attributes import fields_of
from torch_py._dynamo.breaks import Break, unsupported_call
from torch_py._dynamo.journal import copy_of, replace_contents, same
from torch_py._dynamo.nested import map_tensors
from torch_py._records import Fields
from torch_py._tensor import Tensor
from torch_py._thread_state import ThreadState
from torch_py.autograd._rehearsal import Context
from torch_py.autograd.function import Function
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn.modules._backward_hooks import BackwardHookFunction

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


def apply(capture: Capture, cls: Any, /, *given: Any, **kwargs: Any) -> Any:
    """``Function.apply`` of a custom autograd Function."""
    if cls is BackwardHookFunction:
        raise unsupported_call(
            "a backward hook of a module", "it is called in backward, with gradients that are not captured"
        )
    capture.fixed(cls, cls.__name__)
    torch_calls.capture_arguments(capture, given, kwargs)
    for name in ("forward", "backward", "setup_context"):
        capture.depends_on_class(cls, name)

    rehearsed = _Rehearsal(capture, cls).run(given, kwargs)
    found = capture.recorder.call("call_function", cls.apply, given, kwargs, cls.apply, acts=True)
    # Numbers that depend on sizes were formulas in the rehearsal.
    several = found if isinstance(found, tuple) else (found,)
    results = [one if isinstance(one, Tensor) else other for one, other in zip(several, rehearsed)]
    return capture.result(tuple(results) if isinstance(found, tuple) else results[0])


class _Rehearsal(Fields):
    """Interprets the methods of a Function. Afterwards all is as before, but for the guards."""

    capture: Capture
    cls: Any
    _tensors: set[int] = set()  # that the methods are given

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The results of forward."""
        recorder = self.capture.recorder
        leaves = [leaf for leaf in (*args, *kwargs.values()) if isinstance(leaf, Tensor)]
        needs_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        is_recorded = _C.is_grad_enabled() and any(leaf.requires_grad for leaf in leaves)

        with self._without_effects([*args, *kwargs.values()]), no_grad():
            context = self.capture.made(Context(needs_grad))
            given, named = map_tensors((args, kwargs), self._copy)
            results = self._forward(context, given, named)
            if is_recorded:
                gradients = [self._copy(x) if isinstance(x, Tensor) else None for x in results]
                self.capture.call(self.cls._own_backward(), (context, *gradients), {})
            outside = [tensor for tensor in recorder.scopes[-1].tensors if id(tensor) not in self._tensors]
        if outside:
            raise self._refusal("it uses a tensor that is none of its arguments", "give it the tensor")
        return results

    def _forward(self, context: Context, args: Any, kwargs: dict[str, Any]) -> list[Any]:
        capture, cls = self.capture, self.cls
        if cls.setup_context is Function.setup_context:
            output = capture.call(cls.forward, (context, *args), kwargs)
        else:
            output = capture.call(cls.forward, tuple(args), kwargs)
            capture.call(cls.setup_context, (context, tuple(args), output), {})
        return list(output) if isinstance(output, tuple) else [output]

    def _copy(self, tensor: Any) -> Any:
        """Another fake tensor of the same kind: methods may write to it. Numbers that vary stay."""
        if not isinstance(tensor, Tensor):
            return tensor

        recorder = self.capture.recorder
        with recorder.suspended():
            copy = tensor.clone().requires_grad_(tensor.requires_grad)
        recorder.track(copy, recorder.scopes[-1].placeholder("x"))
        self._tensors.add(id(copy))
        return copy

    @contextmanager
    def _without_effects(self, values: list[Any]) -> Iterator[None]:
        """`values` are the arguments: those that the program has made are not in the journal."""
        capture = self.capture
        state = ThreadState()
        before = capture.journal.checkpoint()
        new = [value for value in values if capture.is_new(value) and not isinstance(value, type)]
        owned = [(value, value if isinstance(value, (list, dict)) else fields_of(value)) for value in new]
        contents = [(value, owner, copy_of(owner)) for value, owner in owned if owner is not None]

        capture.recorder.begin_scope()
        outer, capture.fixes_numbers = capture.fixes_numbers, True
        try:
            yield
        except Break as reason:
            raise self._refusal(f"{reason.what}: {reason.why}", reason.hint) from reason
        finally:
            capture.fixes_numbers = outer
            capture.recorder.end_scope()
            state.restore()
            changed = capture.journal.back_to(before)
            for value, owner, content in contents:
                if not same(content, copy_of(owner)):
                    replace_contents(owner, content)
                    changed.append(value)
        if changed:
            raise self._refusal(f"it changes a {type(changed[0]).__name__}", "return what it computes")

    def _refusal(self, why: str, hint: str) -> Break:
        return Break(f"call of {self.cls.__name__}.apply", why, hint)
