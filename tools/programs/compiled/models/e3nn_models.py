"""Equivariant layers of e3nn."""

import torch
from e3nn import nn, o3
from training import Model

FEATURES = o3.Irreps("4x0e + 2x1o + 1x2e")
EDGES = o3.Irreps("1x0e + 1x1o + 1x2e")


class Product(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.product = o3.FullyConnectedTensorProduct(FEATURES, EDGES, FEATURES)
        self.linear = o3.Linear(FEATURES, FEATURES)

    def forward(self, features, vectors):
        return self.linear(self.product(features, o3.spherical_harmonics(EDGES, vectors, True)))


class Gated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Gate("2x0e", [torch.relu], "1x0e", [torch.sigmoid], "1x1o")
        self.linear = o3.Linear(FEATURES, self.gate.irreps_in)

    def forward(self, features):
        return self.gate(self.linear(features))


MODELS = {
    "tensor product": Model(Product, lambda batch: (FEATURES.randn(batch, -1), torch.randn(batch, 3))),
    "gate": Model(Gated, lambda batch: (FEATURES.randn(batch, -1),)),
}
