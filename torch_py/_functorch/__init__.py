"""Function transforms over the autograd engine, which `torch_py.func`, `torch_py.vmap` and
`torch_py.autograd.forward_ad` are made of.

The operators of wrapped tensors are the business of aten/transforms, which this package calls:

* levels.py: the levels of running transforms; batching.py: members of a batch; mapping.py: `vmap`
* forward_mode.py: operators in place of dual tensors, which are a value and its tangent
* engine.py: gradients of wrapped tensors; reverse_mode.py: `grad` and `vjp`; jacobians.py
* batched_grad.py: batches of gradients through one graph
* custom_functions.py: `torch.autograd.Function` inside of transforms
"""

# They set what torch_py.autograd calls for wrapped tensors, and install the operators of dual tensors.
from torch_py._functorch import custom_functions as custom_functions
from torch_py._functorch import forward_mode as forward_mode
from torch_py._pytorch_names.packages import lacking as _lacking

__getattr__ = _lacking(__name__, __path__)
