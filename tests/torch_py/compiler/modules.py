"""A module of every class of `nn`, with inputs for any size of the batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch_py as torch
from torch_py import nn

Inputs = Callable[[int], list[Any]]
Made = tuple[Callable[[], nn.Module], Inputs]


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[], nn.Module]
    inputs: Inputs  # of a size of the batch


def floats(*shape: int) -> Inputs:
    """One tensor with elements of a normal distribution; the batch is in front of its shape."""
    return lambda batch: [torch.randn(batch, *shape)]


def several(*makers: Inputs) -> Inputs:
    return lambda batch: [tensor for maker in makers for tensor in maker(batch)]


def integers(high: int, *shape: int) -> Inputs:
    return lambda batch: [torch.randint(0, high, (batch, *shape))]


def between(low: float, high: float, *shape: int) -> Inputs:
    return lambda batch: [torch.empty(batch, *shape).uniform_(low, high)]


def signs(*shape: int) -> Inputs:
    return lambda batch: [torch.randint(0, 2, (batch, *shape)) * 2.0 - 1.0]


def steps_first(length: int, width: int) -> Inputs:
    """A sequence whose batch is its second dimension."""
    return lambda batch: [torch.randn(length, batch, width)]


def _ctc(batch: int) -> list[Any]:
    scores = torch.randn(7, batch, 5).log_softmax(2)
    return [scores, torch.randint(1, 5, (batch, 3)), torch.full((batch,), 7), torch.full((batch,), 3)]


def _unpooled(rank: int) -> Inputs:
    def inputs(batch: int) -> list[Any]:
        pool = getattr(nn.functional, f"max_pool{rank}d")
        return list(pool(torch.randn(batch, 2, *[4] * rank), 2, return_indices=True))

    return inputs


class _Last(nn.Module):
    """Takes all that a sequence of modules in a container, or a list of parameters, makes of its input."""

    def __init__(self, parts: Any) -> None:
        super().__init__()
        self.parts = parts

    def forward(self, x: Any) -> Any:
        parts = self.parts.values() if hasattr(self.parts, "values") else self.parts
        for part in parts:
            x = part(x) if isinstance(part, nn.Module) else x * part
        return x


_IMAGES = floats(4, 6, 6)
_SPATIAL = {1: floats(4, 8), 2: floats(4, 6, 6), 3: floats(4, 4, 4, 4)}
_FEATURES = floats(8)
_SCORES = several(floats(5), integers(5))
_PAIR = several(floats(6), floats(6))
_PLAIN = (
    "CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LogSigmoid Mish PReLU RReLU "
    "ReLU ReLU6 SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink Dropout AlphaDropout Flatten"
).split()
_OF_PAIRS = "MSELoss L1Loss SmoothL1Loss HuberLoss PairwiseDistance CosineSimilarity PoissonNLLLoss".split()
# The arguments of modules that exist for sequences, images and volumes.
_OF_EVERY_RANK: dict[str, tuple[Any, ...]] = {
    "AdaptiveAvgPool": (2,),
    "AdaptiveMaxPool": (2,),
    "AvgPool": (2,),
    "MaxPool": (2,),
    "LPPool": (2.0, 2),
    "BatchNorm": (4,),
    "InstanceNorm": (4,),
    "Conv": (4, 2, 3),
    "ConvTranspose": (4, 2, 3),
    "CircularPad": (1,),
    "ConstantPad": (1, 0.5),
    "ReflectionPad": (1,),
    "ReplicationPad": (1,),
    "ZeroPad": (1,),
    "LazyBatchNorm": (),
    "LazyInstanceNorm": (),
    "LazyConv": (2, 3),
    "LazyConvTranspose": (2, 3),
    "Dropout": (),
}


def _table() -> dict[str, Made]:
    return {
        **{name: (getattr(nn, name), _FEATURES) for name in _PLAIN},
        **{name: (getattr(nn, name), _PAIR) for name in _OF_PAIRS},
        **{
            name: (lambda name=name: getattr(nn, name)(1), _FEATURES)
            for name in ("GLU", "Softmax", "Softmin")
        },
        "LogSoftmax": (lambda: nn.LogSoftmax(1), _FEATURES),
        "Softmax2d": (nn.Softmax2d, _IMAGES),
        "Threshold": (lambda: nn.Threshold(0.1, 2.0), _FEATURES),
        "Linear": (lambda: nn.Linear(8, 3), _FEATURES),
        "LazyLinear": (lambda: nn.LazyLinear(3), _FEATURES),
        "Bilinear": (lambda: nn.Bilinear(6, 6, 3), _PAIR),
        "Unflatten": (lambda: nn.Unflatten(1, (2, 4)), _FEATURES),
        **_of_ranks(),
        **_of_images(),
        **_losses(),
        **_sequences(),
        **_containers(),
    }


def _of_ranks() -> dict[str, Made]:
    """What exists for sequences, images and volumes."""
    found: dict[str, Made] = {}
    for rank, inputs in _SPATIAL.items():
        for prefix, values in _OF_EVERY_RANK.items():
            name = f"{prefix}{rank}d"
            found[name] = (lambda name=name, values=values: getattr(nn, name)(*values), inputs)
        found[f"MaxUnpool{rank}d"] = (lambda rank=rank: getattr(nn, f"MaxUnpool{rank}d")(2), _unpooled(rank))
    return found


def _of_images() -> dict[str, Made]:
    return {
        "ChannelShuffle": (lambda: nn.ChannelShuffle(2), _IMAGES),
        "CrossMapLRN2d": (lambda: nn.CrossMapLRN2d(3), _IMAGES),
        "LocalResponseNorm": (lambda: nn.LocalResponseNorm(3), _IMAGES),
        "FeatureAlphaDropout": (nn.FeatureAlphaDropout, _IMAGES),
        "Fold": (lambda: nn.Fold((4, 4), 2), floats(8, 9)),
        "Unfold": (lambda: nn.Unfold(2), _IMAGES),
        "FractionalMaxPool2d": (lambda: nn.FractionalMaxPool2d(2, output_size=3), _IMAGES),
        "FractionalMaxPool3d": (lambda: nn.FractionalMaxPool3d(2, output_size=2), _SPATIAL[3]),
        "GroupNorm": (lambda: nn.GroupNorm(2, 4), _IMAGES),
        "LayerNorm": (lambda: nn.LayerNorm((6, 6)), _IMAGES),
        "RMSNorm": (lambda: nn.RMSNorm((6, 6)), _IMAGES),
        "SyncBatchNorm": (lambda: nn.SyncBatchNorm(4).eval(), _IMAGES),
        "PixelShuffle": (lambda: nn.PixelShuffle(2), _IMAGES),
        "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), _IMAGES),
        "Upsample": (lambda: nn.Upsample(scale_factor=1.5, mode="bicubic"), _IMAGES),
        "UpsamplingBilinear2d": (lambda: nn.UpsamplingBilinear2d(scale_factor=2), _IMAGES),
        "UpsamplingNearest2d": (lambda: nn.UpsamplingNearest2d(scale_factor=2), _IMAGES),
    }


def _losses() -> dict[str, Made]:
    triple = several(floats(6), floats(6), floats(6))
    return {
        "AdaptiveLogSoftmaxWithLoss": (
            lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 10, [4, 7]),
            several(_FEATURES, integers(10)),
        ),
        "BCELoss": (nn.BCELoss, several(between(0.1, 0.9, 6), between(0.0, 1.0, 6))),
        "BCEWithLogitsLoss": (nn.BCEWithLogitsLoss, several(floats(6), between(0.0, 1.0, 6))),
        "CTCLoss": (nn.CTCLoss, _ctc),
        "CosineEmbeddingLoss": (nn.CosineEmbeddingLoss, several(_PAIR, signs())),
        "CrossEntropyLoss": (lambda: nn.CrossEntropyLoss(label_smoothing=0.1), _SCORES),
        "KLDivLoss": (lambda: nn.KLDivLoss(reduction="batchmean"), several(floats(5), between(0.1, 1.0, 5))),
        "LinearCrossEntropyLoss": (lambda: nn.LinearCrossEntropyLoss(8, 5), several(_FEATURES, integers(5))),
        "GaussianNLLLoss": (nn.GaussianNLLLoss, several(_PAIR, between(0.5, 2.0, 6))),
        "HingeEmbeddingLoss": (nn.HingeEmbeddingLoss, several(floats(6), signs(6))),
        "MarginRankingLoss": (nn.MarginRankingLoss, several(floats(), floats(), signs())),
        "MultiLabelMarginLoss": (nn.MultiLabelMarginLoss, several(floats(5), integers(5, 5))),
        "MultiLabelSoftMarginLoss": (nn.MultiLabelSoftMarginLoss, several(floats(5), between(0.0, 1.0, 5))),
        "MultiMarginLoss": (nn.MultiMarginLoss, _SCORES),
        "NLLLoss": (nn.NLLLoss, _SCORES),
        "NLLLoss2d": (nn.NLLLoss2d, several(floats(5, 2, 2), integers(5, 2, 2))),
        "SoftMarginLoss": (nn.SoftMarginLoss, several(floats(6), signs(6))),
        "TripletMarginLoss": (nn.TripletMarginLoss, triple),
        "TripletMarginWithDistanceLoss": (nn.TripletMarginWithDistanceLoss, triple),
    }


def _sequences() -> dict[str, Made]:
    found: dict[str, Any] = {
        "Embedding": (lambda: nn.Embedding(10, 4, padding_idx=0), integers(10, 3)),
        "EmbeddingBag": (lambda: nn.EmbeddingBag(10, 4), integers(10, 3)),
        "MultiheadAttention": (
            lambda: nn.MultiheadAttention(8, 2, batch_first=True),
            several(floats(3, 8), floats(5, 8), floats(5, 8)),
        ),
        "Transformer": (
            lambda: nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True),
            several(floats(3, 8), floats(4, 8)),
        ),
        "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0), floats(3, 8)),
        "TransformerDecoderLayer": (
            lambda: nn.TransformerDecoderLayer(8, 2, 16, 0.0),
            several(steps_first(3, 8), steps_first(4, 8)),
        ),
        "TransformerEncoder": (
            lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 2),
            floats(3, 8),
        ),
        "TransformerDecoder": (
            lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True), 2),
            several(floats(3, 8), floats(4, 8)),
        ),
    }

    for name in ("RNN", "GRU", "LSTM"):
        found[name] = (lambda name=name: getattr(nn, name)(8, 3, batch_first=True), floats(4, 8))
        found[f"{name}Cell"] = (lambda name=name: getattr(nn, f"{name}Cell")(8, 3), _FEATURES)
    return found


def _containers() -> dict[str, Made]:
    def layers() -> list[nn.Module]:
        return [nn.Linear(8, 8), nn.Tanh()]

    def weights() -> list[nn.Parameter]:
        return [nn.Parameter(torch.randn(8)) for _ in range(2)]

    return {
        "Sequential": (lambda: nn.Sequential(*layers()), _FEATURES),
        "ModuleList": (lambda: _Last(nn.ModuleList(layers())), _FEATURES),
        "ModuleDict": (lambda: _Last(nn.ModuleDict(dict(zip("ab", layers())))), _FEATURES),
        "ParameterList": (lambda: _Last(nn.ParameterList(weights())), _FEATURES),
        "ParameterDict": (lambda: _Last(nn.ParameterDict(dict(zip("ab", weights())))), _FEATURES),
    }


CASES = [Case(name, make, inputs) for name, (make, inputs) in sorted(_table().items())]
# Bases that compute nothing.
BASES = {"Module", "Container", "RNNBase", "RNNCellBase"}
