"""Training steps for sizes that vary, through all stages of the compiler."""

import pytest

import torch_py as torch
from torch_py import nn
from torch_py._dynamo.utils import counters

F = nn.functional


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.heads = heads

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).split(width, 2)
        q, k, v = (p.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for p in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.positions = nn.Embedding(64, 16)
        self.blocks = nn.Sequential(Block(16, 2), Block(16, 2))
        self.head = nn.Linear(16, 50)

    def forward(self, words, targets):
        positions = self.positions(torch.arange(words.size(1)))
        logits = self.head(self.blocks(self.words(words) + positions))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def batch(count, length):
    return torch.randint(0, 50, (count, length)), torch.randint(0, 50, (count, length))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_twelve_shapes_of_a_language_model_are_compiled_twice(backend):
    torch.manual_seed(0)
    model = Language()
    compiled = torch.compile(model, backend=backend)
    before = counters["stats"]["unique_graphs"]
    lengths = (6, 7, 9, 64, 4, 3, 5, 33, 16, 2, 17, 6)

    for number, length in enumerate(lengths):
        shape = (4 + number % 5, length)
        words, targets = batch(*shape)
        expected = model(words, targets)
        gradients = torch.autograd.grad(expected, list(model.parameters()))
        loss = compiled(words, targets)
        torch.testing.assert_close(loss, expected)
        for one, other in zip(torch.autograd.grad(loss, list(model.parameters())), gradients):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
    assert counters["stats"]["unique_graphs"] - before == 2


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_images_of_several_sizes(backend):
    network = nn.Sequential(
        nn.Conv2d(3, 4, 3, 2, 1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
        nn.Conv2d(4, 4, 3, 1, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 2),
    )
    compiled = torch.compile(network, backend=backend)
    before = counters["stats"]["unique_graphs"]

    for shape in ((2, 16, 16), (3, 20, 24), (5, 9, 31), (4, 64, 40)):
        images = torch.randn(shape[0], 3, *shape[1:])
        mean = network[1].running_mean.clone()
        expected = network(images)
        network[1].running_mean.copy_(mean)
        torch.testing.assert_close(compiled(images), expected)
    assert counters["stats"]["unique_graphs"] - before == 2
