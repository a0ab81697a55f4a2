"""Optimizers, and schedules for their learning rates."""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.optim import lr_scheduler, swa_utils
from torch_py.optim._adafactor import Adafactor
from torch_py.optim._muon import Muon
from torch_py.optim._stateless import swap_in_optimizer_params_and_state
from torch_py.optim.adadelta import Adadelta
from torch_py.optim.adagrad import Adagrad
from torch_py.optim.adam import Adam
from torch_py.optim.adamax import Adamax
from torch_py.optim.adamw import AdamW
from torch_py.optim.asgd import ASGD
from torch_py.optim.lbfgs import LBFGS
from torch_py.optim.nadam import NAdam
from torch_py.optim.optimizer import Optimizer
from torch_py.optim.radam import RAdam
from torch_py.optim.rmsprop import RMSprop
from torch_py.optim.rprop import Rprop
from torch_py.optim.sgd import SGD
from torch_py.optim.sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
]

__getattr__ = _lacking(__name__, __path__)
