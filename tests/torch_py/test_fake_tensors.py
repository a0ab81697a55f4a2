"""Fake tensors: shapes, dtypes and devices without memory, in programs that train and ask for numbers."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tests.subject import WITH_PEER, only_torch_py, torch

fake_tensor = import_module(f"{torch.__name__}._subclasses.fake_tensor")
detect_fake_mode = import_module(f"{torch.__name__}._guards").detect_fake_mode
FakeTensor, FakeTensorMode = fake_tensor.FakeTensor, fake_tensor.FakeTensorMode
nn = torch.nn


@pytest.fixture
def mode() -> Any:
    return FakeTensorMode()


def shape_of(value: Any) -> tuple[int, ...]:
    assert isinstance(value, FakeTensor)
    return tuple(value.shape)


# Results


def test_calls_inside_of_the_mode_return_fake_tensors(mode: Any) -> None:
    with mode:
        x = torch.empty(2, 3)
        results = [x + 1, torch.ones(2), torch.arange(4), torch.tensor([1.0, 2.0]), x.sum(), x.t()]
    assert [shape_of(result) for result in results] == [(2, 3), (2,), (4,), (2,), (), (3, 2)]
    assert results[2].dtype == torch.int64 and results[5].stride() == (1, 3)


def test_nothing_is_allocated(mode: Any) -> None:
    with mode:
        x = torch.zeros(10**6, 10**6, requires_grad=True)
        (x @ x).sum().backward()
    assert shape_of(x.grad) == (10**6, 10**6)


def test_fake_tensors_work_outside_of_their_mode(mode: Any) -> None:
    x = mode.from_tensor(torch.ones(3)).requires_grad_()
    y = (x.exp() * x).sum()
    assert y.fake_mode is mode
    y.backward()
    assert shape_of(x.grad) == (3,)


@only_torch_py
def test_a_shape_that_does_not_follow_from_elements_is_known(mode: Any) -> None:
    labels = mode.from_tensor(torch.arange(3))
    assert shape_of(nn.functional.one_hot(labels, 5)) == (3, 5)
    assert shape_of(torch.nonzero_static(labels, size=2)) == (2, 1)


def test_tensors_are_printed_without_numbers(mode: Any) -> None:
    with mode:
        x = torch.ones(2, dtype=torch.int64)
        y = torch.ones(2, 3, requires_grad=True)
    assert repr(x) == "FakeTensor(..., size=(2,), dtype=torch.int64)"
    assert repr(y) == "FakeTensor(..., size=(2, 3), requires_grad=True)"
    assert repr(y * 2) == "FakeTensor(..., size=(2, 3), grad_fn=<MulBackward0>)"
    assert repr(nn.Parameter(y)) == "Parameter(FakeTensor(..., size=(2, 3), requires_grad=True))"


# Devices


@only_torch_py
def test_a_device_need_not_exist(mode: Any) -> None:
    with mode:
        layer = nn.Linear(3, 4, device="cuda")
        y = layer(torch.randn(2, 3, device="cuda"))
        y.sum().backward()
    assert str(y.device) == "cuda:0" and y.is_cuda
    assert str(layer.weight.grad.device) == "cuda:0"
    assert str(y.cpu().device) == "cpu" and str(y.to("cuda:3").device) == "cuda:3"


@only_torch_py
def test_tensors_of_two_devices_do_not_mix(mode: Any) -> None:
    with mode:
        x = torch.ones(2, device="cuda")
        number = torch.ones(())
        assert (x * number).is_cuda and x[torch.tensor([0, 1])].is_cuda
        assert not torch.zeros(2).copy_(x).is_cuda
        for mix in (
            lambda: x + torch.ones(2),
            lambda: number.add_(x[0]),
            lambda: torch.mul(x, x, out=number),
        ):
            with pytest.raises(RuntimeError, match="two different devices"):
                mix()


# Real tensors


def test_real_tensors_are_refused_or_converted(mode: Any) -> None:
    real = torch.ones(2)
    fake = mode.from_tensor(real)
    assert mode.from_tensor(real) is fake
    with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors first"):
        fake + real
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert shape_of(real + real) == (2,)
    with pytest.raises(AssertionError, match="Mixing fake modes"):
        fake + FakeTensorMode().from_tensor(real)


def test_conversion_keeps_strides_views_and_gradients(mode: Any) -> None:
    base = torch.zeros(4, 3, requires_grad=True)
    view = base.t()[1:]
    fake = mode.from_tensor(view)
    assert (shape_of(fake), fake.stride(), fake.storage_offset()) == ((2, 4), (1, 3), 1)
    assert fake.requires_grad and not fake.is_leaf and fake._base is mode.from_tensor(base)

    leaf = torch.ones(2, requires_grad=True)
    leaf.grad = torch.ones(2)
    assert mode.from_tensor(leaf).is_leaf and shape_of(mode.from_tensor(leaf).grad) == (2,)
    first, second = torch.ones(6).split(3)
    assert same_memory(mode.from_tensor(first), mode.from_tensor(second))


def test_conversion_keeps_histories_that_begin_at_a_view(mode: Any) -> None:
    first = torch.zeros(4, 3)[1:].requires_grad_()
    fakes = [mode.from_tensor(tensor) for tensor in (first, first[1:])]
    assert [(fake.requires_grad, fake.is_leaf) for fake in fakes] == [(True, True), (True, False)]


def test_conversion_keeps_gaps_and_histories_of_other_dtypes(mode: Any) -> None:
    computed = torch.zeros(4, 3, 2, requires_grad=True) * 1
    imaginary = torch.view_as_complex(computed).imag
    views = (
        imaginary,
        imaginary.t()[1:],
        imaginary[2:, 1].expand(3, 2),
        imaginary.unfold(0, 2, 1),
        computed[:, ::2],
    )
    for view in views:
        fake = mode.from_tensor(view)
        assert (shape_of(fake), fake.stride()) == (tuple(view.shape), view.stride())
        assert fake.storage_offset() == view.storage_offset()
        assert fake.requires_grad and not fake.is_leaf


def same_memory(a: Any, b: Any) -> bool:
    return bool(a.untyped_storage()._cdata == b.untyped_storage()._cdata)


def test_conversion_keeps_what_inference_mode_makes(mode: Any) -> None:
    plain = torch.ones(3)
    with torch.inference_mode():
        fake = mode.from_tensor(plain)
        made = torch.ones(3)
    assert not fake.is_inference() and mode.from_tensor(made).is_inference()
    assert fake.add_(1).requires_grad_().requires_grad


def test_parameters_stay_parameters(mode: Any) -> None:
    fake = mode.from_tensor(nn.Parameter(torch.ones(2)))
    assert isinstance(fake, nn.Parameter) and isinstance(fake, FakeTensor)
    with mode:
        layer = nn.Linear(2, 3)
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]


@only_torch_py
def test_what_has_no_fake_tensor_is_refused(mode: Any) -> None:
    class Other(torch.Tensor):
        pass

    with pytest.raises(fake_tensor.UnsupportedFakeTensorException, match="Other"):
        mode.from_tensor(torch.ones(2).as_subclass(Other))
    with pytest.raises(NotImplementedError, match="symbolic"):
        FakeTensorMode(static_shapes=False)


def test_the_converter_forgets_tensors_that_die() -> None:
    mode = FakeTensorMode()
    for _ in range(5):
        mode.from_tensor(torch.ones(3))
        with mode:
            torch.tensor([1.0, 2.0])
            assert torch.tensor(3).view(1).item() == 3
    assert WITH_PEER or not (mode.fake_tensor_converter._made or mode.fake_tensor_converter._memory)


# Views and changes in place


def test_views_share_fake_memory(mode: Any) -> None:
    with mode:
        x = torch.zeros(3, 4)
        row = x[1]
        other = x + 0
    assert same_memory(x, row) and not same_memory(x, other)
    assert row._is_view() and row._base is x


def test_changes_in_place_reach_autograd(mode: Any) -> None:
    with mode:
        x = torch.ones(3, 3, requires_grad=True)
        y = x * 2
        version = y._version
        y[0].mul_(3)
        y.t()[1:].add_(1)
        assert y._version == version + 2
        y.sum().backward()
        z = x.exp()
        z.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()
    assert shape_of(x.grad) == (3, 3)


def test_geometry_may_change_in_place(mode: Any) -> None:
    with mode:
        x = torch.empty(0)
        x.resize_(3, 4)
        out = torch.empty(0)
        torch.add(x, x, out=out)
        assert shape_of(x) == shape_of(out) == (3, 4)
        assert shape_of(x.t_()) == (4, 3) and x is x.unsqueeze_(0)
        assert shape_of(x) == (1, 4, 3)
        x.data = torch.ones(5)
    assert shape_of(x) == (5,) and shape_of(x + 1) == (5,)


# Questions for elements


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: x.sum().item(),
        lambda x: bool(x.sum()),
        lambda x: int(x[0]),
        lambda x: x.tolist(),
        lambda x: torch.equal(x, x),
        lambda x: torch.allclose(x, x),
    ],
)
def test_numbers_are_refused(mode: Any, ask: Any) -> None:
    with mode, pytest.raises(fake_tensor.DataDependentOutputException, match="aten"):
        ask(torch.ones(3))


@pytest.mark.parametrize(
    "ask", [lambda x: x.nonzero(), lambda x: x[x > 0], torch.unique, lambda x: x.masked_select(x > 0)]
)
def test_shapes_that_follow_from_elements_are_refused(mode: Any, ask: Any) -> None:
    with mode, pytest.raises(fake_tensor.DynamicOutputShapeException, match="aten"):
        ask(torch.ones(3))


@only_torch_py
@pytest.mark.parametrize(
    "ask",
    [
        lambda x: x.numpy(),
        lambda x: np.asarray(x),
        lambda x: x.data_ptr(),
        lambda x: x.__dlpack__(),
        lambda x: pickle.dumps(x),
        lambda x: torch.save(x, io.BytesIO()),
        lambda x: x.as_subclass(nn.Parameter).tolist(),
    ],
)
def test_memory_is_refused(mode: Any, ask: Any) -> None:
    with pytest.raises((RuntimeError, BufferError)):
        ask(mode.from_tensor(torch.ones(3)))


def test_numbers_of_the_program_are_known(mode: Any) -> None:
    with mode:
        three = torch.tensor(3)
        assert (three + 1).item() == 4 and three.item() == 3
        view = three.view(1)
        three.add_(torch.ones((), dtype=torch.int64))
        for changed in (three, view):
            with pytest.raises(fake_tensor.DataDependentOutputException):
                changed.item()
        assert torch.tensor([1.0, 2.0]).constant is None


# Programs


def train(model: Any, x: Any, y: Any) -> Any:
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss


def test_a_network_trains(mode: Any) -> None:
    with mode:
        model = nn.Sequential(
            nn.Conv2d(3, 8, 3),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Dropout(0.5),
            nn.Linear(8 * 49, 5),
        )
        loss = train(model, torch.randn(2, 3, 16, 16), torch.randint(5, (2,)))
    assert shape_of(loss) == () and all(shape_of(p.grad) == shape_of(p) for p in model.parameters())


def test_attention_and_recurrent_layers(mode: Any) -> None:
    with mode:
        encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        y = encoder(torch.randn(2, 5, 8))
        y.sum().backward()
        outputs, (hidden, _) = nn.LSTM(8, 4, 2)(y)
    assert shape_of(y) == (2, 5, 8) and shape_of(outputs) == (2, 5, 4) and shape_of(hidden) == (2, 5, 4)


@only_torch_py
def test_models_are_copied_and_loaded(mode: Any) -> None:
    with mode:
        model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
        twin = copy.deepcopy(model)
        twin.load_state_dict(model.state_dict())
        twin.load_state_dict(model.state_dict(), assign=True)
    assert twin[0].weight.fake_mode is mode and isinstance(twin[0].weight, nn.Parameter)
    assert twin[0].weight is not model[0].weight


def test_gradients_of_gradients(mode: Any) -> None:
    x = mode.from_tensor(torch.ones(3)).requires_grad_()
    with mode:
        (first,) = torch.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
    assert shape_of(second) == (3,)


def test_autocast_and_custom_functions(mode: Any) -> None:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.saved_tensors[0].exp()

    with mode, torch.autocast("cpu", dtype=torch.bfloat16):
        x = torch.ones(2, 2, requires_grad=True)
        assert (x @ x).dtype == torch.bfloat16
        Exp.apply(x).sum().backward()
    assert shape_of(x.grad) == (2, 2)


def test_threads_have_modes_of_their_own(mode: Any) -> None:
    found: list[Any] = []
    with mode:
        thread = threading.Thread(target=lambda: found.append(type(torch.ones(2))))
        thread.start()
        thread.join()
    assert found == [torch.Tensor]


def test_the_mode_of_values_is_found(mode: Any) -> None:
    fake = mode.from_tensor(torch.ones(2))
    assert detect_fake_mode([1, {"a": fake}]) is mode and detect_fake_mode([torch.ones(2)]) is None
    with mode:
        assert detect_fake_mode() is mode
        with pytest.raises(AssertionError):
            detect_fake_mode([FakeTensorMode().from_tensor(torch.ones(2))])
    assert detect_fake_mode() is None


NORMS = {
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
    "batch_norm": lambda x: torch.nn.functional.batch_norm(x, None, None, training=True),
    "instance_norm": torch.nn.functional.instance_norm,
}


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 3, 1, 2), (3, 2, 1, 0)])
@pytest.mark.parametrize("name", NORMS)
def test_strides_of_gradients_of_norms(name, order):
    def gradient():
        permuted = [torch.randn(2, 3, 4, 5).permute(order) for _ in range(2)]
        for input, grad in (permuted, [permuted[0], permuted[1].contiguous()]):
            x = input.contiguous().requires_grad_()
            yield torch.autograd.grad(NORMS[name](x), x, grad)[0].stride()

    expected = list(gradient())
    with FakeTensorMode():
        assert list(gradient()) == expected
