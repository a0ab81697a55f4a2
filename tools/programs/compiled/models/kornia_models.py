"""Layers and functions of kornia behind a convolution."""

import kornia as K
import torch
from training import Model

FUNCTIONS = {
    "gaussian blur": lambda x: K.filters.gaussian_blur2d(x, (5, 5), (1.5, 1.5)),
    "sobel": K.filters.sobel,
    "median": lambda x: K.filters.median_blur(x, (3, 3)),
    "hsv": K.color.rgb_to_hsv,
    "lab": K.color.rgb_to_lab,
    "dilation": lambda x: K.morphology.dilation(x, torch.ones(3, 3)),
    "rotation": lambda x: K.geometry.transform.rotate(x, torch.full((x.size(0),), 30.0)),
    "resize": lambda x: K.geometry.transform.resize(x, (11, 17)),
    "ssim loss": lambda x: K.losses.ssim_loss(x, x.flip(-1), 5),
}


class Filtered(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 3, 3, padding=1)
        self.function = function

    def forward(self, images):
        return self.function(self.convolution(images).sigmoid())


MODELS = {
    name: Model(lambda function=function: Filtered(function), lambda batch: (torch.rand(batch, 3, 24, 24),))
    for name, function in FUNCTIONS.items()
}
