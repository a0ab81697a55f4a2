"""torchdiffeq: solvers with fixed and adaptive steps, gradients, the adjoint method, a trained neural ODE."""

import torch
from torch import nn
from torchdiffeq import odeint, odeint_adjoint, odeint_event

torch.manual_seed(0)
times = torch.linspace(0.0, 2.0, 5)
matrix = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
start = torch.tensor([[2.0, 0.0]])
for method in (
    "euler",
    "midpoint",
    "rk4",
    "dopri5",
    "dopri8",
    "bosh3",
    "adaptive_heun",
    "explicit_adams",
    "implicit_adams",
):
    path = odeint(lambda t, y: y @ matrix, start, times, method=method)
    print(method, path[-1].tolist())


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, t, y):
        return self.net(y**3)


field = Field()
optimizer = torch.optim.Adam(field.parameters(), lr=0.01)
target = odeint(lambda t, y: y @ matrix, start, times)
for solve in (odeint, odeint_adjoint, odeint_adjoint):
    loss = (solve(field, start, times, rtol=1e-5, atol=1e-6) - target).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item(), "gradient", field.net[0].weight.grad.norm().item())

fall = lambda t, state: (state[1], -9.8 * torch.ones_like(state[1]))  # noqa: E731
at, _ = odeint_event(
    fall,
    (torch.tensor([10.0]), torch.tensor([0.0])),
    torch.tensor(0.0),
    event_fn=lambda t, state: state[0][0],
    atol=1e-7,
    rtol=1e-7,
)
print("event", at.item())
