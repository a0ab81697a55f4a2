"""Random operators inside of `vmap`: whether they may be called, and whose numbers members of a batch get.

Numbers are drawn for the whole batch at once where an operator is told a size, or fills a tensor: PyTorch's
numbers for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._functorch.batching import batched, randomness
from torch_py._functorch.levels import is_at
from torch_py._functorch.operators import Call, call_of
from torch_py._tensor import Tensor
from torch_py.overrides import TorchFunctionMode
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


class OfNoBatch(TorchFunctionMode):
    """Active inside of a `vmap`: sees the random operators that have no tensor
    of it among their arguments, as `torch.rand(3)`."""

    def __init__(self, level: int, size: int) -> None:
        super().__init__()
        self.level = level
        self.size = size

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        call = call_of(func)
        if not draws(call, args, kwargs) or any(
            is_at(leaf, self.level) for leaf in tree_leaves((args, kwargs))
        ):
            return func(*args, **kwargs)

        check_allowed(call)
        if randomness() == "same":
            return func(*args, **kwargs)

        if call.is_inplace:
            raise RuntimeError(
                f"vmap: Cannot ask for different inplace randomness on an unbatched tensor ({call.name}_): "
                "make it a member of the batch, "
                "or use the operator that makes a new tensor"
            )

        return tree_map(self.wrapped, self.different(call, func, args, kwargs))

    def wrapped(self, leaf: Any) -> Any:
        return batched(leaf, self.level) if isinstance(leaf, Tensor) else leaf

    def different(self, call: Call, func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        sized = call.with_longer_size(args, kwargs, self.size)
        if sized is not None:
            return func(*sized[0], **sized[1])
        results = [func(*args, **kwargs) for _ in range(self.size)]
        if not results:
            raise RuntimeError(f"vmap: {call.name} is applied member by member, and the batch has none")
        return _C._torch.stack(results)
