"""Lets torchvision be imported where its compiled operators cannot be loaded.

Its wheels on PyPI need CUDA. This declares the two operators that torchvision refers to.

They have no kernels, and the scripts do not call them.
"""

import torch

library = torch.library.Library("torchvision", "DEF")
for name in ("nms", "qnms"):
    library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
