"""Decoders over encoders of segmentation-models-pytorch."""

import functools

import declare_torchvision  # noqa: F401  # first
import segmentation_models_pytorch as smp
import torch
from training import Model

MODELS = {
    kind.__name__: Model(
        functools.partial(kind, "resnet18", encoder_weights=None),
        lambda batch: (torch.randn(batch, 3, 64, 64),),
        rate=1e-05,
    )
    for kind in (smp.Unet, smp.UnetPlusPlus, smp.FPN, smp.PSPNet, smp.DeepLabV3Plus, smp.Linknet, smp.MAnet)
}
