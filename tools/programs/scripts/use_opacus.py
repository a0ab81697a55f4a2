"""Gradients of single samples, clipped, as opacus computes them for private training."""

import torch
from opacus import GradSampleModule
from opacus.accountants import RDPAccountant
from opacus.optimizers import DPOptimizer

torch.manual_seed(0)
model = GradSampleModule(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)))
inner = torch.optim.SGD(model.parameters(), lr=0.5)
optimizer = DPOptimizer(inner, noise_multiplier=0.0, max_grad_norm=1.0, expected_batch_size=16)
inputs = torch.randn(16, 4)
targets = (inputs.sum(1) > 0).long()

for _ in range(5):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    norms = [parameter.grad_sample.flatten(1).norm(dim=1).sum().item() for parameter in model.parameters()]
    optimizer.step()
    print(f"{loss.item():.5f}", " ".join(f"{norm:.4f}" for norm in norms))

accountant = RDPAccountant()
for _ in range(10):
    accountant.step(noise_multiplier=1.1, sample_rate=0.1)
print(f"{accountant.get_epsilon(1e-5):.4f}")
