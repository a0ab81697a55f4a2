"""The layers, one file per kind."""

from torch_py.nn.modules.activation import (
    ELU,
    GELU,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from torch_py.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from torch_py.nn.modules.container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from torch_py.nn.modules.conv import Conv2d
from torch_py.nn.modules.dropout import Dropout, Dropout2d
from torch_py.nn.modules.flatten import Flatten, Unflatten
from torch_py.nn.modules.linear import Identity, Linear
from torch_py.nn.modules.loss import BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, HuberLoss, KLDivLoss, L1Loss, MSELoss, NLLLoss, SmoothL1Loss
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.normalization import GroupNorm, LayerNorm
from torch_py.nn.modules.pooling import AdaptiveAvgPool2d, AvgPool2d, MaxPool2d
from torch_py.nn.modules.sparse import Embedding

__all__ = [
    "AdaptiveAvgPool2d", "AvgPool2d", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Conv2d",
    "CrossEntropyLoss", "Dropout", "Dropout2d", "ELU", "Embedding", "Flatten", "GELU", "GroupNorm", "Hardswish", "Hardtanh", "HuberLoss",
    "Identity", "KLDivLoss", "L1Loss", "LayerNorm", "LeakyReLU", "Linear", "LogSigmoid", "LogSoftmax", "MSELoss", "MaxPool2d", "Mish",
    "Module", "ModuleDict", "ModuleList", "NLLLoss", "ParameterDict", "ParameterList", "ReLU", "ReLU6", "Sequential", "SiLU", "Sigmoid",
    "SmoothL1Loss", "Softmax", "Softplus", "Tanh", "Unflatten",
]  # fmt: skip
