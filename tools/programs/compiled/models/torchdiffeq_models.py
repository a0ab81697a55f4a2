"""Neural differential equations, solved by torchdiffeq."""

import torch
from torch import nn
from torchdiffeq import odeint
from training import Model


class Solved(nn.Module):
    def __init__(self, method):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        self.method = method

    def field(self, time, state):
        return self.net(state**3)

    def forward(self, start):
        return odeint(self.field, start, torch.linspace(0.0, 1.0, 4), method=self.method)


MODELS = {
    method: Model(lambda method=method: Solved(method), lambda batch: (torch.randn(batch, 2),))
    for method in ("euler", "rk4", "dopri5")
}
