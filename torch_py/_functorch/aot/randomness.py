"""Random numbers that a program draws again: checkpoint sets the generator back before it computes again.

Fake tensors draw nothing, so while a program is recorded, each random operator moves its generator on by
hand: the state of the generator then tells which draw is a repetition.
"""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._subclasses.calls import generator_in
from torch_py._subclasses.unseen import unseen
from torch_py._tensor import Tensor
from torch_py.utils._pytree import tree_map


class Draws:
    """The random operators of a program so far. `restore` gives the generators back their states."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, Any]] = {}
        self._before: dict[Any, Any] = {}  # the states at first, by generator

    def repeated(self, func: Any, args: Any, kwargs: Any) -> Any:
        """What was noted of an equal draw from the same state of the generator; None for a new draw."""
        generator = _generator_of(args, kwargs)
        known = self._known.get(_key(generator, func, args, kwargs))
        if known is None:
            return None
        with unseen():
            generator.set_state(known[1])
        return known[0]

    def note(self, func: Any, args: Any, kwargs: Any, fact: Any) -> None:
        """Remembers a fact of a new draw, and moves its generator on."""
        generator = _generator_of(args, kwargs)
        key = _key(generator, func, args, kwargs)
        with unseen():
            self._before.setdefault(generator, generator.get_state())
            _C._torch.rand(1, generator=generator, device=generator.device)
            self._known[key] = fact or False, generator.get_state()

    def restore(self) -> None:
        with unseen():
            for generator, state in self._before.items():
                generator.set_state(state)


def _generator_of(args: Any, kwargs: Any) -> Any:
    return generator_in(args, kwargs) or _C.default_generator


def _key(generator: Any, func: Any, args: Any, kwargs: Any) -> Any:
    def described(value: Any) -> Any:
        return (value.shape, value.stride(), value.dtype) if isinstance(value, Tensor) else str(value)

    with unseen():
        state = generator.get_state().numpy().tobytes()
    rest = tree_map(described, [list(args), sorted(kwargs.items())])
    return id(generator), state, func, str(rest)
