"""Vision transformers of vit-pytorch."""

import declare_torchvision  # noqa: F401  # first
import torch
from training import Model
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cait import CaiT
from vit_pytorch.cct import CCT
from vit_pytorch.cvt import CvT
from vit_pytorch.deepvit import DeepViT
from vit_pytorch.t2t import T2TViT

SIZES = {
    "image_size": 32,
    "patch_size": 8,
    "num_classes": 5,
    "dim": 32,
    "depth": 2,
    "heads": 2,
    "mlp_dim": 64,
}


def images(batch):
    return (torch.randn(batch, 3, 32, 32),)


MODELS = {
    "ViT": Model(lambda: ViT(**SIZES, dropout=0.1), images),
    "SimpleViT": Model(lambda: SimpleViT(**SIZES), images),
    "DeepViT": Model(lambda: DeepViT(**SIZES), images),
    "CaiT": Model(lambda: CaiT(**SIZES, cls_depth=1), images),
    "T2TViT": Model(
        lambda: T2TViT(
            dim=32, image_size=32, depth=1, heads=2, mlp_dim=64, num_classes=5, t2t_layers=((7, 4), (3, 2))
        ),
        images,
    ),
    "CCT": Model(
        lambda: CCT(img_size=32, embedding_dim=32, n_conv_layers=1, num_layers=1, num_heads=2, num_classes=5),
        images,
    ),
    "CvT": Model(lambda: CvT(num_classes=5, s1_emb_dim=16, s2_emb_dim=32, s3_emb_dim=32, s3_depth=1), images),
}
