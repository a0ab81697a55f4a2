"""Convolutional networks and transformers of timm."""

import functools

import declare_torchvision  # noqa: F401  # first
import timm
import torch
from training import Model


def images(batch):
    return (torch.randn(batch, 3, 64, 64),)


def model(name, **options):
    make = functools.partial(timm.create_model, name, pretrained=False, num_classes=5, **options)
    return Model(make, images, rate=1e-04)


MODELS = {
    name: model(name, **options)
    for name, options in {
        "resnet10t": {},
        "mobilenetv3_small_050": {},
        "efficientnet_lite0": {},
        "regnetx_002": {},
        "convnext_atto": {},
        "vit_tiny_patch16_224": {"img_size": 64},
        "mixer_s32_224": {"img_size": 64},
        "ghostnet_050": {},
        "poolformer_s12": {},
        "tf_efficientnetv2_b0": {},
    }.items()
}
