"""einops: rearrange, reduce, repeat, einsum, pack, and layers in a model."""

import einops
import torch
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn

torch.manual_seed(0)
images = torch.randn(4, 3, 8, 8, requires_grad=True)
print("patches", einops.rearrange(images, "b c (h p) (w q) -> b (h w) (c p q)", p=2, q=2).std().item())
print("pooled", einops.reduce(images, "b c (h 2) (w 2) -> b c h w", "max").sum().item())
print("repeated", einops.repeat(images, "b c h w -> b c (h 2) (w 2)").shape)
print("einsum", einops.einsum(images, images, "b c h w, b d h w -> c d").trace().item())
packed, shapes = einops.pack([torch.ones(2, 3), torch.zeros(2, 5, 2)], "b *")
print("packed", packed.shape, [tuple(part.shape) for part in einops.unpack(packed, shapes, "b *")])
print("parsed", einops.parse_shape(images, "b c h w"))
print("tensor method", einops.asnumpy(images.detach()).shape)

model = nn.Sequential(
    nn.Conv2d(3, 6, 3, padding=1),
    Rearrange("b c h w -> b (h w) c"),
    EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=6, d=5),
    nn.GELU(),
    Reduce("b t d -> b d", "mean"),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(images).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
print("gradient", images.grad.norm().item())
