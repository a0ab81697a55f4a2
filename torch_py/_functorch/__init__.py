"""Function transforms over the autograd engine, which `torch_py.func`, `torch_py.vmap` and
`torch_py.autograd.forward_ad` are made of.

* levels.py: wrapped tensors; an operator goes to the transform of the innermost level among its arguments
* operators.py: the properties, from operators.json, of the operator behind a Python callable
* forward_mode.py: dual tensors, which are a value and its tangent
* batching.py: batched tensors; batch_rules.py: how an operator acts on a batch, by its structure; mapping.py:
  `vmap`
* custom_functions.py: `torch.autograd.Function` inside of transforms
* reverse_mode.py: `grad`, `vjp` and Jacobians, which work on wrapped tensors too
"""

# Both set methods of the wrapped tensors, so they are imported whichever module is asked for.
from torch_py._functorch import batch_rules as batch_rules
from torch_py._functorch import custom_functions as custom_functions
from torch_py._pytorch_names.packages import lacking as _lacking

__getattr__ = _lacking(__name__, __path__)
