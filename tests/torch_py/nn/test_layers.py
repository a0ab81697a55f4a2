"""Layers and activations: results, gradients, running statistics, dropout and bags of embeddings."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.subject import only_torch_py, torch
from tests.torch_py.outcomes import outcome

nn = torch.nn
F = torch.nn.functional
tensor = torch.tensor


def test_dropout_is_seeded_and_off_in_evaluation() -> None:
    torch.manual_seed(0)
    assert nn.Dropout(0.5)(torch.ones(8)).tolist() == [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 2.0]

    x = torch.ones(4)
    assert nn.Dropout(0.9).eval()(x).tolist() == x.tolist()
    assert nn.Dropout(1.0)(x).tolist() == [0.0] * 4

    torch.manual_seed(0)
    y = torch.ones(8)
    assert F.dropout(y, 0.5, True, inplace=True) is y and y.tolist() == [
        0.0,
        0.0,
        2.0,
        0.0,
        0.0,
        0.0,
        2.0,
        2.0,
    ]

    with pytest.raises(ValueError, match="between 0 and 1, but got 1.5"):
        nn.Dropout(1.5)


def test_dropout2d_drops_channels() -> None:
    torch.manual_seed(0)
    y = nn.Dropout2d(0.5)(torch.ones(2, 3, 2, 2))
    assert y[:, :, 0, 0].flatten().tolist() == [0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
    assert torch.equal(y, y[:, :, :1, :1].expand(2, 3, 2, 2))


def test_batch_norm_statistics() -> None:
    layer = nn.BatchNorm1d(1)
    x = torch.tensor([[1.0], [3.0]])

    assert layer(x).flatten().tolist() == pytest.approx([-1.0, 1.0], abs=1e-4)
    assert layer.running_mean.item() == pytest.approx(0.2) and layer.running_var.item() == pytest.approx(1.1)
    assert layer.num_batches_tracked.item() == 1

    layer.eval()
    assert layer(x).flatten().tolist() == pytest.approx([0.8 / 1.1**0.5, 2.8 / 1.1**0.5], abs=1e-4)

    average = nn.BatchNorm1d(1, momentum=None)
    average(x)
    average(x + 2)
    assert average.running_mean.item() == pytest.approx(3.0)

    with pytest.raises(ValueError, match="expected 2D or 3D input"):
        layer(torch.ones(1, 1, 1, 1))
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        nn.BatchNorm1d(2)(torch.ones(1, 2))


def test_layer_and_group_norm() -> None:
    x = torch.tensor([[1.0, 3.0], [2.0, 6.0]])
    assert nn.LayerNorm(2)(x).flatten().tolist() == pytest.approx([-1, 1, -1, 1], abs=1e-4)
    assert nn.LayerNorm(2, bias=False).bias is None
    assert nn.GroupNorm(1, 2)(x).flatten().tolist() == pytest.approx([-1, 1, -1, 1], abs=1e-4)


def test_embedding() -> None:
    table = nn.Embedding(3, 2, padding_idx=-3)
    assert table.padding_idx == 0
    table(torch.tensor([[0, 1], [1, 2]])).sum().backward()
    assert table.weight.grad.tolist() == [[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]]
    frozen = nn.Embedding.from_pretrained(torch.ones(2, 2))
    assert not frozen.weight.requires_grad and frozen(torch.tensor(1)).tolist() == [1.0, 1.0]
    with pytest.raises(AssertionError, match="within num_embeddings"):
        nn.Embedding(3, 2, padding_idx=3)


@pytest.mark.parametrize(
    "layer, expected",
    [
        (nn.ReLU(), [0.0, 0.0, 2.0]),
        (nn.LeakyReLU(0.1), [-0.1, 0.0, 2.0]),
        (nn.ELU(), [-0.632121, 0.0, 2.0]),
        (nn.GELU(), [-0.158655, 0.0, 1.9545]),
        (nn.GELU("tanh"), [-0.158808, 0.0, 1.954598]),
        (nn.SiLU(), [-0.268941, 0.0, 1.761594]),
        (nn.Sigmoid(), [0.268941, 0.5, 0.880797]),
        (nn.Tanh(), [-0.761594, 0.0, 0.964028]),
        (nn.Softplus(), [0.313262, 0.693147, 2.126928]),
        (nn.LogSigmoid(), [-1.313262, -0.693147, -0.126928]),
        (nn.Hardtanh(), [-1.0, 0.0, 1.0]),
        (nn.ReLU6(), [0.0, 0.0, 2.0]),
        (nn.Mish(), [-0.303401, 0.0, 1.943959]),
        (nn.Hardswish(), [-0.333333, 0.0, 1.666667]),
        (nn.Softmax(dim=0), [0.04201, 0.114195, 0.843795]),
        (nn.LogSoftmax(dim=-1), [-3.169846, -2.169846, -0.169846]),
    ],
)
def test_activations(layer: Any, expected: list[float]) -> None:
    x = torch.tensor([-1.0, 0.0, 2.0])
    assert layer(x).tolist() == pytest.approx(expected, abs=2e-6)
    assert x.tolist() == [-1.0, 0.0, 2.0]


def test_in_place_activations() -> None:
    for layer in (
        nn.ReLU(inplace=True),
        nn.LeakyReLU(inplace=True),
        nn.ELU(inplace=True),
        nn.SiLU(inplace=True),
        nn.Hardtanh(inplace=True),
    ):
        x = torch.tensor([-1.0, 2.0])
        expected = type(layer)()(x).tolist()
        assert layer(x) is x and x.tolist() == expected


def test_pooling_layers() -> None:
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert nn.MaxPool2d(2)(x).flatten().tolist() == [5, 7, 13, 15]
    values, indices = nn.MaxPool2d(2, return_indices=True)(x)
    assert indices.flatten().tolist() == [5, 7, 13, 15]
    assert nn.AvgPool2d(2, stride=1, padding=1)(x).shape == (1, 1, 5, 5)
    assert nn.AdaptiveAvgPool2d(1)(x).item() == 7.5
    assert nn.AdaptiveAvgPool2d((None, 2))(x).shape == (1, 1, 4, 2)


def test_convolution_layers() -> None:
    x = torch.arange(9.0).reshape(1, 1, 3, 3)
    layer = nn.Conv2d(1, 1, 3, padding="same", bias=False)
    nn.init.ones_(layer.weight)
    assert layer(x).flatten().tolist() == [8, 15, 12, 21, 36, 27, 20, 33, 24]

    wrapped = nn.Conv2d(1, 1, 3, padding=1, padding_mode="circular", bias=False)
    nn.init.ones_(wrapped.weight)
    assert wrapped(x).flatten().tolist() == [36.0] * 9

    even = nn.Conv2d(1, 1, 2, padding="same", bias=False)
    assert even(x).shape == (1, 1, 3, 3)

    for arguments, message in (
        ((3, 4, 1, 1, 0, 1, 2), "in_channels must be divisible by groups"),
        ((2, 4, 1, 2, "same"), "not supported for strided"),
    ):
        with pytest.raises(ValueError, match=message):
            nn.Conv2d(*arguments)


@pytest.mark.parametrize(
    "mode, expected",
    [
        ("reflect", [2, 1, 0, 1, 2, 1]),
        ("replicate", [0, 0, 0, 1, 2, 2]),
        ("circular", [1, 2, 0, 1, 2, 0]),
        ("constant", [0, 0, 0, 1, 2, 0]),
    ],
)
def test_padding_modes(mode: str, expected: list[int]) -> None:
    x = torch.arange(3.0).reshape(1, 3)
    assert F.pad(x, (2, 1), mode=mode).tolist() == [expected]


def test_flatten_and_unflatten() -> None:
    x = torch.ones(2, 3, 4)
    assert nn.Flatten()(x).shape == (2, 12) and nn.Flatten(0, 1)(x).shape == (6, 4)
    assert nn.Unflatten(1, (3, -1))(torch.ones(2, 6)).shape == (2, 3, 2)


def test_normalize_and_cosine() -> None:
    x = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
    assert F.normalize(x).flatten().tolist() == pytest.approx([0.6, 0.8, 0.0, 0.0])
    assert F.cosine_similarity(x[:1], 2 * x[:1]).item() == pytest.approx(1.0)


@only_torch_py
def test_missing_operators_are_named() -> None:
    with pytest.raises(NotImplementedError, match="'_pin_memory' is not part of this build"):
        torch.ops.aten._pin_memory(torch.ones(1))


SOFTMAX_CALLS = {
    "softmax backward": lambda t: t._softmax_backward_data(
        t.tensor([1.0, 2.0]), t.tensor([0.25, 0.75]), 0, t.float32
    ).tolist()
}


@pytest.mark.parametrize("call", SOFTMAX_CALLS.values(), ids=SOFTMAX_CALLS)
def test_softmax_backward_agrees_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)


@pytest.mark.parametrize(
    "bias, expected",
    [(2.0, [[5.0] * 4] * 2), ([[1.0], [2.0]], [[4.0] * 4, [5.0] * 4]), ([[1.0] * 4] * 2, [[4.0] * 4] * 2)],
)
def test_linear_broadcasts_its_bias(bias: Any, expected: Any) -> None:
    values = torch.tensor(bias, requires_grad=True)
    found = F.linear(torch.ones(2, 3), torch.ones(4, 3), values)
    assert found.tolist() == expected
    found.sum().backward()
    assert values.grad.shape == values.shape and values.grad.sum().item() == 8


def test_linear_adds_a_bias_of_the_result_shape() -> None:
    assert (
        F.linear(torch.ones(5, 2, 3), torch.ones(4, 3), torch.ones(5, 2, 4)).tolist() == [[[4.0] * 4] * 2] * 5
    )
    with pytest.raises(RuntimeError, match="expand"):
        F.linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(5, 2, 4))


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1.0, 1e8])
def test_running_variance_of_small_and_large_numbers(scale: float) -> None:
    x = torch.tensor([[1.0], [2.0], [4.0], [5.0]]) * scale
    running = torch.zeros(1)
    F.batch_norm(x, torch.zeros(1), running, training=True, momentum=1.0)
    assert math.isclose(running.item(), 10 / 3 * scale**2, rel_tol=1e-5)


def test_layers_without_bias_have_a_gradient() -> None:
    layer = torch.nn.Linear(3, 2, bias=False)
    layer(torch.ones(2, 3)).sum().backward()
    assert layer.weight.grad.tolist() == [[2.0] * 3] * 2


def test_relu_does_not_hide_the_gradient_of_nan() -> None:
    x = torch.tensor([math.nan, 1.0, -1.0, 0.0], requires_grad=True)
    F.relu(x).backward(torch.tensor([3.0, 3.0, 3.0, 3.0]))
    assert x.grad.tolist() == [3.0, 3.0, 0.0, 0.0]


@pytest.mark.parametrize("shape", [(0, 4, 3, 3), (2, 4, 0, 3)])
def test_batch_norm_of_an_empty_batch_has_zero_gradients(shape: tuple[int, ...]) -> None:
    layer = nn.BatchNorm2d(4)
    layer(torch.zeros(shape)).sum().backward()
    assert layer.weight.grad.tolist() == layer.bias.grad.tolist() == layer.running_mean.tolist() == [0.0] * 4


def test_rms_norm_keeps_the_dtype_of_its_input() -> None:
    assert F.rms_norm(torch.ones(2, 4, dtype=torch.bfloat16), (4,), torch.ones(4)).dtype == torch.bfloat16


def test_cross_map_normalization() -> None:
    maps = torch.arange(1.0, 7.0).view(1, 6, 1, 1)
    sums = {2: [1, 5, 10, 17, 26, 37], 3: [5, 14, 30, 51, 78, 62], 5: [14, 30, 55, 91, 87, 78]}

    for size, expected in sums.items():
        result = nn.CrossMapLRN2d(size, alpha=1.0, beta=1.0, k=0.0)(maps)
        torch.testing.assert_close(
            size * maps / result, torch.tensor(expected, dtype=torch.float32).view(1, 6, 1, 1)
        )

    x = torch.randn(2, 3, 2, 2, dtype=torch.float64, requires_grad=True)
    assert nn.CrossMapLRN2d(1)(x).shape == x.shape
    with pytest.raises(ValueError, match="4D"):
        nn.CrossMapLRN2d(3)(x[0])
    assert repr(nn.CrossMapLRN2d(3, 1, 2, 3)) == "CrossMapLRN2d(3, alpha=1, beta=2, k=3)"


def test_bags():
    weight = tensor([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], requires_grad=True)
    bags = tensor([[0, 1], [2, 2]])

    assert F.embedding_bag(bags, weight).tolist() == [[2, -1], [5, 6]]
    assert F.embedding_bag(bags, weight, mode="sum").tolist() == [[4, -2], [10, 12]]
    assert F.embedding_bag(bags, weight, mode="max").tolist() == [[3, 2], [5, 6]]
    assert F.embedding_bag(bags, weight, mode="sum", padding_idx=1).tolist() == [[1, 2], [10, 12]]

    assert F.embedding_bag(tensor([0, 1, 2]), weight, tensor([0, 2, 2])).tolist() == [[2, -1], [0, 0], [5, 6]]

    weighted = F.embedding_bag(bags, weight, mode="sum", per_sample_weights=tensor([[1.0, 2.0], [0.0, 1.0]]))
    assert weighted.tolist() == [[7, -6], [5, 6]]

    # Indices after the last offset belong to no bag.
    offsets = tensor([0, 1, 2])
    closed = F.embedding_bag(tensor([0, 1, 2]), weight, offsets, mode="sum", include_last_offset=True)
    assert closed.tolist() == [[1, 2], [3, -4]]

    F.embedding_bag(bags, weight, mode="max").sum().backward()
    assert weight.grad.tolist() == [[0, 1], [1, 0], [1, 1]]


def test_max_norm_changes_the_table():
    weight = tensor([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]])
    found = F.embedding(tensor([0, 1]), weight, max_norm=1.0)
    torch.testing.assert_close(found, tensor([[0.6, 0.8], [0.3, 0.4]]))
    torch.testing.assert_close(weight, tensor([[0.6, 0.8], [0.3, 0.4], [30.0, 40.0]]))


def test_instance_rms_and_local_response_norm():
    torch.manual_seed(0)
    x = torch.randn(2, 3, 8) * 3 + 1

    normalised = F.instance_norm(x)
    torch.testing.assert_close(normalised.mean(-1), torch.zeros(2, 3), atol=1e-5, rtol=0)

    layer = nn.InstanceNorm1d(3, track_running_stats=True)
    layer(x)
    torch.testing.assert_close(layer.running_mean, 0.1 * x.mean((0, 2)))
    torch.testing.assert_close(nn.InstanceNorm1d(3)(x[0]), normalised[0])

    torch.testing.assert_close(
        nn.RMSNorm(8)(x), x / (x * x).mean(-1, keepdim=True).sqrt(), atol=1e-5, rtol=1e-5
    )

    assert F.local_response_norm(
        torch.ones(1, 2, 1), 2, alpha=1.0, beta=1.0
    ).flatten().tolist() == pytest.approx([1 / 1.5, 1 / 2])


def test_dropout_of_channels():
    torch.manual_seed(0)

    for layer, shape in (
        (nn.Dropout1d(), (40, 5, 3)),
        (nn.Dropout3d(), (40, 5, 2, 2, 2)),
        (nn.Dropout1d(), (200, 3)),
    ):
        dropped = layer(torch.ones(shape))
        channels = dropped.reshape(200, -1)
        assert set(channels.flatten().tolist()) == {0.0, 2.0} and bool((channels == channels[:, :1]).all())
        assert torch.equal(layer.eval()(torch.ones(shape)), torch.ones(shape))

    kept = nn.AlphaDropout(0.3)(torch.randn(20000))
    assert abs(kept.mean().item()) < 0.05 and abs(kept.var().item() - 1) < 0.1


def test_sync_batch_norm_takes_the_place_of_others():
    model = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)))
    assert isinstance(model[1], nn.SyncBatchNorm) and list(model.state_dict())[2] == "1.weight"


@pytest.mark.parametrize("start", [-math.inf, math.inf])
def test_infinite_running_statistics_stay_infinite(start: float) -> None:
    mean = torch.full((2,), start)
    variance = torch.full((2,), start)
    F.batch_norm(torch.randn(4, 2), mean, variance, training=True)
    assert mean.tolist() == variance.tolist() == [start] * 2
