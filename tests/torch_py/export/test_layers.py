"""Every kind of layer is exported with a dynamic batch, in both modes, saved, loaded, and does the same."""

import inspect
import io

import pytest

import torch_py as torch
from torch_py import nn
from torch_py.export import Dim, export, load, save
from torch_py.utils._pytree import tree_leaves

torch.manual_seed(0)

# A layer, and inputs for a batch of n.
CASES = [
    lambda: (nn.MultiheadAttention(8, 2, batch_first=True), lambda n: (torch.randn(n, 5, 8),) * 3),
    lambda: (
        nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2),
        lambda n: (torch.randn(n, 5, 8),),
    ),
    lambda: (
        nn.Transformer(8, 2, 1, 1, 16, batch_first=True),
        lambda n: (torch.randn(n, 5, 8), torch.randn(n, 4, 8)),
    ),
    lambda: (nn.GRU(3, 4, 2, batch_first=True), lambda n: (torch.randn(n, 5, 3),)),
    lambda: (nn.RNN(3, 4, batch_first=True), lambda n: (torch.randn(n, 5, 3),)),
    lambda: (nn.LSTMCell(3, 4), lambda n: (torch.randn(n, 3),)),
    lambda: (nn.Conv1d(3, 4, 3, padding="same"), lambda n: (torch.randn(n, 3, 9),)),
    lambda: (nn.ConvTranspose2d(3, 4, 3, 2, output_padding=1), lambda n: (torch.randn(n, 3, 9, 9),)),
    lambda: (nn.Conv3d(2, 2, 2), lambda n: (torch.randn(n, 2, 4, 4, 4),)),
    lambda: (nn.BatchNorm3d(2), lambda n: (torch.randn(n, 2, 4, 4, 4),)),
    lambda: (
        nn.InstanceNorm2d(2, affine=True, track_running_stats=True),
        lambda n: (torch.randn(n, 2, 4, 4),),
    ),
    lambda: (nn.GroupNorm(2, 4), lambda n: (torch.randn(n, 4, 4, 4),)),
    lambda: (nn.LayerNorm([4, 4]), lambda n: (torch.randn(n, 4, 4, 4),)),
    lambda: (nn.RMSNorm(4), lambda n: (torch.randn(n, 4),)),
    lambda: (nn.LocalResponseNorm(2), lambda n: (torch.randn(n, 4, 4, 4),)),
    lambda: (nn.Embedding(5, 3, padding_idx=0, max_norm=None), lambda n: (torch.randint(0, 5, (n, 3)),)),
    lambda: (nn.EmbeddingBag(5, 3), lambda n: (torch.randint(0, 5, (n, 3)),)),
    lambda: (nn.Bilinear(2, 3, 4), lambda n: (torch.randn(n, 2), torch.randn(n, 3))),
    lambda: (nn.AvgPool2d(3, 2, 1), lambda n: (torch.randn(n, 2, 9, 9),)),
    lambda: (nn.AdaptiveAvgPool2d((3, None)), lambda n: (torch.randn(n, 2, 9, 9),)),
    lambda: (nn.AdaptiveMaxPool2d(3), lambda n: (torch.randn(n, 2, 9, 9),)),
    lambda: (nn.LPPool2d(2, 2), lambda n: (torch.randn(n, 2, 8, 8),)),
    lambda: (nn.Upsample(scale_factor=2, mode="bilinear"), lambda n: (torch.randn(n, 2, 8, 8),)),
    lambda: (nn.PixelShuffle(2), lambda n: (torch.randn(n, 4, 8, 8),)),
    lambda: (nn.Fold((4, 5), 2), lambda n: (torch.randn(n, 12, 12),)),
    lambda: (nn.Unfold(2), lambda n: (torch.randn(n, 3, 4, 5),)),
    lambda: (nn.ReflectionPad2d(1), lambda n: (torch.randn(n, 3, 4, 5),)),
    lambda: (nn.CircularPad2d(1), lambda n: (torch.randn(n, 3, 4, 5),)),
    lambda: (nn.GLU(), lambda n: (torch.randn(n, 6),)),
    lambda: (nn.PReLU(), lambda n: (torch.randn(n, 6),)),
    lambda: (nn.Softmin(1), lambda n: (torch.randn(n, 6),)),
    lambda: (nn.MSELoss(), lambda n: (torch.randn(n, 6), torch.randn(n, 6))),
    lambda: (
        nn.CrossEntropyLoss(label_smoothing=0.1),
        lambda n: (torch.randn(n, 6), torch.randint(0, 6, (n,))),
    ),
    lambda: (nn.NLLLoss(), lambda n: (torch.randn(n, 6), torch.randint(0, 6, (n,)))),
    lambda: (nn.BCEWithLogitsLoss(), lambda n: (torch.randn(n, 6), torch.rand(n, 6))),
    lambda: (nn.KLDivLoss(reduction="batchmean"), lambda n: (torch.randn(n, 6), torch.rand(n, 6))),
    lambda: (nn.HuberLoss(), lambda n: (torch.randn(n, 6), torch.rand(n, 6))),
    lambda: (nn.TripletMarginLoss(), lambda n: (torch.randn(n, 6), torch.rand(n, 6), torch.rand(n, 6))),
    lambda: (nn.CosineSimilarity(), lambda n: (torch.randn(n, 6), torch.rand(n, 6))),
    lambda: (nn.PairwiseDistance(), lambda n: (torch.randn(n, 6), torch.rand(n, 6))),
    lambda: (nn.Dropout(0.5), lambda n: (torch.randn(n, 6),)),
    lambda: (nn.Sequential(nn.Flatten(), nn.Unflatten(1, (2, 3))), lambda n: (torch.randn(n, 6),)),
    lambda: (nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)), lambda n: (torch.randn(n, 3),)),
    lambda: (nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4)), lambda n: (torch.randn(n, 3),)),
]


def shapes_of(layer, inputs):
    shapes = tuple({0: Dim("batch")} for _ in inputs)
    kinds = [parameter.kind for parameter in inspect.signature(layer.forward).parameters.values()]
    return (shapes,) if inspect.Parameter.VAR_POSITIONAL in kinds else shapes


@pytest.mark.parametrize("mode", ["eval", "train"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: type(case()[0]).__name__)
def test_a_layer_is_exported(case, mode):
    layer, inputs_for = case()
    layer.train(mode == "train")
    inputs = inputs_for(4)
    program = export(layer, inputs, dynamic_shapes=shapes_of(layer, inputs))

    file = io.BytesIO()
    save(program, file)
    file.seek(0)
    module = load(file).module()
    for batch in (4, 9, 2):
        inputs = inputs_for(batch)
        torch.manual_seed(1)
        expected = tree_leaves(layer(*inputs))
        torch.manual_seed(1)
        found = tree_leaves(module(*inputs))
        for one, other in zip(expected, found, strict=True):
            torch.testing.assert_close(other, one)
    for name, buffer in layer.named_buffers():
        torch.testing.assert_close(module.get_buffer(name), buffer)
