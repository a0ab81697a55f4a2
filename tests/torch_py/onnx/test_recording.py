"""What the recorder of an export sees: writes through views, operators kept whole, gradients, threads."""

from __future__ import annotations

import threading

import pytest

import torch_py as torch
from torch_py import nn
from torch_py.fx.experimental.proxy_tensor import make_fx

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from tests.torch_py.onnx.running import compare, export, node_types  # noqa: E402

errors = torch.onnx.errors


# -- writes
# ------------------------------------------------------------


def chain_of_views(x):
    y = x + 1
    y.transpose(0, 1)[1:].unsqueeze(0)[..., ::2].mul_(3)
    return y


def earlier_view(x):
    y = x * 2
    row = y[1]
    y.add_(1)
    return row + y.sum()


def view_after_write(x):
    y = x.clone()
    columns = y.t()
    y[0] = 5.0
    return columns


def split_and_write(x):
    y = x.clone()
    first, second = y.split(2, 1)
    second.sub_(first)
    return y


def reshaped(x):
    y = x.relu()
    y.view(-1)[3:5] = -1.0
    y.diagonal().zero_()
    return y


def geometry_in_place(x):
    y = x.exp()
    row = y[0]
    y.unsqueeze_(0).transpose_(1, 2)
    y[0, 1] = 7.0
    return y, row


def written_windows(x):
    y = x.clone()
    y.unfold(1, 2, 2)[0] = 4.0
    return y


def into_out(x):
    out = torch.empty(2)
    torch.sum(x, 1, out=out)
    return out * 2


def through_data(x):
    y = x + 1
    y.data.mul_(2)
    return y


def copy_of_input(x):
    kept = x.clone()
    x.zero_()
    return kept + x


WRITES = [
    chain_of_views,
    earlier_view,
    view_after_write,
    split_and_write,
    reshaped,
    geometry_in_place,
    written_windows,
    into_out,
    through_data,
    copy_of_input,
]


@pytest.mark.parametrize("model", WRITES, ids=lambda model: model.__name__)
def test_writes_have_the_effect_that_they_have_in_memory(model):
    torch.manual_seed(0)
    data = torch.randn(2, 4)
    program = export(model, [data.clone()])
    compare(program, model, [data])


def test_unseen_change_of_memory_is_refused():
    def model(x):
        y = x + 1
        y.data = outside
        return y * x

    outside = torch.ones(3)

    with pytest.raises(errors.OnnxExporterError, match="other memory"):
        torch.onnx.export(model, torch.ones(3))


def test_set_is_an_operator_without_translation():
    def model(x):
        y = x + 1
        y.set_(x.untyped_storage())
        return y * x

    with pytest.raises(errors.OnnxExporterError, match=r"in set_.*has no translation"):
        torch.onnx.export(model, torch.ones(3))


# -- operators that are kept whole
# ------------------------------------------------------------


def test_other_modes_see_what_operators_are_made_of():
    def function(x):
        return torch.softmax(torch.nn.functional.layer_norm(x, (3,)), -1)

    before = make_fx(function)(torch.randn(2, 3)).code
    assert node_types(export(function, [torch.randn(2, 3)])) == ["LayerNormalization", "Softmax"]
    assert make_fx(function)(torch.randn(2, 3)).code == before


def test_calls_of_other_threads_are_not_recorded():
    def model(x):
        other = threading.Thread(target=lambda: torch.nn.functional.layer_norm(torch.ones(3).exp(), (3,)))
        other.start()
        other.join()
        return x + 1

    assert node_types(export(model, [torch.ones(3)])) == ["Add"]


def test_expressions_are_translated():
    """Operators without a rule of their own."""
    found = node_types(export(lambda x: torch.special.entr(x).deg2rad(), [torch.rand(5)]))
    assert "Log" in found and "Where" in found


# -- what is called below Python
# ------------------------------------------------------------


def test_gradients():
    def model(x, w):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            energy = (torch.tanh(x @ w) ** 2).sum()
            return torch.autograd.grad(energy, x)[0]

    args = [torch.randn(3, 4), torch.randn(4, 2)]
    program = torch.onnx.export(model, tuple(args))
    torch.testing.assert_close(program(*args)[0], model(*args))


def test_vmap():
    def model(x, w):
        return torch.func.vmap(lambda row: torch.softmax(row @ w, 0))(x)

    export(model, [torch.randn(3, 4), torch.randn(4, 2)])


# -- where a refused call comes from
# ------------------------------------------------------------


def write_at(x, t):
    y = x * 1
    y[t] = 0.0
    return y


@pytest.mark.parametrize(
    "model",
    [
        lambda x, t: x[t] + 1,
        lambda x, t: x[:, t] + 1,
        lambda x, t: x[t:] + 1,
        lambda x, t: torch.full((2,), t) + 1,
        lambda x, t: torch.add(x, x, alpha=t),
        lambda x, t: x.clamp(t, 3),
        lambda x, t: torch.arange(t) + 1,
        lambda x, t: x.topk(t, 0).values,
        lambda x, t: x.narrow(0, t, 2) + 1,
        write_at,
    ],
    ids=range(10),
)
def test_tensors_that_are_taken_as_numbers(model):
    x = torch.randn(4, 3)
    export(model, [x, torch.tensor(1)], [x, torch.tensor(2)])


@pytest.mark.parametrize(
    "model", [lambda x, t: x.view(t, -1), lambda x, t: torch.tensor([t, t]) + x[0, 0]], ids=["view", "tensor"]
)
def test_numbers_that_are_kept_are_warned_of(model):
    with pytest.warns(errors.TracerWarning, match="reads a number"):
        torch.onnx.export(model, (torch.randn(4, 3), torch.tensor(2)))


def test_reading_by_an_operator_warns():
    def model(x, sizes):
        return torch.tensor_split(x, sizes)

    with pytest.warns(errors.TracerWarning, match="tensor_split"):
        torch.onnx.export(model, (torch.randn(4), torch.tensor([1, 2])))
    parts = export(lambda x: torch.tensor_split(x, torch.tensor([1, 2])), [torch.randn(4)])
    assert len(parts.model_proto.graph.output) == 3


def test_each_argument_that_an_operator_reads_warns():
    def model(x, offsets):
        return torch.segment_reduce(x, "sum", offsets=offsets)

    with pytest.warns(errors.TracerWarning, match="segment_reduce"):
        torch.onnx.export(model, (torch.randn(4), torch.tensor([0, 1, 4])))


def test_integers_are_widened_or_refused():
    small = torch.tensor([1, 2, 3], dtype=torch.uint8)
    assert node_types(export(lambda x: x**2 @ x, [small])).count("MatMul") == 1
    with pytest.raises(errors.UnsupportedOperatorError, match="max_pool1d.*torch.int64.*MaxPool"):
        torch.onnx.export(nn.MaxPool1d(2), torch.ones(1, 4, dtype=torch.int64))


class Inner(nn.Module):
    def forward(self, x):
        return torch.cummax(x, 0).values  # the line in question


def test_refusal_names_the_line():
    with pytest.raises(errors.UnsupportedOperatorError) as caught:
        torch.onnx.export(nn.Sequential(nn.ReLU(), Inner()), torch.ones(3))
    error = caught.value
    assert (error.operator, error.module, error.file) == ("cummax", "1", __file__)
    assert "torch.cummax(x, 0).values  # the line in question" in str(error)
