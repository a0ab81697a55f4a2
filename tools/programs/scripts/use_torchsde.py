"""torchsde: Ito and Stratonovich equations, gradients through the solver and by the adjoint."""

import torch
import torchsde

torch.manual_seed(0)


class Equation(torch.nn.Module):
    def __init__(self, noise, kind):
        super().__init__()
        self.noise_type = noise
        self.sde_type = kind
        self.mu = torch.nn.Linear(3, 3)
        self.sigma = torch.nn.Linear(3, 3)

    def f(self, t, y):
        return self.mu(y)

    def g(self, t, y):
        return 0.1 * torch.sigmoid(self.sigma(y))


times = torch.linspace(0, 1, 5)
start = torch.full((4, 3), 0.1)
for kind, method in (
    ("ito", "euler"),
    ("ito", "milstein"),
    ("ito", "srk"),
    ("stratonovich", "midpoint"),
    ("stratonovich", "reversible_heun"),
):
    equation = Equation("diagonal", kind)
    noise = torchsde.BrownianInterval(
        t0=0.0,
        t1=1.0,
        size=(4, 3),
        entropy=7,
        levy_area_approximation="space-time" if method == "srk" else "none",
    )
    optimizer = torch.optim.SGD(equation.parameters(), lr=0.1)
    paths = torchsde.sdeint(equation, start, times, bm=noise, method=method, dt=0.1)
    loss = paths[-1].square().mean()
    loss.backward()
    optimizer.step()
    print(kind, method, loss.item(), equation.mu.weight.grad.norm().item(), equation.mu.weight.sum().item())
equation = Equation("diagonal", "stratonovich")
noise = torchsde.BrownianInterval(t0=0.0, t1=1.0, size=(4, 3), entropy=7)
torchsde.sdeint_adjoint(equation, start, times, bm=noise, method="midpoint", dt=0.1).sum().backward()
print("adjoint", equation.mu.weight.grad.norm().item())
