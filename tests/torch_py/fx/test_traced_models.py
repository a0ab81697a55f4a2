"""Models of several kinds are traced, run, copied and trained like the originals."""

import copy
import math
import pickle
from typing import Any

import pytest

from tests.subject import torch

nn = torch.nn
functional = torch.nn.functional


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 8), nn.Linear(8, 8), nn.Linear(8, 3)])
        self.dropout = nn.Dropout(0.0)

    def forward(self, x: Any) -> Any:
        for layer in self.layers[:-1]:
            x = self.dropout(functional.gelu(layer(x)))
        return functional.log_softmax(self.layers[-1](x), dim=-1)

    example = (4, 6)


class Residual(nn.Module):
    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, 2 * channels, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(2 * channels)
        self.second = nn.Conv2d(2 * channels, 2 * channels, 3, 1, 1)
        self.shortcut = nn.Sequential(
            nn.Conv2d(channels, 2 * channels, 1, stride), nn.BatchNorm2d(2 * channels)
        )

    def forward(self, x: Any) -> Any:
        y = self.second(functional.relu(self.norm(self.first(x)), inplace=True))
        y += self.shortcut(x)
        return functional.relu(y)


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.blocks = nn.Sequential(Residual(4, 1), Residual(8, 2))
        self.head = nn.Linear(16, 5)

    def forward(self, x: Any) -> Any:
        x = functional.max_pool2d(self.stem(x), 2)
        x = functional.adaptive_avg_pool2d(self.blocks(x), 1)
        return self.head(torch.flatten(x, 1))

    example = (2, 3, 12, 12)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        self.register_buffer("mask", torch.ones(8, 8).tril().bool())

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = self.project(x).chunk(3, dim=-1)
        q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(8 // self.heads)
        scores = scores.masked_fill(~self.mask, float("-inf"))
        mixed = functional.softmax(scores, dim=-1) @ v
        return self.merge(mixed.transpose(1, 2).reshape(batch, length, width))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(8), nn.LayerNorm(8)])
        self.attention = Attention(8, 2)
        self.mlp = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
        self.position = nn.Parameter(torch.randn(8, 8))

    def forward(self, x: Any) -> Any:
        x = x + self.position
        x = x + self.attention(self.norms[0](x))
        return x + self.mlp(self.norms[1](x))

    example = (2, 8, 8)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(5, 6, batch_first=True)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.head = nn.Linear(6, 2)

    def forward(self, x: Any) -> Any:
        states, (hidden, _) = self.lstm(x)
        mixed, _ = self.attention(states, states, states)
        return self.head(mixed[:, -1] + hidden[0])

    example = (3, 4, 5)


MODELS = [Perceptron, ResNet, Transformer, Recurrent]
pytestmark = pytest.mark.parametrize("kind", MODELS)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def test_results_are_equal(kind: Any) -> None:
    model = kind()
    traced = torch.fx.symbolic_trace(model)
    traced.graph.lint()
    x = torch.randn(kind.example)
    expected = model.eval()(x)
    traced.eval()
    assert torch.equal(traced(x), expected)
    assert torch.equal(torch.fx.Interpreter(traced).run(x), expected)
    assert torch.equal(torch.fx.Transformer(traced).transform().eval()(x), expected)
    assert torch.equal(torch.fx.symbolic_trace(traced)(x), expected)
    assert torch.equal(copy.deepcopy(traced)(x), expected)
    assert torch.equal(pickle.loads(pickle.dumps(traced))(x), expected)


def test_gradients_are_equal(kind: Any) -> None:
    model = kind()
    traced = copy.deepcopy(torch.fx.symbolic_trace(model))
    x = torch.randn(kind.example)
    model(x).square().sum().backward()
    traced(x).square().sum().backward()
    gradients = {name: parameter.grad for name, parameter in traced.named_parameters()}
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter.grad, gradients[name]), name
    names = {name for name in traced.state_dict() if not name.startswith("_tensor_constant")}
    assert names <= set(model.state_dict())
    traced.load_state_dict(model.state_dict(), strict=False)


def test_other_sizes(kind: Any) -> None:
    model = kind().eval()
    x = torch.randn(5, *kind.example[1:])
    assert torch.equal(torch.fx.symbolic_trace(model)(x), model(x))
