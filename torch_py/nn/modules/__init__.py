"""The layers, one file per kind."""

from torch_py.nn.modules import conv, fold, padding, pixelshuffle, pooling, upsampling
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
from torch_py.nn.modules.conv import *
from torch_py.nn.modules.dropout import Dropout, Dropout2d
from torch_py.nn.modules.flatten import Flatten, Unflatten
from torch_py.nn.modules.fold import *
from torch_py.nn.modules.linear import Identity, Linear
from torch_py.nn.modules.loss import BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, HuberLoss, KLDivLoss, L1Loss, MSELoss, NLLLoss, SmoothL1Loss
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.normalization import GroupNorm, LayerNorm
from torch_py.nn.modules.padding import *
from torch_py.nn.modules.pixelshuffle import *
from torch_py.nn.modules.pooling import *
from torch_py.nn.modules.sparse import Embedding
from torch_py.nn.modules.upsampling import *

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "CrossEntropyLoss", "Dropout", "Dropout2d", "ELU",
    "Embedding", "Flatten", "GELU", "GroupNorm", "Hardswish", "Hardtanh", "HuberLoss", "Identity", "KLDivLoss", "L1Loss", "LayerNorm",
    "LeakyReLU", "Linear", "LogSigmoid", "LogSoftmax", "MSELoss", "Mish", "Module", "ModuleDict", "ModuleList", "NLLLoss", "ParameterDict",
    "ParameterList", "ReLU", "ReLU6", "Sequential", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax", "Softplus", "Tanh", "Unflatten",
]  # fmt: skip
__all__ += [*conv.__all__, *fold.__all__, *padding.__all__, *pixelshuffle.__all__, *pooling.__all__, *upsampling.__all__]
