"""Helpers for dispatch modes and classes of tensors: the stack of modes, and what schemas say."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

dispatch = importlib.import_module(f"{torch.__name__}.utils._python_dispatch")
aten = torch.ops.aten


class Counting(dispatch.TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def test_leaving_one_mode_or_all_for_a_while():
    assert not dispatch.any_torch_dispatch_mode_on_stack()
    x = torch.ones(2)
    with Counting() as outer, Counting() as inner:
        assert dispatch.any_torch_dispatch_mode_on_stack() and dispatch.is_in_torch_dispatch_mode()
        with dispatch._pop_mode_temporarily() as left:
            x.neg()
        assert left is inner and (outer.count, inner.count) == (1, 0)

        with dispatch._disable_current_modes():
            assert not dispatch.any_torch_dispatch_mode_on_stack()
            x.neg()
        assert (outer.count, inner.count) == (1, 0)
        assert dispatch._get_current_dispatch_mode_stack() == [outer, inner]
    assert dispatch._get_current_dispatch_mode() is None


@pytest.mark.parametrize(
    ("name", "overload"),
    [
        ("add_", "Tensor"),
        ("add", "Tensor"),
        ("t", "default"),
        ("split", "Tensor"),
        ("t_", "default"),
    ],
)
@only_torch_py
def test_what_schemas_say_about_memory(name: str, overload: str):
    peer = pytest.importorskip("torch")
    theirs_of = importlib.import_module("torch.utils._python_dispatch").get_alias_info
    ours = dispatch.get_alias_info(getattr(getattr(aten, name), overload))
    theirs = theirs_of(getattr(getattr(peer.ops.aten, name), overload))

    def shown(info: Any) -> Any:
        values = [(sorted(v.alias_set), v.is_write, v.name) for v in (*info.args, *info.outs)]
        return values, info.is_inplace_view_op, info.outs_write_aliases, info.read_only_alias_match_indexes

    assert shown(ours) == shown(theirs)


def test_operators_in_place_return_their_argument():
    class Holder(torch.Tensor):
        inner: torch.Tensor

        @staticmethod
        def __new__(cls, inner: torch.Tensor) -> Holder:
            made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
            made.inner = inner
            return made

        def __init__(self, inner: torch.Tensor) -> None:
            """`__new__` has set the attribute."""

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            plain = [arg.inner if isinstance(arg, Holder) else arg for arg in args]
            result = Holder(func(*plain, **(kwargs or {})))
            return dispatch.return_and_correct_aliasing(func, args, kwargs or {}, result)

    x = Holder(torch.ones(2))
    assert x.add_(1) is x and x.inner.tolist() == [2.0, 2.0]
    assert x.add(1) is not x
