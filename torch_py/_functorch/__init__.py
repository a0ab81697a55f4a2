"""Function transforms over the autograd engine: what `torch_py.func`, `torch_py.vmap` and
`torch_py.autograd.forward_ad` are made of.

levels.py        wrapped tensors; the operator goes to the transform of the innermost level among its
arguments operators.py     what operators.json says of the operator behind a Python callable
forward_mode.py  dual tensors: a value and its tangent
batching.py      batched tensors and `vmap`;  batch_rules.py: how an operator acts on a batch, by its
structure custom_functions.py  `torch.autograd.Function` inside of transforms
reverse_mode.py  `grad`, `vjp` and Jacobians, which work on wrapped tensors too
"""
