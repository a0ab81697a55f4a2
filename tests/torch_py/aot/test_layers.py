"""Every layer, compiled ahead of time, does what it does eagerly."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch
from torch_py import nn
from torch_py._decomp import core_aten_decompositions
from torch_py._functorch.aot import aot_module, min_cut_rematerialization_partition
from torch_py._functorch.compilers import nop
from torch_py.utils._pytree import tree_leaves

Case = Callable[[], tuple[Any, tuple[Any, ...]]]


CASES: dict[str, Case] = {}


def case(name: str, make: Callable[[], Any], *inputs: Callable[[], Any]) -> None:
    CASES[name] = lambda: (make(), tuple(given() for given in inputs))


def randn(*shape: int) -> Callable[[], Any]:
    return lambda: torch.randn(*shape)


def positive(*shape: int) -> Callable[[], Any]:
    return lambda: torch.rand(*shape) * 0.8 + 0.1


def numbers(high: int, *shape: int) -> Callable[[], Any]:
    return lambda: torch.randint(0, high, shape)


# Convolutions, and what goes with them
for rank in (1, 2, 3):
    size = (9, 8, 7)[:rank]
    case(f"Conv{rank}d", lambda r=rank: getattr(nn, f"Conv{r}d")(3, 4, 3, 2, 1), randn(2, 3, *size))
    case(
        f"ConvTranspose{rank}d",
        lambda r=rank: getattr(nn, f"ConvTranspose{r}d")(3, 4, 3, 2, output_padding=1),
        randn(2, 3, *size),
    )
    for pool in ("Max", "Avg"):
        case(
            f"{pool}Pool{rank}d",
            lambda p=pool, r=rank: getattr(nn, f"{p}Pool{r}d")(3, 2, 1),
            randn(2, 3, *size),
        )
        case(
            f"Adaptive{pool}Pool{rank}d",
            lambda p=pool, r=rank: getattr(nn, f"Adaptive{p}Pool{r}d")(3),
            randn(2, 3, *size),
        )
    case(f"LPPool{rank}d", lambda r=rank: getattr(nn, f"LPPool{r}d")(2, 2), randn(2, 3, *size))
    case(f"BatchNorm{rank}d", lambda r=rank: getattr(nn, f"BatchNorm{r}d")(3), randn(4, 3, *size))
    case(
        f"InstanceNorm{rank}d",
        lambda r=rank: getattr(nn, f"InstanceNorm{r}d")(3, affine=True, track_running_stats=True),
        randn(2, 3, *size),
    )
    case(f"Dropout{rank}d", lambda r=rank: getattr(nn, f"Dropout{r}d")(0.5), randn(2, 3, *size))
    for pad in ("Reflection", "Replication", "Zero", "Constant", "Circular"):
        given = (1, 2.0) if pad == "Constant" else (1,)
        case(
            f"{pad}Pad{rank}d",
            lambda p=pad, r=rank, g=given: getattr(nn, f"{p}Pad{r}d")(*g),
            randn(2, 3, *size),
        )
case("Conv2d_groups", lambda: nn.Conv2d(4, 4, 3, groups=2, dilation=2, bias=False), randn(2, 4, 9, 8))
case(
    "Conv2d_channels_last",
    lambda: nn.Conv2d(3, 4, 3),
    lambda: torch.randn(2, 3, 9, 8).to(memory_format=torch.channels_last),
)
case("Conv2d_of_one_image", lambda: nn.Conv2d(3, 4, 3, padding="same"), randn(3, 9, 8))
case("MaxPool2d_indices", lambda: nn.MaxPool2d(2, return_indices=True), randn(2, 3, 8, 8))
case("FractionalMaxPool2d", lambda: nn.FractionalMaxPool2d(2, output_size=3), randn(2, 3, 8, 8))
case("Upsample_bilinear", lambda: nn.Upsample(scale_factor=2, mode="bilinear"), randn(2, 3, 4, 5))
case("Upsample_nearest", lambda: nn.Upsample(size=(7, 9)), randn(2, 3, 4, 5))
case("Upsample_bicubic", lambda: nn.Upsample(scale_factor=1.5, mode="bicubic"), randn(2, 3, 4, 5))
case("FractionalMaxPool3d", lambda: nn.FractionalMaxPool3d(2, output_size=3), randn(2, 3, 6, 6, 6))
case("MaxUnpool1d", lambda: nn.MaxUnpool1d(2), randn(2, 3, 4), numbers(8, 2, 3, 4))
case("MaxUnpool2d", lambda: nn.MaxUnpool2d(2), randn(2, 3, 4, 4), numbers(64, 2, 3, 4, 4))
case("MaxUnpool3d", lambda: nn.MaxUnpool3d(2), randn(2, 3, 2, 2, 2), numbers(64, 2, 3, 2, 2, 2))
case("UpsamplingBilinear2d", lambda: nn.UpsamplingBilinear2d(scale_factor=2), randn(2, 3, 4, 5))
case("UpsamplingNearest2d", lambda: nn.UpsamplingNearest2d(scale_factor=2), randn(2, 3, 4, 5))
case("CrossMapLRN2d", lambda: nn.CrossMapLRN2d(2), randn(2, 4, 5, 5))
case("PixelShuffle", lambda: nn.PixelShuffle(2), randn(2, 4, 3, 3))
case("PixelUnshuffle", lambda: nn.PixelUnshuffle(2), randn(2, 2, 4, 4))
case("ChannelShuffle", lambda: nn.ChannelShuffle(2), randn(2, 4, 3, 3))
case("Fold", lambda: nn.Fold((4, 5), 2), randn(2, 12, 12))
case("Unfold", lambda: nn.Unfold(2), randn(2, 3, 4, 5))

# Normalization, dropout, linear layers
case("LayerNorm", lambda: nn.LayerNorm([4, 5]), randn(2, 3, 4, 5))
case("GroupNorm", lambda: nn.GroupNorm(2, 4), randn(2, 4, 5))
case("RMSNorm", lambda: nn.RMSNorm(5), randn(2, 4, 5))
case("LocalResponseNorm", lambda: nn.LocalResponseNorm(2), randn(2, 4, 5, 5))
case("BatchNorm_without_momentum", lambda: nn.BatchNorm1d(3, momentum=None), randn(4, 3))
case("BatchNorm_evaluating", lambda: nn.BatchNorm1d(3).eval(), randn(4, 3))
case("Dropout", lambda: nn.Dropout(0.5), randn(4, 5))
case("AlphaDropout", lambda: nn.AlphaDropout(0.5), randn(4, 5))
case("FeatureAlphaDropout", lambda: nn.FeatureAlphaDropout(0.5), randn(2, 3, 4))
case("Linear", lambda: nn.Linear(5, 3), randn(2, 4, 5))
case("Bilinear", lambda: nn.Bilinear(2, 3, 4), randn(5, 2), randn(5, 3))
case("Embedding", lambda: nn.Embedding(7, 3, padding_idx=0), numbers(7, 2, 4))
case("Embedding_max_norm", lambda: nn.Embedding(7, 3, max_norm=0.5), numbers(7, 2, 4))
case("EmbeddingBag", lambda: nn.EmbeddingBag(7, 3), numbers(7, 2, 4))
case("Identity", lambda: nn.Identity(), randn(3))
case("Flatten_Unflatten", lambda: nn.Sequential(nn.Flatten(), nn.Unflatten(1, (2, 6))), randn(2, 3, 4))
case("weight_norm", lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)), randn(2, 3))
case("spectral_norm", lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4)), randn(2, 3))

# Activations
for name in (
    "CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid Mish PReLU ReLU ReLU6 "
    "RReLU SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink"
).split():
    case(name, lambda n=name: getattr(nn, n)(), randn(3, 4))
for name in "ReLU ReLU6 ELU SELU SiLU LeakyReLU Hardtanh Hardswish Mish CELU RReLU".split():
    # In place, on what another layer computes.
    case(
        f"{name}_in_place",
        lambda n=name: nn.Sequential(nn.Linear(4, 4), getattr(nn, n)(inplace=True)),
        randn(3, 4),
    )
case("Threshold", lambda: nn.Threshold(0.1, 2.0), randn(3, 4))
case("GLU", lambda: nn.GLU(), randn(3, 6))
case("Softmax", lambda: nn.Softmax(1), randn(3, 6))
case("LogSoftmax", lambda: nn.LogSoftmax(1), randn(3, 6))
case("Softmin", lambda: nn.Softmin(1), randn(3, 6))
case("Softmax2d", lambda: nn.Softmax2d(), randn(3, 6, 2, 2))

# Recurrent layers and attention
case("RNN", lambda: nn.RNN(3, 4, 2, batch_first=True), randn(2, 5, 3))
case("GRU", lambda: nn.GRU(3, 4, 2, bidirectional=True), randn(5, 2, 3))
case("LSTM", lambda: nn.LSTM(3, 4, 2, dropout=0.5), randn(5, 2, 3))
case("RNNCell", lambda: nn.RNNCell(3, 4), randn(2, 3))
case("GRUCell", lambda: nn.GRUCell(3, 4), randn(2, 3))
case("LSTMCell", lambda: nn.LSTMCell(3, 4), randn(2, 3))
case("MultiheadAttention", lambda: nn.MultiheadAttention(8, 2), *[randn(5, 2, 8)] * 3)
case("TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(8, 2, 16), randn(5, 2, 8))
case("TransformerDecoderLayer", lambda: nn.TransformerDecoderLayer(8, 2, 16), randn(5, 2, 8), randn(4, 2, 8))
case("Transformer", lambda: nn.Transformer(8, 2, 1, 1, 16), randn(5, 2, 8), randn(4, 2, 8))

# Losses and distances
for name in "L1Loss MSELoss SmoothL1Loss HuberLoss PairwiseDistance CosineSimilarity".split():
    case(name, lambda n=name: getattr(nn, n)(), randn(3, 4), randn(3, 4))
case("BCELoss", lambda: nn.BCELoss(), positive(3, 4), positive(3, 4))
case("BCEWithLogitsLoss", lambda: nn.BCEWithLogitsLoss(), randn(3, 4), positive(3, 4))
case("KLDivLoss", lambda: nn.KLDivLoss(reduction="batchmean"), randn(3, 4), positive(3, 4))
case("PoissonNLLLoss", lambda: nn.PoissonNLLLoss(), randn(3, 4), positive(3, 4))
case("GaussianNLLLoss", lambda: nn.GaussianNLLLoss(), randn(3, 4), randn(3, 4), positive(3, 4))
case("NLLLoss", lambda: nn.NLLLoss(), randn(3, 4), numbers(4, 3))
case("CrossEntropyLoss", lambda: nn.CrossEntropyLoss(label_smoothing=0.1), randn(3, 4), numbers(4, 3))
case("MultiMarginLoss", lambda: nn.MultiMarginLoss(), randn(3, 4), numbers(4, 3))
case("MultiLabelMarginLoss", lambda: nn.MultiLabelMarginLoss(), randn(3, 4), numbers(4, 3, 4))
case("SoftMarginLoss", lambda: nn.SoftMarginLoss(), randn(3, 4), lambda: torch.randn(3, 4).sign())
case("MultiLabelSoftMarginLoss", lambda: nn.MultiLabelSoftMarginLoss(), randn(3, 4), positive(3, 4))
case("LinearCrossEntropyLoss", lambda: nn.LinearCrossEntropyLoss(4, 6), randn(3, 4), numbers(6, 3))
case("NLLLoss2d", lambda: nn.NLLLoss2d(), randn(2, 4, 3, 3), numbers(4, 2, 3, 3))
case("TripletMarginWithDistanceLoss", lambda: nn.TripletMarginWithDistanceLoss(), *[randn(3, 4)] * 3)
case(
    "AdaptiveLogSoftmaxWithLoss", lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2]), randn(3, 4), numbers(6, 3)
)
case(
    "CTCLoss",
    lambda: nn.CTCLoss(),
    lambda: torch.randn(6, 2, 5).log_softmax(2),
    lambda: torch.randint(1, 5, (2, 3)),
    lambda: torch.full((2,), 6),
    lambda: torch.full((2,), 3),
)
case("HingeEmbeddingLoss", lambda: nn.HingeEmbeddingLoss(), randn(3, 4), lambda: torch.randn(3, 4).sign())
case("TripletMarginLoss", lambda: nn.TripletMarginLoss(), *[randn(3, 4)] * 3)
case("MarginRankingLoss", lambda: nn.MarginRankingLoss(), randn(3), randn(3), lambda: torch.randn(3).sign())
case(
    "CosineEmbeddingLoss",
    lambda: nn.CosineEmbeddingLoss(),
    randn(3, 4),
    randn(3, 4),
    lambda: torch.randn(3).sign(),
)


def trained(module: Any, called: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """Results, gradients and buffers of two steps."""
    found: list[Any] = []
    for _ in range(2):
        torch.manual_seed(1)
        given = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
        results = tree_leaves(called(*given))
        outputs = [x for x in results if x.requires_grad]
        if outputs:
            torch.autograd.backward(outputs, [torch.ones_like(x) for x in outputs])
        found += [x.detach() for x in results] + [x.grad for x in given]
    return [*found, *(p.grad for p in module.parameters()), *module.state_dict().values()]


# These ask for numbers in tensors, which is not possible while they are recorded.
DATA_DEPENDENT = (
    "AdaptiveLogSoftmaxWithLoss", "BatchNorm_without_momentum", "CTCLoss", "GaussianNLLLoss", "RReLU",
    "RReLU_in_place",
)  # fmt: skip


@pytest.mark.parametrize("name", DATA_DEPENDENT)
def test_layers_that_depend_on_data_say_so(name: str):
    module, inputs = CASES[name]()
    with pytest.raises(RuntimeError, match=r"aten\.\w+|doesn't have storage"):
        aot_module(module, nop)(*inputs)


@pytest.mark.parametrize("setting", ["default", "least_memory"])
@pytest.mark.parametrize("name", sorted({*CASES} - {*DATA_DEPENDENT}))
def test_layers(name: str, setting: str):
    torch.manual_seed(0)
    eager, inputs = CASES[name]()
    module = copy.deepcopy(eager)
    options: dict[str, Any] = {}
    if setting == "least_memory":
        options["partition_fn"] = min_cut_rematerialization_partition
        options["decompositions"] = core_aten_decompositions()

    expected = trained(eager, eager, inputs)
    found = trained(module, aot_module(module, nop, **options), inputs)
    assert len(found) == len(expected)
    for position, (one, other) in enumerate(zip(found, expected)):
        if other is None:
            assert one is None, f"{position}"
            continue
        assert one.shape == other.shape and one.dtype == other.dtype
        assert one.stride() == other.stride(), f"{position}: {one.stride()}, not {other.stride()}"
        assert torch.allclose(one, other, rtol=1e-5, atol=1e-5), f"{position}: {one}, not {other}"


def test_all_layers_are_here():
    """Modules that are listed nowhere would not be tested."""
    known = " ".join(CASES)
    others = "Module Sequential ModuleList ModuleDict ParameterList ParameterDict Container SyncBatchNorm"
    others += " RNNBase RNNCellBase"
    missing = [
        name
        for name, kind in vars(nn).items()
        if isinstance(kind, type)
        and issubclass(kind, nn.Module)
        and name not in others.split()
        and not name.startswith("Lazy")
        and name not in known
    ]
    assert missing == []
