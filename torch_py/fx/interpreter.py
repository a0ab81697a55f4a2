"""Where programs look for a class of `torch.fx`."""

from torch_py.fx._absent import Interpreter as Interpreter
from torch_py.fx._absent import Transformer as Transformer
