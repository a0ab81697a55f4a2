"""A character GPT, trained on the language reference that comes with every Python; afterwards it writes.

python examples/char_gpt.py [--steps 300] [--small]
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pydoc_data.topics import topics

from running import Prepare, as_it_is, train

import torch_py as torch
from torch_py import nn
from torch_py.nn import functional as F


class Block(nn.Module):
    """Causal attention and a feed-forward network, each normalized before and added."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.mix = nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.queries_keys_values(self.norm1(x)).view(
            batch, length, 3, self.heads, width // self.heads
        )
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.mix(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.feed(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, characters: int, context: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.context = context
        self.token = nn.Embedding(characters, width)
        self.position = nn.Embedding(context, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, characters, bias=False)
        self.head.weight = self.token.weight
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens):
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))

    @torch.no_grad()
    def write(self, tokens, count: int):
        """Continues `tokens` (1, n) by `count` characters."""
        self.eval()
        for _ in range(count):
            logits = self(tokens[:, -self.context :])[:, -1] / 0.8
            tokens = torch.cat([tokens, torch.multinomial(F.softmax(logits, dim=-1), 1)], dim=1)
        return tokens


def text_and_alphabet() -> tuple[str, list[str]]:
    text = "\n".join(topics[name] for name in sorted(topics))
    return text, sorted(set(text))


def training(small: bool = False, prepare: Prepare = as_it_is, keep: dict | None = None) -> Iterator[float]:
    torch.manual_seed(0)

    context, width, heads, layers, batch = (32, 32, 2, 1, 8) if small else (128, 128, 4, 4, 16)
    text, alphabet = text_and_alphabet()
    number = {character: index for index, character in enumerate(alphabet)}
    data = torch.tensor([number[character] for character in text[: 20_000 if small else None]])

    model = GPT(len(alphabet), context, width, heads, layers)
    if keep is not None:
        keep.update(model=model, alphabet=alphabet, number=number)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)

    predict = prepare(model)
    for step in range(10**9):
        optimizer.param_groups[0]["lr"] = 1e-3 * min(1, (step + 1) / 50)
        starts = torch.randint(len(data) - context - 1, (batch,))
        rows = torch.stack([data[start : start + context + 1] for start in starts.tolist()])
        loss = F.cross_entropy(predict(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())

        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

        yield loss.item()


if __name__ == "__main__":
    kept: dict = {}
    losses = train(__doc__, lambda small, prepare: training(small, prepare, kept), 300)
    written = kept["model"].write(torch.tensor([[kept["number"]["T"]]]), 200)[0].tolist()
    print(f"The perplexity is {math.exp(losses[-1]):.1f}, of {len(kept['alphabet'])} characters. It writes:")
    print("".join(kept["alphabet"][index] for index in written))
