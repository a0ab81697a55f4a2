"""A tensor class made of two tensors, as quantised tensors are: autograd, copies, files and modules."""

from __future__ import annotations

import copy
import importlib
import io
import pickle
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

dispatch = importlib.import_module(f"{torch.__name__}.utils._python_dispatch")
pytree = importlib.import_module(f"{torch.__name__}.utils._pytree")
aten = torch.ops.aten


class Scaled(torch.Tensor):
    """Small integers and a scale: an element is the product of both. Operators that it does not know act on
    the products.
    """

    codes: torch.Tensor
    scale: torch.Tensor
    seen: list[Any] = []

    @staticmethod
    def __new__(cls, codes: torch.Tensor, scale: torch.Tensor, requires_grad: bool = False) -> Scaled:
        made = torch.Tensor._make_wrapper_subclass(
            cls, codes.shape, strides=codes.stride(), dtype=scale.dtype, requires_grad=requires_grad
        )
        made.codes = codes
        made.scale = scale
        return made

    def __init__(self, codes: torch.Tensor, scale: torch.Tensor, requires_grad: bool = False) -> None:
        """`__new__` has set everything."""

    def __repr__(self, **_: Any) -> str:
        return f"Scaled({self.codes.tolist()}, {self.scale.item()})"

    def plain(self) -> torch.Tensor:
        return self.codes * self.scale

    def __tensor_flatten__(self) -> tuple[list[str], Any]:
        return ["codes", "scale"], "context"

    @staticmethod
    def __tensor_unflatten__(inner: Any, context: Any, outer_size: Any, outer_stride: Any) -> Scaled:
        assert context == "context"
        return Scaled(inner["codes"], inner["scale"])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.seen.append(func)
        kwargs = kwargs or {}
        if func in (
            aten.detach.default,
            aten.clone.default,
            aten.view.default,
            aten.t.default,
            aten.alias.default,
        ):
            codes = func(args[0].codes, *args[1:], **kwargs)
            result = Scaled(codes, args[0].scale)
            return dispatch.return_and_correct_aliasing(func, args, kwargs, result)
        plain_args, plain_kwargs = pytree.tree_map_only(Scaled, Scaled.plain, (args, kwargs))
        return func(*plain_args, **plain_kwargs)


def scaled(requires_grad: bool = False) -> Scaled:
    return Scaled(torch.tensor([[2, -1], [4, 0]], dtype=torch.int8), torch.tensor(0.5), requires_grad)


def test_gradients_of_a_wrapper_and_of_what_meets_it():
    w = scaled(requires_grad=True)
    x = torch.ones(3, 2, requires_grad=True)
    (x @ w.t()).sum().backward()
    assert x.grad.tolist() == [[3.0, -0.5]] * 3
    assert w.grad.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_a_result_that_backward_needs_keeps_its_class():
    class Doubles(Scaled):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            args, kwargs = pytree.tree_map_only(Scaled, Scaled.plain, (args, kwargs or {}))
            result = func(*args, **kwargs)
            return pytree.tree_map_only(torch.Tensor, lambda t: Doubles(t, torch.ones(())), result)

    x = Doubles(torch.tensor([0.0, 1.0]), torch.ones(()), requires_grad=True)
    y = x.exp()
    y.backward(Doubles(torch.ones(2), torch.ones(())))
    assert type(x.grad) is Doubles and torch.allclose(x.grad.plain(), torch.tensor([0.0, 1.0]).exp())


def test_expanded_gradients_keep_their_class():
    class Same(Scaled):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            args, kwargs = pytree.tree_map_only(Scaled, lambda t: t.codes, (args, kwargs or {}))
            result = func(*args, **kwargs)
            return pytree.tree_map_only(torch.Tensor, lambda t: Same(t, torch.ones(())), result)

    x = Same(torch.ones(2, 3), torch.ones(()), requires_grad=True)
    x.sum().backward()
    assert type(x.grad) is Same and x.grad.codes.tolist() == [[1.0] * 3] * 2
    x.sum().backward()
    assert type(x.grad) is Same and x.grad.codes.tolist() == [[2.0] * 3] * 2


def same(one: Scaled, other: Scaled) -> bool:
    return torch.equal(one.codes, other.codes) and torch.equal(one.scale, other.scale)


def test_a_copy_shares_the_parts():
    w = scaled(requires_grad=True)
    w.note = "kept"
    again = copy.copy(w)
    assert type(again) is Scaled and same(again, w) and again.requires_grad and again.note == "kept"
    assert again is not w and again.shape == w.shape and again.stride() == w.stride()


def test_a_deep_copy_has_parts_of_its_own():
    w = scaled(requires_grad=True)
    again = copy.deepcopy(w)
    assert type(again) is Scaled and same(again, w) and again.requires_grad and again.is_leaf
    w.codes.zero_()
    assert again.codes.tolist() == [[2, -1], [4, 0]]
    one, other = copy.deepcopy([w, w])
    assert one is other
    with pytest.raises(RuntimeError):
        copy.deepcopy(torch.Tensor.view(w, 4))  # not a leaf


def test_pickles_and_files():
    w = scaled(requires_grad=True)
    again = pickle.loads(pickle.dumps(w))
    assert type(again) is Scaled and same(again, w) and again.requires_grad

    file = io.BytesIO()
    torch.save({"w": w}, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)["w"]
    assert type(loaded) is Scaled and same(loaded, w)


def test_files_need_leave_to_name_the_class():
    file = io.BytesIO()
    torch.save(scaled(), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Scaled"):
        torch.load(file)
    file.seek(0)
    with torch.serialization.safe_globals([Scaled]):
        assert same(torch.load(file), scaled())


def test_parameters_and_modules():
    linear = torch.nn.Linear(2, 2, bias=False)
    linear.weight = torch.nn.Parameter(scaled())
    assert isinstance(linear.weight, Scaled) and isinstance(linear.weight, torch.nn.Parameter)

    x = torch.ones(1, 2)
    assert linear(x).tolist() == [[0.5, 2.0]]
    again = copy.deepcopy(linear)
    assert isinstance(again.weight, Scaled) and again(x).tolist() == [[0.5, 2.0]]
    linear(x).sum().backward()
    assert linear.weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_views_and_history():
    w = scaled(requires_grad=True)
    (w.view(4) * torch.arange(4.0)).sum().backward()
    assert w.grad.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert aten.view.default in Scaled.seen
    assert type(w.detach()) is Scaled and not w.detach().requires_grad


def test_taking_apart_and_putting_together():
    w = scaled()
    assert dispatch.is_traceable_wrapper_subclass(w) and not dispatch.is_traceable_wrapper_subclass(w.codes)
    assert dispatch.is_traceable_wrapper_subclass_type(Scaled)
    twice = dispatch.transform_subclass(w, lambda name, t: t * 2 if name == "scale" else t)
    assert type(twice) is Scaled and twice.scale.item() == 1.0 and torch.equal(twice.codes, w.codes)


@only_torch_py
def test_one_tensor_is_not_an_instance_of_two_classes():
    class Other(torch.Tensor):
        pass

    class Child(Scaled):
        pass

    w = scaled()
    for kind in (Other, Child):
        with pytest.raises(RuntimeError, match="already associated to a python object of type"):
            w.as_subclass(kind)
    assert same(w, scaled())
