"""Graph networks of torch-geometric, with as many nodes as the batch asks for."""

import torch
from torch_geometric import nn
from torch_geometric.utils import to_undirected
from training import Model


def graph(batch):
    nodes = 4 * batch
    ring = torch.stack([torch.arange(nodes), torch.arange(1, nodes + 1) % nodes])
    return torch.randn(nodes, 8), to_undirected(ring)


def network(make):
    layers = [
        (make(8, 16), "x, edge_index -> x"),
        torch.nn.ReLU(),
        (make(16, 4), "x, edge_index -> x"),
    ]
    return nn.Sequential("x, edge_index", layers)


MODELS = {
    name: Model(lambda make=make: network(make), graph)
    for name, make in {
        "GCNConv": nn.GCNConv,
        "GATConv": nn.GATConv,
        "GATv2Conv": nn.GATv2Conv,
        "SAGEConv": nn.SAGEConv,
        "GraphConv": nn.GraphConv,
        "TAGConv": nn.TAGConv,
        "TransformerConv": nn.TransformerConv,
        "GINConv": lambda inputs, outputs: nn.GINConv(torch.nn.Linear(inputs, outputs)),
    }.items()
}
