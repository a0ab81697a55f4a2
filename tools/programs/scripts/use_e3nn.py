"""e3nn: spherical harmonics, Wigner matrices, an equivariant layer, trained for a step."""

import torch
from e3nn import nn, o3

torch.manual_seed(0)
vectors = torch.randn(10, 3, requires_grad=True)
harmonics = o3.spherical_harmonics([0, 1, 2, 3], vectors, normalize=True, normalization="component")
print("harmonics", harmonics.sum().item())
(harmonics * torch.arange(16)).sum().backward()
print("gradient", vectors.grad.norm().item())
irreps = o3.Irreps("4x0e + 2x1o + 1x2e")
angles = torch.tensor(0.3), torch.tensor(0.7), torch.tensor(-0.2)
print("wigner", irreps.D_from_angles(*angles).trace().item(), o3.wigner_3j(1, 1, 2).abs().sum().item())
product = o3.FullyConnectedTensorProduct(irreps, "1x0e + 1x1o + 1x2e", irreps)
linear = o3.Linear(irreps, irreps)
gate = nn.Gate("2x0e", [torch.relu], "1x0e", [torch.sigmoid], "1x1o")
optimizer = torch.optim.Adam([*product.parameters(), *linear.parameters()], lr=0.01)
features, edges = irreps.randn(10, -1), o3.spherical_harmonics("1x0e + 1x1o + 1x2e", vectors.detach(), True)
for _ in range(2):
    loss = linear(product(features, edges)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
print("gate", gate(torch.randn(4, gate.irreps_in.dim)).sum().item())
rotation = o3.rand_matrix()
turned = product(
    features @ irreps.D_from_matrix(rotation).T, edges @ o3.Irreps("1x0e+1x1o+1x2e").D_from_matrix(rotation).T
)
print(
    "equivariant",
    torch.allclose(turned, product(features, edges) @ irreps.D_from_matrix(rotation).T, atol=1e-4),
)
