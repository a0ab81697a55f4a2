"""Selective checkpointing: which results are kept, that gradients are the same, and errors."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

module = importlib.import_module(f"{torch.__name__}.utils.checkpoint")
dispatch = importlib.import_module(f"{torch.__name__}.utils._python_dispatch")
Policy = module.CheckpointPolicy
aten = torch.ops.aten


class Counter(dispatch.TorchDispatchMode):
    """Counts the calls of operators."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        self.counts[name] = self.counts.get(name, 0) + 1
        return func(*args, **(kwargs or {}))


def block(x: Any, w: Any) -> Any:
    return ((x @ w).sin() @ w).exp().tanh()


def gradients(policy: Any, function: Any = block, **settings: Any) -> tuple[Any, dict[str, int], Any]:
    """Gradients of a checkpointed function, the calls of operators in backward, and the contexts."""
    torch.manual_seed(0)
    x, w = torch.randn(3, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)
    contexts: list[Any] = []

    def make() -> Any:
        contexts.extend(module.create_selective_checkpoint_contexts(policy, **settings))
        return tuple(contexts)

    options = {} if policy is None else {"context_fn": make}
    result = module.checkpoint(function, x, w, use_reentrant=False, **options)
    with Counter() as counter:
        grads = torch.autograd.grad(result.sum(), (x, w))
    return grads, counter.counts, contexts


def same(ours: Any, theirs: Any) -> bool:
    return all(torch.equal(one, other) for one, other in zip(ours, theirs))


def test_kept_results_are_not_computed_again():
    expected, everything, _ = gradients(None)
    grads, some, contexts = gradients([aten.mm.default])
    assert same(grads, expected)
    assert everything["mm"] - some["mm"] == 2 and some["sin"] == everything["sin"] == 1


def test_a_policy_decides_by_call():
    def first_product(context: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        assert isinstance(context, module.SelectiveCheckpointContext) and not context.is_recompute
        if func is aten.mm.default:
            seen.append(context.op_output)
        return Policy.MUST_SAVE if func is aten.mm.default and len(seen) == 1 else Policy.PREFER_RECOMPUTE

    seen: list[Any] = []
    expected, everything, _ = gradients(None)
    grads, some, _ = gradients(first_product)
    assert same(grads, expected) and everything["mm"] - some["mm"] == 1
    assert [tensor.shape for tensor in seen] == [(3, 3)] * 2


@pytest.mark.parametrize("answer", [True, False, *Policy])
def test_every_answer_gives_the_gradients(answer: Any):
    expected, _, _ = gradients(None)
    assert same(gradients(lambda context, func, *args, **kwargs: answer)[0], expected)


@only_torch_py
def test_the_contexts_say_what_was_kept():
    kept = gradients([aten.mm.default, aten.sin.default])[2][0].storage
    assert {str(func): sum(e is not None for e in entries) for func, entries in kept.items()} == {
        "aten.mm.default": 2,
        "aten.sin.default": 1,
        "aten.exp.default": 0,
        "aten.tanh.default": 0,
    }


def test_several_results_and_views():
    def function(x: Any, w: Any) -> Any:
        values, positions = (x @ w).sort(1)
        return values.t().reshape(-1).sin() * positions.reshape(-1)

    expected = gradients(None, function)[0]
    for operator in (aten.sort.default, aten.sort.stable, aten.t.default, aten.view.default, aten.mm.default):
        assert same(gradients([operator], function)[0], expected), operator


@only_torch_py  # PyTorch draws other numbers after a kept result
def test_random_numbers_after_a_kept_result():
    def function(x: Any, w: Any) -> Any:
        first = torch.rand(3, 3)
        return torch.nn.functional.dropout(x @ w).sin() * torch.rand(3, 3) * first

    expected = gradients(None, function)[0]
    random = [aten.rand.default, aten.bernoulli.default, aten.native_dropout.default]
    for policy in ([aten.mm.default], random, [aten.mm.default, aten.sin.default]):
        assert same(gradients(policy, function)[0], expected)


def test_backward_happens_once():
    x = torch.randn(3, 3, requires_grad=True)
    contexts = functools.partial(module.create_selective_checkpoint_contexts, [aten.mm.default])
    y = module.checkpoint(block, x, x, use_reentrant=False, context_fn=contexts)
    y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        y.sum().backward()


def test_kept_results_may_not_change():
    def function(x: Any, w: Any) -> Any:
        product = x @ w
        sine = product.sin()
        with torch.no_grad():
            product.detach().mul_(2)
        return sine.exp()

    with pytest.raises(RuntimeError, match="has been mutated"):
        gradients([aten.mm.default], function)
    gradients([aten.mm.default], function, allow_cache_entry_mutation=True)


@only_torch_py
def test_changes_in_place_cannot_be_kept():
    def function(x: Any, w: Any) -> Any:
        return (x @ w).add_(1).sin()

    with pytest.raises(RuntimeError, match=r"cannot keep the result of aten\.add_\.Tensor"):
        gradients([aten.add_.Tensor], function)
    assert same(
        gradients([aten.mm.default], lambda x, w: (x @ w).add(1).sin())[0], gradients(None, function)[0]
    )


@pytest.mark.parametrize(
    ("policy", "error", "text"),
    [
        ([aten.mm], ValueError, "Expected op in `op_list` to be an OpOverload"),
        (["mm"], ValueError, "Expected op in `op_list` to be an OpOverload"),
        (3, TypeError, "must be either a function or a list of ops"),
    ],
)
def test_wrong_policies(policy: Any, error: type[Exception], text: str):
    with pytest.raises(error, match=text):
        module.create_selective_checkpoint_contexts(policy)


@only_torch_py
def test_answers_that_are_not_policies():
    with pytest.raises(RuntimeError, match="must return a CheckpointPolicy or a bool, got 'x'"):
        gradients(lambda context, func, *args, **kwargs: "x")
