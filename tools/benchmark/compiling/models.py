"""The models that are compiled: each a function of tensors, its arguments, and whether it is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Model:
    """`function(*arguments)` is a loss if the model is trained, otherwise any result.

    `parameters` are what the loss is differentiated by.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    parameters: list[Any]
    is_trained: bool

    def step(self, run: Callable[..., Any]) -> Any:
        """One step, in which `run` takes the place of the function."""
        result = run(*self.arguments)
        if self.is_trained:
            result.backward()
            for parameter in self.parameters:
                parameter.grad = None
        return result


def trained(module: Any, loss: Callable[..., Any], *arguments: Any) -> Model:
    return Model(loss, arguments, list(module.parameters()), is_trained=True)


def mlp(torch: Any, small: bool) -> Model:
    width, batch = (16, 4) if small else (512, 64)
    nn = torch.nn
    layers = [layer for _ in range(4) for layer in (nn.Linear(width, width), nn.GELU())]
    module = nn.Sequential(*layers, nn.Linear(width, 10))

    def loss(x: Any, target: Any) -> Any:
        return nn.functional.cross_entropy(module(x), target)

    return trained(module, loss, torch.randn(batch, width), torch.randint(0, 10, (batch,)))


def conv_net(torch: Any, small: bool) -> Model:
    width, batch, side = (4, 2, 8) if small else (32, 16, 32)
    nn = torch.nn
    layers: list[Any] = []
    for number in range(3):
        source = 3 if number == 0 else width
        layers += [nn.Conv2d(source, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    module = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))

    def loss(x: Any, target: Any) -> Any:
        return nn.functional.cross_entropy(module(x), target)

    return trained(module, loss, torch.randn(batch, 3, side, side), torch.randint(0, 10, (batch,)))


def block_class(torch: Any) -> Any:
    """The class of a block of a transformer."""
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self, width: int, heads: int, causal: bool) -> None:
            super().__init__()
            self.heads = heads
            self.causal = causal
            self.before_attention = nn.LayerNorm(width)
            self.queries_keys_values = nn.Linear(width, 3 * width)
            self.projection = nn.Linear(width, width)
            self.before_mlp = nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def attend(self, x: Any) -> Any:
            batch, length, width = x.shape
            parts = self.queries_keys_values(x).split(width, dim=2)
            q, k, v = [part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts]
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
            return self.projection(mixed.transpose(1, 2).reshape(batch, length, width))

        def forward(self, x: Any) -> Any:
            x = x + self.attend(self.before_attention(x))
            return x + self.mlp(self.before_mlp(x))

    return Block


def gpt(torch: Any, small: bool, layers: int | None = None) -> Model:
    width, heads, batch, length, words = (16, 2, 2, 8, 32) if small else (256, 8, 4, 128, 1024)
    layers = layers or (2 if small else 4)
    nn = torch.nn
    block = block_class(torch)

    class GPT(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(words, width)
            self.places = nn.Embedding(length, width)
            self.blocks = nn.Sequential(*[block(width, heads, causal=True) for _ in range(layers)])
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, words, bias=False)

        def forward(self, tokens: Any) -> Any:
            places = torch.arange(tokens.shape[1])
            return self.head(self.norm(self.blocks(self.words(tokens) + self.places(places))))

    module = GPT()

    def loss(tokens: Any, targets: Any) -> Any:
        return nn.functional.cross_entropy(module(tokens).flatten(0, 1), targets.flatten())

    tokens = torch.randint(0, words, (batch, length))
    return trained(module, loss, tokens, torch.randint(0, words, (batch, length)))


def vit(torch: Any, small: bool) -> Model:
    width, heads, batch, side, patch = (16, 2, 2, 8, 4) if small else (192, 3, 8, 64, 8)
    nn = torch.nn
    block = block_class(torch)

    class ViT(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(3, width, patch, stride=patch)
            self.places = nn.Parameter(torch.zeros(1, (side // patch) ** 2, width))
            self.blocks = nn.Sequential(
                *[block(width, heads, causal=False) for _ in range(2 if small else 4)]
            )
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, 10)

        def forward(self, images: Any) -> Any:
            x = self.patches(images).flatten(2).transpose(1, 2) + self.places
            return self.head(self.norm(self.blocks(x)).mean(1))

    module = ViT()

    def loss(images: Any, target: Any) -> Any:
        return nn.functional.cross_entropy(module(images), target)

    return trained(module, loss, torch.randn(batch, 3, side, side), torch.randint(0, 10, (batch,)))


def lstm(torch: Any, small: bool) -> Model:
    width, batch, length = (8, 2, 4) if small else (128, 16, 32)
    nn = torch.nn
    module = nn.LSTM(width, width, num_layers=2)
    head = nn.Linear(width, 1)

    def loss(x: Any) -> Any:
        return head(module(x)[0]).square().mean()

    model = trained(module, loss, torch.randn(length, batch, width))
    model.parameters += list(head.parameters())
    return model


def chain(torch: Any, small: bool) -> Model:
    """Eleven pointwise operators."""
    size = 64 if small else 1 << 21

    def function(x: Any, y: Any) -> Any:
        z = torch.sigmoid(x * 2 + y)
        z = z * torch.tanh(y) + x.abs()
        return torch.relu(z - 0.5) / (1 + z * z)

    return Model(function, (torch.randn(size), torch.randn(size)), [], is_trained=False)


def softmax_norms(torch: Any, small: bool) -> Model:
    rows, width = (4, 16) if small else (2048, 768)
    weight, bias = torch.ones(width), torch.zeros(width)

    def function(x: Any, y: Any) -> Any:
        x = torch.nn.functional.layer_norm(x + y, (width,), weight, bias)
        x = torch.softmax(x, -1)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)

    return Model(function, (torch.randn(rows, width), torch.randn(rows, width)), [], is_trained=False)


def optimizer_step(torch: Any, small: bool) -> Model:
    width = 8 if small else 512
    parameters = [torch.nn.Parameter(torch.randn(width, width)) for _ in range(8)]
    for parameter in parameters:
        parameter.grad = torch.randn(width, width)
    optimizer = torch.optim.AdamW(parameters)

    def function() -> None:
        optimizer.step()

    return Model(function, (), [], is_trained=False)


MODELS: dict[str, Callable[[Any, bool], Model]] = {
    "MLP": mlp,
    "GPT": gpt,
    "conv net": conv_net,
    "ViT": vit,
    "LSTM": lstm,
    "chain": chain,
    "softmax and norms": softmax_norms,
    "optimizer step": optimizer_step,
}
