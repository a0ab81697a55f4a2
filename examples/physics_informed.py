"""Solves Burgers' equation with a physics-informed network (Raissi et al. 2019).

The network minimises the residual of the equation, which contains its second derivatives.

    u_t + u u_x = (0.01 / pi) u_xx,   u(0, x) = -sin(pi x),   u(t, -1) = u(t, 1) = 0

python examples/physics_informed.py [--steps 500] [--small]
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from running import Prepare, as_it_is, train

import torch_py as torch
from torch_py import nn


def derivative(y, x):
    return torch.autograd.grad(y.sum(), x, create_graph=True)[0]


def residual(network, t, x):
    u = network(torch.stack([t, x], dim=1))[:, 0]
    u_x = derivative(u, x)
    return derivative(u, t) + u * u_x - (0.01 / math.pi) * derivative(u_x, x)


def training(small: bool = False, prepare: Prepare = as_it_is) -> Iterator[float]:
    torch.manual_seed(0)
    width, depth, points = (16, 2, 64) if small else (32, 5, 2000)

    layers: list[nn.Module] = [nn.Linear(2, width), nn.Tanh()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.Tanh()]
    network = nn.Sequential(*layers, nn.Linear(width, 1))
    burgers = prepare(residual)  # with the derivatives, as compiled code can be differentiated once

    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)

    start = torch.linspace(-1, 1, 100)
    edges = torch.cat([torch.full((50,), -1.0), torch.full((50,), 1.0)])
    known = torch.cat([torch.stack([torch.zeros(100), start], 1), torch.stack([torch.rand(100), edges], 1)])
    values = torch.cat([-torch.sin(math.pi * start), torch.zeros(100)])

    while True:
        t = torch.rand(points, requires_grad=True)
        x = (2 * torch.rand(points) - 1).requires_grad_()
        loss = burgers(network, t, x).square().mean() + (network(known)[:, 0] - values).square().mean()

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    train(__doc__, training, 500)
