"""Predicts the next word of Python's language reference with an LSTM that keeps its state between batches.

python examples/lstm_language_model.py [--steps 200] [--small]
"""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator
from pydoc_data.topics import topics

from running import Prepare, as_it_is, train

import torch_py as torch
from torch_py import nn
from torch_py.nn import functional as F


class LanguageModel(nn.Module):
    def __init__(self, words: int, width: int, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, layers, dropout=0.2)
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, words)

    def forward(self, tokens, state=None):
        hidden, state = self.lstm(self.dropout(self.embedding(tokens)), state)
        return self.head(self.dropout(hidden)), state


def numbered_words(limit: int, vocabulary: int):
    words = re.findall(r"\w+|[^\w\s]", " ".join(topics[name] for name in sorted(topics)).lower())[:limit]
    known = {
        word: index
        for index, (word, _) in enumerate(collections.Counter(words).most_common(vocabulary - 1), 1)
    }
    return torch.tensor([known.get(word, 0) for word in words]), len(known) + 1


def training(small: bool = False, prepare: Prepare = as_it_is) -> Iterator[float]:
    torch.manual_seed(0)
    width, layers, batch, length = (32, 2, 8, 10) if small else (256, 2, 20, 35)
    data, words = numbered_words(10_000 if small else 1_000_000, 500 if small else 4000)
    columns = (
        data[: len(data) // batch * batch].view(batch, -1).t().contiguous()
    )  # each column is a stretch of the text

    model = prepare(LanguageModel(words, width, layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    state = None

    while True:
        for first in range(0, len(columns) - length - 1, length):
            if state is not None:
                state = tuple(part.detach() for part in state)
            logits, state = model(columns[first : first + length], state)
            loss = F.cross_entropy(logits.flatten(0, 1), columns[first + 1 : first + length + 1].flatten())

            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            optimizer.step()
            yield loss.item()


if __name__ == "__main__":
    train(__doc__, training, 200)
