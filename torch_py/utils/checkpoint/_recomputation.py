"""Checkpoints without reentrance: placeholders for saved tensors, which a second run fills."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.autograd import Function
from torch_py.autograd.grad_mode import enable_grad
from torch_py.autograd.graph import saved_tensors_hooks
from torch_py.utils.checkpoint._global_state import _Surroundings

__all__ = ["CheckpointError", "set_checkpoint_early_stop"]


class CheckpointError(RuntimeError):
    """Raised when the second run of a checkpointed function differs from the first.

    Example:
        >>> import torch_py.utils.checkpoint
        >>> issubclass(torch.utils.checkpoint.CheckpointError, RuntimeError)
        True
    """


# Set by set_checkpoint_early_stop; None means that each call decides.
_early_stop_everywhere: bool | None = None


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Decides for all checkpoints in this block whether the second run
    ends as soon as backward has what it needs.

    Args:
        enable: whether it ends early

    Example:
        >>> import torch_py.utils.checkpoint
        >>> with torch.utils.checkpoint.set_checkpoint_early_stop(False):
        ...     pass
    """
    global _early_stop_everywhere
    before = _early_stop_everywhere
    _early_stop_everywhere = enable
    try:
        yield
    finally:
        _early_stop_everywhere = before


class _Placeholder:
    """Replaces one saved tensor; `position` is its number within the frame."""

    __slots__ = ("__weakref__", "position", "value")

    def __init__(self, position: int) -> None:
        self.position = position
        self.value: Tensor | None = None


class _Enough(BaseException):
    """Ends a second run early: backward needs nothing more of it.

    No exception that the function, or code that it was compiled to, handles.
    """


class _SaveInputs(Function):
    """A node that saves the tensors among the arguments, as any operator
    does, so that an outer checkpoint can replace them."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        ctx.save_for_backward(*tensors)
        return _C._torch.empty(0)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise AssertionError("nothing depends on this node")


class _Frame:
    """One call of a checkpointed function: its inputs, and the placeholders for what it saved."""

    def __init__(
        self,
        function: Any,
        args: Any,
        kwargs: Any,
        context: Any,
        surroundings: _Surroundings,
        early_stop: bool,
        check: bool,
    ) -> None:
        self.function = function
        self.context = context
        self.surroundings = surroundings
        self.early_stop = early_stop if _early_stop_everywhere is None else _early_stop_everywhere
        self.check = check

        self.placeholders: list[weakref.ref[_Placeholder]] = []
        self.described: list[tuple[Any, ...]] = []
        self.complete = False
        self._keep_inputs(args, kwargs)

    def _keep_inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        values = [*args, *kwargs.values()]
        self.names = list(kwargs)
        self.count = len(args)
        self.places = [place for place, value in enumerate(values) if isinstance(value, Tensor)]
        self.others = [None if isinstance(value, Tensor) else value for value in values]
        tensors = [values[place] for place in self.places]

        # The gate requires grad, so there is a node even if no argument requires grad; parameters that the
        # function uses may.
        with enable_grad():
            gate = _C._torch.empty((0,), requires_grad=True)
            self.kept = _SaveInputs.apply(gate, *tensors)  # which keeps the node alive

    def _inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        values = list(self.others)
        for place, tensor in zip(self.places, self.kept.grad_fn.saved_tensors[1:]):
            values[place] = tensor.detach().requires_grad_(tensor.requires_grad)
        return tuple(values[: self.count]), dict(zip(self.names, values[self.count :]))

    # The first run

    def pack(self, tensor: Tensor) -> _Placeholder:
        placeholder = _Placeholder(len(self.placeholders))
        self.placeholders.append(weakref.ref(placeholder))
        self.described.append(_description(tensor))
        return placeholder

    def unpack(self, placeholder: _Placeholder) -> Tensor:
        if placeholder.value is None:
            self._run_again()
        value = placeholder.value
        placeholder.value = None

        if value is None:
            raise CheckpointError(
                "torch.utils.checkpoint: trying to backward a function whose second run did not save as "
                "many tensors as the first"
            )
        return value

    # The second run

    def _run_again(self) -> None:
        args, kwargs = self._inputs()
        saved: list[tuple[Any, ...]] = []
        wanted = [reference() for reference in self.placeholders]
        last = max((each.position for each in wanted if each is not None), default=-1)

        def keep(tensor: Tensor) -> Tensor:
            # Fills the placeholders that still exist, in the order in which they were saved.
            position = len(saved)
            saved.append(_description(tensor))
            placeholder = wanted[position] if position < len(wanted) else None
            if placeholder is not None:
                placeholder.value = tensor.detach()
            if self.early_stop and position >= last:
                raise _Enough
            return tensor.detach()

        with (
            self.surroundings.restored(),
            self.context,
            saved_tensors_hooks(keep, lambda kept: kept),
            enable_grad(),
        ):
            with contextlib.suppress(_Enough):
                self.function(*args, **kwargs)

        self._compare(saved)

    def _compare(self, saved: list[tuple[Any, ...]]) -> None:
        """Raises CheckpointError if the two runs saved different tensors."""
        stopped = self.early_stop and len(saved) <= len(self.described)
        alive = [reference() for reference in self.placeholders]
        needed = max((each.position + 1 for each in alive if each is not None), default=0)

        if len(saved) < needed or (not stopped and len(saved) != len(self.described)):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original "
                "forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.described)}\nNumber of tensors saved "
                f"during recomputation: {len(saved)}."
            )

        if not self.check:
            return

        different = [number for number, (one, other) in enumerate(zip(self.described, saved)) if one != other]
        if different:
            lines = "".join(
                f"tensor at position {number}:\nsaved metadata: {_shown(self.described[number])}\n"
                f"recomputed metadata: {_shown(saved[number])}\n"
                for number in different
            )
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different "
                f"metadata than during the forward pass.\n{lines}"
            )


def _description(tensor: Tensor) -> tuple[Any, ...]:
    return tensor.shape, tensor.dtype, tensor.device


def _shown(description: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(("shape", "dtype", "device"), description))


def _first_run(
    function: Any,
    args: Any,
    kwargs: Any,
    contexts: Any,
    preserve_rng_state: bool,
    early_stop: bool,
    check: bool,
) -> Any:
    """Runs a function whose saved tensors are replaced by placeholders."""
    first, second = contexts

    # Inside vmap and jvp, operators do not save tensors that could be replaced: run the function once.
    if any(map(_C._level_of, (*args, *kwargs.values()))):
        with first:
            return function(*args, **kwargs)

    surroundings = _Surroundings(preserve_rng_state, *args, *kwargs.values())
    frame = _Frame(function, args, kwargs, second, surroundings, early_stop, check)
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        return function(*args, **kwargs)
