"""The layers of `nn`, in one file per kind."""

from torch_py.nn.modules import (
    channelshuffle,
    conv,
    distance,
    fold,
    instancenorm,
    linear_cross_entropy_options,
    loss,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    transformer,
    upsampling,
)
from torch_py.nn.modules.activation import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    MultiheadAttention,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softmax2d,
    Softmin,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
)
from torch_py.nn.modules.adaptive import AdaptiveLogSoftmaxWithLoss
from torch_py.nn.modules.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    LazyBatchNorm1d,
    LazyBatchNorm2d,
    LazyBatchNorm3d,
    SyncBatchNorm,
)
from torch_py.nn.modules.channelshuffle import *
from torch_py.nn.modules.container import (
    Container,
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    Sequential,
)
from torch_py.nn.modules.conv import *
from torch_py.nn.modules.distance import *
from torch_py.nn.modules.dropout import (
    AlphaDropout,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    FeatureAlphaDropout,
)
from torch_py.nn.modules.flatten import Flatten, Unflatten
from torch_py.nn.modules.fold import *
from torch_py.nn.modules.instancenorm import *
from torch_py.nn.modules.linear import Bilinear, Identity, LazyLinear, Linear
from torch_py.nn.modules.linear_cross_entropy_options import *
from torch_py.nn.modules.loss import *
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.normalization import CrossMapLRN2d, GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm
from torch_py.nn.modules.padding import *
from torch_py.nn.modules.pixelshuffle import *
from torch_py.nn.modules.pooling import *
from torch_py.nn.modules.rnn import *
from torch_py.nn.modules.sparse import Embedding, EmbeddingBag
from torch_py.nn.modules.transformer import *
from torch_py.nn.modules.upsampling import *

__all__ = [
    "AdaptiveLogSoftmaxWithLoss",
    "AlphaDropout",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "CELU",
    "Container",
    "CrossMapLRN2d",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "ELU",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "GELU",
    "GLU",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "Identity",
    "LayerNorm",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyLinear",
    "LeakyReLU",
    "Linear",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "PReLU",
    "ParameterDict",
    "ParameterList",
    "RMSNorm",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "SyncBatchNorm",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Unflatten",
]
__all__ += [
    *channelshuffle.__all__,
    *conv.__all__,
    *distance.__all__,
    *fold.__all__,
    *instancenorm.__all__,
    *linear_cross_entropy_options.__all__,
    *loss.__all__,
    *padding.__all__,
    *pixelshuffle.__all__,
    *pooling.__all__,
    *rnn.__all__,
    *transformer.__all__,
    *upsampling.__all__,
]
