"""The layers of `nn`, in one file per kind."""

from torch_py.nn.modules import (
    attention,
    conv,
    distance,
    fold,
    fused_loss,
    instancenorm,
    padding,
    pixelshuffle,
    pooling,
    ranking_loss,
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
from torch_py.nn.modules.attention import *
from torch_py.nn.modules.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    LazyBatchNorm1d,
    LazyBatchNorm2d,
    LazyBatchNorm3d,
    SyncBatchNorm,
)
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
from torch_py.nn.modules.fused_loss import *
from torch_py.nn.modules.instancenorm import *
from torch_py.nn.modules.linear import Bilinear, Identity, LazyLinear, Linear
from torch_py.nn.modules.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    NLLLoss2d,
    SmoothL1Loss,
)
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.normalization import CrossMapLRN2d, GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm
from torch_py.nn.modules.padding import *
from torch_py.nn.modules.pixelshuffle import *
from torch_py.nn.modules.pooling import *
from torch_py.nn.modules.ranking_loss import *
from torch_py.nn.modules.rnn import *
from torch_py.nn.modules.sparse import Embedding, EmbeddingBag
from torch_py.nn.modules.transformer import *
from torch_py.nn.modules.upsampling import *

__all__ = [
    "AdaptiveLogSoftmaxWithLoss",
    "AlphaDropout",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "CELU",
    "Container",
    "CrossEntropyLoss",
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
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
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
    "MSELoss",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "NLLLoss2d",
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
    "SmoothL1Loss",
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
    *attention.__all__,
    *conv.__all__,
    *distance.__all__,
    *fold.__all__,
    *fused_loss.__all__,
    *instancenorm.__all__,
    *padding.__all__,
    *pixelshuffle.__all__,
    *pooling.__all__,
    *ranking_loss.__all__,
    *rnn.__all__,
    *transformer.__all__,
    *upsampling.__all__,
]
