"""Random operators inside of `vmap`: whether they may be called, and whose numbers members of a batch get.

Numbers are drawn for the whole batch at once where an operator is told a size, or fills a tensor: PyTorch's
numbers for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch_py import _C
from torch_py._functorch.batching import batched, randomness
from torch_py._functorch.levels import is_at
from torch_py._functorch.operators import Call, call_of
from torch_py._tensor import Tensor
from torch_py.overrides import TorchFunctionMode, _get_current_function_mode
from torch_py.utils._pytree import tree_leaves, tree_map


def draws(call: Call, args: Any, kwargs: Any) -> bool:
    """Whether a call takes random numbers: dropout does not after training, attention not without dropout."""
    if (
        not any(o.is_random for o in call.overloads)
        or call.argument(args, kwargs, "train", "training") is False
    ):
        return False
    dropout_is_default = all(any(name == "dropout_p" for name, *_ in o.arguments) for o in call.overloads)
    return not dropout_is_default or bool(call.argument(args, kwargs, "dropout_p"))


def check_allowed(call: Call) -> None:
    if randomness() == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
            "'different' randomness "
            f"flags on vmap or perform the randomness operation out of vmap ({call.name})"
        )


class _OfNoBatch(TorchFunctionMode):
    """Active inside of a `vmap`: sees the random operators that have no tensor
    of it among their arguments, as `torch.rand(3)`."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[tuple[int, int]] = []  # (level, size), innermost last

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        call = call_of(func)
        if not draws(call, args, kwargs):
            return func(*args, **kwargs)
        return self.drawn(len(self.batches), call, func, args, kwargs)

    def drawn(self, count: int, call: Call, func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The result of a random operator for the `count` outermost batches."""
        if count == 0:
            return func(*args, **kwargs)

        def drawn_outside(*values: Any, **words: Any) -> Any:
            return self.drawn(count - 1, call, func, values, words)

        level, size = self.batches[count - 1]
        if any(is_at(leaf, level) for leaf in tree_leaves((args, kwargs))):
            return drawn_outside(*args, **kwargs)

        check_allowed(call)
        if randomness() == "same":
            return drawn_outside(*args, **kwargs)

        if call.is_inplace:
            raise RuntimeError(
                f"vmap: Cannot ask for different inplace randomness on an unbatched tensor ({call.name}_): "
                "make it a member of the batch, "
                "or use the operator that makes a new tensor"
            )

        found = _different(call, drawn_outside, args, kwargs, size)
        return tree_map(lambda leaf: batched(leaf, level) if isinstance(leaf, Tensor) else leaf, found)


def _different(call: Call, func: Callable[..., Any], args: Any, kwargs: Any, size: int) -> Any:
    """The results of `size` calls, stacked."""
    sized = call.with_longer_size(args, kwargs, size)
    if sized is not None:
        return func(*sized[0], **sized[1])
    results = [func(*args, **kwargs) for _ in range(size)]
    if not results:
        raise RuntimeError(f"vmap: {call.name} is applied member by member, and the batch has none")
    return _C._torch.stack(results)


@contextmanager
def of_no_batch(level: int, size: int) -> Iterator[None]:
    """Inside, random operators without a tensor of the batch draw as `vmap`'s randomness asks.

    Directly nested batches share one mode: operators pass through every mode.
    """
    current = _get_current_function_mode()
    if isinstance(current, _OfNoBatch):
        current.batches.append((level, size))
        try:
            yield
        finally:
            current.batches.pop()
        return

    with _OfNoBatch() as mode:
        mode.batches.append((level, size))
        yield
