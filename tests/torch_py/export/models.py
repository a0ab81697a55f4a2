"""Small models of the kinds that programs export."""

from tests.subject import torch

nn = torch.nn
F = torch.nn.functional


class Residual(nn.Module):
    def __init__(self, channels, stride):
        super().__init__()
        self.first = nn.Conv2d(channels, 2 * channels, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(2 * channels)
        self.second = nn.Conv2d(2 * channels, 2 * channels, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(2 * channels)
        self.shortcut = nn.Conv2d(channels, 2 * channels, 1, stride)

    def forward(self, x):
        y = F.relu(self.norm1(self.first(x)), inplace=True)
        return F.relu(self.norm2(self.second(y)) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 7, 2, 3), nn.BatchNorm2d(4), nn.ReLU(True), nn.MaxPool2d(2))
        self.blocks = nn.Sequential(Residual(4, 1), Residual(8, 2))
        self.head = nn.Linear(16, 10)

    def forward(self, image):
        y = self.blocks(self.stem(image))
        return self.head(torch.flatten(F.adaptive_avg_pool2d(y, 1), 1))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        mask = torch.tril(torch.ones(length, length, dtype=torch.bool))
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).contiguous().view(batch, length, width))


class GPT(nn.Module):
    """The embedding of the tokens is tied to the output."""

    def __init__(self, vocabulary=17, width=8, length=64):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"norm": nn.LayerNorm(width), "attention": Attention(width, 2)}) for _ in range(2)
        )
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens, targets=None):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = x + block["attention"](block["norm"](x))
        logits = self.head(x)
        if targets is None:
            return {"logits": logits}
        return {"logits": logits, "loss": F.cross_entropy(logits.flatten(0, 1), targets.flatten())}


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 5, num_layers=2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(10, 3)

    def forward(self, words):
        states, (hidden, _) = self.lstm(self.embedding(words))
        return self.out(states), hidden[-1]
