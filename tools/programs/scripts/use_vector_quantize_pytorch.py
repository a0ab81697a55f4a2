"""Vector quantizers, forward, backward and while their codebooks learn."""

import torch
from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, VectorQuantize

torch.manual_seed(0)
x = torch.randn(2, 16, 8, requires_grad=True)

quantize = VectorQuantize(dim=8, codebook_size=16, decay=0.8, commitment_weight=1.0)
with torch.no_grad():
    quantize._codebook.embed.copy_(torch.linspace(-2, 2, 16 * 8).reshape(1, 16, 8).sin())
for _ in range(3):
    quantized, indices, loss = quantize(x)
    print(
        quantized.shape,
        indices.float().mean().item(),
        f"{loss.item():.5f} {quantized.abs().sum().item():.4f}",
    )
(quantized.sum() + loss.sum()).backward()
print(f"{x.grad.abs().sum().item():.4f}")

levels = FSQ([8, 5, 5])
codes, indices = levels(torch.linspace(-2, 2, 2 * 4 * 3).reshape(2, 4, 3))
print(indices.tolist(), f"{codes.sum().item():.4f}")

free = LFQ(codebook_size=16, dim=4, entropy_loss_weight=0.1, diversity_gamma=1.0)
found, indices, entropy = free(torch.linspace(-1, 1, 2 * 4 * 3).reshape(2, 3, 4))
print(indices.tolist(), f"{entropy.item():.5f} {found.sum().item():.4f}")

residual = ResidualVQ(dim=8, num_quantizers=2, codebook_size=16)
with torch.no_grad():
    for number, layer in enumerate(residual.layers):
        layer._codebook.embed.copy_(torch.linspace(-2, 2, 16 * 8).reshape(1, 16, 8).cos() / (number + 1))
residual.eval()
quantized, indices, losses = residual(x.detach())
print(indices.float().mean().item(), f"{quantized.sum().item():.4f}")
