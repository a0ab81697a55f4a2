"""Finds the communities of a random graph with a graph convolutional network (Kipf & Welling 2017).

python examples/gcn.py [--steps 100] [--small]
"""

from __future__ import annotations

from collections.abc import Iterator

from running import Prepare, as_it_is, train

import torch_py as torch
from torch_py import nn
from torch_py.nn import functional as F

COMMUNITIES = 4


def random_graph(nodes: int):
    """The edges (2, m) of a random graph and the community of each node.

    An edge inside a community is ten times as likely as one between two.
    """
    community = torch.arange(nodes) % COMMUNITIES
    same = community[:, None] == community[None, :]
    probability = torch.where(same, 16 / nodes, 1.6 / nodes) * COMMUNITIES / 2
    upper = torch.triu(torch.rand(nodes, nodes) < probability, diagonal=1)
    one, other = upper.nonzero().unbind(1)
    return torch.stack([torch.cat([one, other]), torch.cat([other, one])]), community


class GraphConvolution(nn.Module):
    """A linear map of each node's neighbourhood.

    The neighbourhood, which includes the node itself, is averaged with weights 1 / sqrt(degree) on both
    sides.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x, edges):
        source, target = edges
        degree = torch.ones(len(x)).index_add(0, target, torch.ones(len(target)))
        weight = degree.rsqrt()
        messages = x[source] * (weight[source] * weight[target])[:, None]
        gathered = (x / degree[:, None]).index_add(0, target, messages)
        return self.linear(gathered)


class GCN(nn.Module):
    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.first = GraphConvolution(inputs, width)
        self.second = GraphConvolution(width, COMMUNITIES)

    def forward(self, x, edges):
        return self.second(F.dropout(F.relu(self.first(x, edges)), 0.5, self.training), edges)


def training(small: bool = False, prepare: Prepare = as_it_is, keep: dict | None = None) -> Iterator[float]:
    torch.manual_seed(0)
    nodes = 200 if small else 2000
    edges, community = random_graph(nodes)
    features = torch.randn(nodes, 16) + 0.5 * F.one_hot(community, 16)
    known = torch.randperm(nodes)[: nodes // 10]

    model = prepare(GCN(16, 32))
    if keep is not None:
        keep.update(model=model, features=features, edges=edges, community=community)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)

    while True:
        loss = F.cross_entropy(model(features, edges)[known], community[known])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    kept: dict = {}
    train(__doc__, lambda small, prepare: training(small, prepare, kept), 100)
    found = kept["model"].eval()(kept["features"], kept["edges"]).argmax(1)
    print(f"{(found == kept['community']).float().mean():.1%} of the nodes are in their community")
