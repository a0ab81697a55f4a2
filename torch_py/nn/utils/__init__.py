"""Functions over the parameters of a model, and sequences of different lengths."""

from torch_py.nn.utils import rnn
from torch_py.nn.utils.clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_
from torch_py.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "rnn", "vector_to_parameters"]
