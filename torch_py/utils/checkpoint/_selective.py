"""Selective checkpointing: the first run keeps the results of chosen operators, and the second run, which
computes the others again, finds them.

Both runs happen inside a dispatch mode, which sees the operators below autograd.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch_py import _C
from torch_py._ops import OpOverload, ops
from torch_py._tensor import Tensor
from torch_py.random import get_rng_state
from torch_py.utils._python_dispatch import TorchDispatchMode
from torch_py.utils._pytree import tree_map

__all__ = [
    "CheckpointPolicy",
    "SAC_IGNORED_OPS",
    "SelectiveCheckpointContext",
    "create_selective_checkpoint_contexts",
]


class CheckpointPolicy(enum.Enum):
    """What selective checkpointing does with the result of an operator: keeps it, computes it again, or keeps
    it in the memory of the CPU. MUST and PREFER differ only for compilers.

    Example:
        >>> import torch_py.utils.checkpoint
        >>> torch.utils.checkpoint.CheckpointPolicy.MUST_SAVE.name
        'MUST_SAVE'
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVING = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
_OFFLOADING = (CheckpointPolicy.MUST_CPU_OFFLOAD, CheckpointPolicy.PREFER_CPU_OFFLOAD)
# Calls that compute nothing; policies are not asked about them.
SAC_IGNORED_OPS = {ops.aten.detach.default}


class SelectiveCheckpointContext:
    """What a policy is told about a call.

    `is_recompute` is whether this is the second run, in which results are not decided about again.
    `op_output` is the result of the operator.

    Args:
        is_recompute: whether this is the second run
        op_output: the result of the operator; default None

    Example:
        >>> import torch_py.utils.checkpoint
        >>> torch.utils.checkpoint.SelectiveCheckpointContext(is_recompute=False).is_recompute
        False
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


@dataclass(frozen=True)
class _Kept:
    """A tensor that the first run has kept, and the version of its memory at that time."""

    tensor: Tensor
    version: int
    device: Any  # where the second run needs it

    @staticmethod
    def of(tensor: Tensor, offload: bool) -> _Kept:
        kept = tensor.detach()
        if offload and not tensor.device.type == "cpu":
            kept = kept.to("cpu")
        return _Kept(kept, kept._version, tensor.device)

    def found(self, func: Any, may_have_changed: bool) -> Tensor:
        if self.tensor._version != self.version and not may_have_changed:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated: a result of "
                f"{func} was changed in place after it was kept"
            )
        return self.tensor.to(self.device)


# By operator, for each of its calls in order: the kept result and whether it took random numbers, or None
# where it is to be computed again.
_Storage = dict[Any, list[Any]]


class _CachingTorchDispatchMode(TorchDispatchMode):
    """The first run: asks the policy about each result, and keeps those that it chooses."""

    def __init__(self, policy_fn: Callable[..., Any], storage: _Storage) -> None:
        super().__init__()
        self.policy_fn = policy_fn
        self.storage = storage

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        before = get_rng_state()
        result = func(*args, **kwargs)
        if func in SAC_IGNORED_OPS:
            return result

        context = SelectiveCheckpointContext(is_recompute=False, op_output=result)
        policy = _as_policy(func, self.policy_fn(context, func, *args, **kwargs))
        if policy not in (*_SAVING, *_OFFLOADING):
            self.storage[func].append(None)
            return result

        if func._schema.is_mutable:
            raise RuntimeError(
                f"selective checkpointing cannot keep the result of {func}, which changes an argument: the "
                "second run has to change it, too"
            )
        offload = policy in _OFFLOADING
        kept = tree_map(lambda v: _Kept.of(v, offload) if isinstance(v, Tensor) else v, result)
        draws = "nondeterministic_seeded" in func.tags or not _equal(before, get_rng_state())
        self.storage[func].append((kept, draws))
        return result


class _CachedTorchDispatchMode(TorchDispatchMode):
    """The second run: finds the kept results and computes the others."""

    def __init__(self, policy_fn: Any, storage: _Storage, allow_cache_entry_mutation: bool) -> None:
        super().__init__()
        self.policy_fn = policy_fn
        self.storage = storage
        self.allow_cache_entry_mutation = allow_cache_entry_mutation
        self._counts: dict[Any, int] = defaultdict(int)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in SAC_IGNORED_OPS:
            return func(*args, **kwargs)

        number = self._counts[func]
        self._counts[func] += 1
        if number >= len(self.storage[func]):
            raise RuntimeError(_ONCE_ONLY if self.storage else f"{_DIFFERS}: another call of {func}")

        entry = self.storage[func][number]
        if entry is None:
            return func(*args, **kwargs)
        if entry is _USED:
            raise RuntimeError(_ONCE_ONLY)

        kept, draws = entry
        if draws:
            func(*args, **kwargs)  # random numbers after these must be those of the first run

        self.storage[func][number] = _USED
        may_have_changed = self.allow_cache_entry_mutation
        return tree_map(lambda v: v.found(func, may_have_changed) if isinstance(v, _Kept) else v, kept)


_USED = object()
_DIFFERS = "the second run of a selectively checkpointed function differs from the first"
_ONCE_ONLY = (
    "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
    "selective activation checkpoint."
)


def _equal(one: Tensor, other: Tensor) -> bool:
    same: bool = _C._torch.equal(one, other)
    return same


def _as_policy(func: Any, answer: Any) -> CheckpointPolicy:
    if isinstance(answer, bool):
        return CheckpointPolicy.MUST_SAVE if answer else CheckpointPolicy.PREFER_RECOMPUTE
    if isinstance(answer, CheckpointPolicy):
        return answer
    # Operators of Python, such as @, turn a TypeError into one about their operands.
    raise RuntimeError(
        f"the policy of a selective checkpoint must return a CheckpointPolicy or a bool, got {answer!r} for "
        f"{func}"
    )


def _policy_of_list(operators: Sequence[Any]) -> Callable[..., CheckpointPolicy]:
    for operator in operators:
        if not isinstance(operator, OpOverload) and not hasattr(operator, "_schema"):
            hint = ""
            if hasattr(operator, "overloads"):
                hint = (
                    "Please update the OpOverloadPacket to a specific OpOverload. For example, if you have "
                    "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                )
            raise ValueError(
                f"Expected op in `op_list` to be an OpOverload but got: {operator} of type {type(operator)}. "
                f"{hint}"
            )
    chosen = frozenset(operators)

    def policy(context: Any, func: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        return CheckpointPolicy.MUST_SAVE if func in chosen else CheckpointPolicy.PREFER_RECOMPUTE

    return policy


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | Sequence[Any], allow_cache_entry_mutation: bool = False
) -> tuple[_CachingTorchDispatchMode, _CachedTorchDispatchMode]:
    """Two contexts for `checkpoint`, which then keeps the results of chosen operators.

    Args:
        policy_fn_or_list: the operators whose results are kept (``torch.ops.aten.mm.default``), or a function
            ``policy(context, operator, *args, **kwargs)`` that returns a CheckpointPolicy for each call;
            `context` is a SelectiveCheckpointContext
        allow_cache_entry_mutation: whether kept results may be changed in place; default False

    Raises:
        ValueError: for a list with something else than overloads of operators.
        TypeError: for neither a list nor a function.

    Example:
        >>> import functools
        >>> import torch_py.utils.checkpoint
        >>> contexts = torch.utils.checkpoint.create_selective_checkpoint_contexts
        >>> kept = functools.partial(contexts, [torch.ops.aten.sin.default])
        >>> x = torch.tensor(0.0, requires_grad=True)
        >>> checkpoint = torch.utils.checkpoint.checkpoint
        >>> checkpoint(torch.sin, x, use_reentrant=False, context_fn=kept).backward()
        >>> x.grad
        tensor(1.)
    """
    if isinstance(policy_fn_or_list, (list, tuple)):
        policy_fn = _policy_of_list(policy_fn_or_list)
    elif callable(policy_fn_or_list):
        policy_fn = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")

    storage: _Storage = defaultdict(list)
    return (
        _CachingTorchDispatchMode(policy_fn, storage),
        _CachedTorchDispatchMode(policy_fn, storage, allow_cache_entry_mutation),
    )
