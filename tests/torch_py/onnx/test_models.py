"""Common kinds of models, exported and run by onnxruntime, also with other sizes of dynamic dimensions."""

from __future__ import annotations

import math

import pytest

import torch_py as torch
from torch_py import nn
from torch_py.nn import functional as F

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from tests.torch_py.onnx.running import export, initializer_names, node_types  # noqa: E402

BATCH = {"x": {0: "batch"}}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def image(batch: int = 2, size: int = 16, channels: int = 3) -> torch.Tensor:
    return torch.randn(batch, channels, size, size)


def randomised(model: nn.Module) -> nn.Module:
    """Gives batch norm statistics other than 0 and 1."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    return model


def test_mlp_has_its_parameters_under_their_names():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3), nn.Softmax(-1))
    program = export(model, [torch.randn(2, 4)], [torch.randn(7, 4)], dynamic_axes=BATCH, input_names=["x"])
    assert initializer_names(program) == ["0.weight", "0.bias", "3.weight", "3.bias"]
    assert node_types(program) == ["Gemm", "Relu", "Gemm", "Softmax"]


def test_cnn():
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.LeakyReLU(0.1),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, groups=4, dilation=2),
        nn.AvgPool2d(2),
        nn.ConvTranspose2d(8, 4, 3, stride=2, output_padding=1),
        nn.GroupNorm(2, 4),
        nn.GELU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 5),
        nn.LogSoftmax(1),
    )

    export(randomised(model), [image()], [image(5)], dynamic_axes=BATCH, input_names=["x"])


def test_dynamic_image_size():
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3, stride=2, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )
    axes = {"x": {0: "batch", 2: "height", 3: "width"}}
    export(model, [image()], [torch.randn(3, 3, 9, 21)], dynamic_axes=axes, input_names=["x"])


class ResidualBlock(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x
        return self.relu(out)


def test_residual_blocks():
    model = nn.Sequential(ResidualBlock(3), nn.MaxPool2d(3, 2, 1), ResidualBlock(3))
    program = export(
        randomised(model), [image()], [image(3, 10)], dynamic_axes={"x": [0, 2, 3]}, input_names=["x"]
    )
    assert "0.conv1.weight" in initializer_names(program)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize(
    "settings",
    [{}, {"num_layers": 2, "bidirectional": True, "batch_first": True}, {"bias": False}],
    ids=["plain", "deep", "no bias"],
)
def test_recurrent_layers_are_nodes(kind, settings):
    axes = {"x": {0: "a", 1: "b"}}
    program = export(
        kind(4, 3, **settings),
        [torch.randn(5, 2, 4)],
        [torch.randn(3, 7, 4)],
        dynamic_axes=axes,
        input_names=["x"],
    )
    assert node_types(program).count(kind.__name__) == settings.get("num_layers", 1)


def test_recurrent_layer_with_given_states():
    model = nn.LSTM(4, 3)
    export(model, [torch.randn(5, 2, 4), (torch.randn(1, 2, 3), torch.randn(1, 2, 3))])
    export(nn.RNN(4, 3, nonlinearity="relu"), [torch.randn(5, 4)])


class Cells(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTMCell(4, 3)
        self.gru = nn.GRUCell(3, 3)
        self.rnn = nn.RNNCell(3, 3)

    def forward(self, x):
        hidden = torch.zeros(x.size(1), 3)
        state = (hidden, hidden)
        for step in range(4):
            state = self.lstm(x[step], state)
            hidden = self.rnn(self.gru(state[0], hidden))
        return hidden


def test_recurrent_cells():
    export(
        Cells(),
        [torch.randn(4, 2, 4)],
        [torch.randn(4, 5, 4)],
        dynamic_axes={"x": {1: "batch"}},
        input_names=["x"],
    )


@pytest.mark.parametrize("norm_first", [False, True])
def test_transformer_encoder(norm_first):
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu", norm_first=norm_first)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    axes = {"x": {0: "batch", 1: "time"}}
    export(model, [torch.randn(2, 5, 16)], [torch.randn(3, 9, 16)], dynamic_axes=axes, input_names=["x"])


class Classifier(nn.Module):
    """Embedding, mask of padding, positions by `arange`."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(20, 8, padding_idx=0)
        self.positions = nn.Embedding(50, 8)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, ids):
        padding = ids == 0
        x = self.tokens(ids) + self.positions(torch.arange(ids.size(1)))
        x = self.encoder(x, src_key_padding_mask=padding)
        kept = (~padding).unsqueeze(-1).float()
        return self.head((x * kept).sum(1) / kept.sum(1).clamp(min=1))


def test_text_classifier_with_padding():
    ids, others = torch.randint(1, 20, (2, 6)), torch.randint(1, 20, (4, 11))
    ids[0, 4:] = 0
    others[1, 2:] = 0
    export(Classifier(), [ids], [others], dynamic_axes={"ids": {0: "batch", 1: "time"}})


class PatchTransformer(nn.Module):
    """A ViT: the class token is a parameter that grows with the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.positions = nn.Parameter(torch.randn(1, 17, 16))
        self.blocks = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True),
            2,
            enable_nested_tensor=False,
        )
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


@pytest.mark.parametrize("batch", [1, 2])
def test_vision_transformer(batch):
    program = export(PatchTransformer(), [image(batch)], [image(5)], dynamic_axes=BATCH, input_names=["x"])
    assert {"token", "positions", "head.weight"} <= set(initializer_names(program))


class CausalAttention(nn.Module):
    """Attention as in nanoGPT, with the mask in a buffer; with `flash` by scaled_dot_product_attention."""

    def __init__(self, flash: bool) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        self.heads = 4
        self.flash = flash
        self.register_buffer("mask", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32), persistent=False)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (
            part.view(B, T, self.heads, C // self.heads).transpose(1, 2)
            for part in self.qkv(x).split(C, dim=2)
        )

        if self.flash:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
            y = F.softmax(att, dim=-1) @ v

        return self.out(y.transpose(1, 2).contiguous().view(B, T, C))


class GPT(nn.Module):
    def __init__(self, flash: bool) -> None:
        super().__init__()
        self.wte = nn.Embedding(30, 16)
        self.wpe = nn.Embedding(32, 16)
        self.ln = nn.LayerNorm(16)
        self.attention = CausalAttention(flash)
        self.mlp = nn.Sequential(nn.Linear(16, 64), nn.GELU(approximate="tanh"), nn.Linear(64, 16))
        self.head = nn.Linear(16, 30, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, idx):
        _, t = idx.size()
        x = self.wte(idx) + self.wpe(torch.arange(0, t, dtype=torch.long, device=idx.device))
        x = x + self.attention(self.ln(x))
        return self.head(x + self.mlp(x))


@pytest.mark.parametrize("flash", [False, True])
def test_gpt(flash):
    axes = {"idx": {0: "batch", 1: "time"}}
    program = export(
        GPT(flash), [torch.randint(0, 30, (2, 6))], [torch.randint(0, 30, (3, 21))], dynamic_axes=axes
    )
    assert initializer_names(program).count("wte.weight") == 1  # shared with the head


def test_sequence_length_that_cannot_grow():
    axes = {"idx": {1: "time"}}
    export(GPT(True), [torch.randint(0, 30, (2, 32))], [torch.randint(0, 30, (2, 4))], dynamic_axes=axes)


class Decoder(nn.Module):
    """Interpolation, pixel shuffle, skip connection, padding to the size of another tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 12, 3, padding=1)
        self.up = nn.ConvTranspose2d(12, 3, 2, 2)

    def forward(self, x):
        y = F.relu(self.conv(F.max_pool2d(x, 2)))
        up = self.up(y)
        dy, dx = x.size(2) - up.size(2), x.size(3) - up.size(3)
        up = F.pad(up, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        fine = F.interpolate(F.pixel_shuffle(y, 2), size=x.shape[2:], mode="bilinear", align_corners=False)
        return torch.cat([x, up, fine], 1)


def test_unet_decoder_with_sizes_of_other_tensors():
    axes = {"x": {0: "batch", 2: "height", 3: "width"}}
    export(Decoder(), [image()], [torch.randn(1, 3, 20, 12)], dynamic_axes=axes, input_names=["x"])


@pytest.mark.parametrize(
    "settings",
    [
        {"scale_factor": 2},
        {"scale_factor": 1.5, "mode": "bilinear"},
        {"size": (7, 5), "mode": "bilinear", "align_corners": True},
        {"size": (7, 5), "mode": "bicubic"},
        {"scale_factor": 2, "mode": "nearest-exact"},
    ],
    ids=str,
)
def test_interpolate(settings):
    export(lambda x: F.interpolate(x, **settings), [image(2, 6)], [image(4, 6)], dynamic_axes=BATCH)


def test_interpolate_follows_the_size():
    export(
        lambda x: F.interpolate(x, scale_factor=2), [image(2, 6)], [image(2, 9)], dynamic_axes={"x": [2, 3]}
    )


def test_loss_as_an_output():
    class Training(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 3)

        def forward(self, x, target):
            logits = self.linear(x)
            return {"loss": F.cross_entropy(logits, target), "probabilities": logits.softmax(-1)}

    data = [torch.randn(5, 4), torch.tensor([0, 1, 2, 1, -100])]
    export(Training(), data)


def test_einsum_and_normalize():
    def model(x, y):
        return torch.einsum("bij,bkj->bik", F.normalize(x, dim=-1), F.normalize(y, dim=-1))

    axes = {"x": {0: "batch", 1: "n"}, "y": {0: "batch", 1: "m"}}
    export(
        model,
        [torch.randn(2, 3, 4), torch.randn(2, 5, 4)],
        [torch.randn(4, 6, 4), torch.randn(4, 2, 4)],
        dynamic_axes=axes,
    )
