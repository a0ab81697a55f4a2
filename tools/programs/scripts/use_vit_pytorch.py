"""vit-pytorch: vision transformers of several kinds, trained for a step."""

import declare_torchvision  # noqa: F401  # first
import torch
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cait import CaiT
from vit_pytorch.cct import CCT
from vit_pytorch.cvt import CvT
from vit_pytorch.deepvit import DeepViT
from vit_pytorch.pit import PiT
from vit_pytorch.t2t import T2TViT

torch.manual_seed(0)
images = torch.randn(2, 3, 32, 32)
labels = torch.tensor([1, 3])
vit = ViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=2, mlp_dim=64)
models = {
    "ViT": vit,
    "SimpleViT": SimpleViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=2, mlp_dim=64),
    "DeepViT": DeepViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=2, mlp_dim=64),
    "CaiT": CaiT(
        image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, cls_depth=1, heads=2, mlp_dim=64
    ),
    "T2TViT": T2TViT(
        dim=32, image_size=32, depth=1, heads=2, mlp_dim=64, num_classes=5, t2t_layers=((7, 4), (3, 2))
    ),
    "CCT": CCT(
        img_size=32, embedding_dim=32, n_conv_layers=1, num_layers=1, num_heads=2, mlp_ratio=2, num_classes=5
    ),
    "PiT": PiT(image_size=32, patch_size=8, dim=32, num_classes=5, depth=(1, 1), heads=2, mlp_dim=64),
    "CvT": CvT(
        num_classes=5,
        s1_emb_dim=16,
        s1_heads=1,
        s2_emb_dim=32,
        s2_heads=1,
        s2_depth=1,
        s3_emb_dim=32,
        s3_heads=1,
        s3_depth=1,
    ),
}
for name, model in models.items():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(name, loss.item())
