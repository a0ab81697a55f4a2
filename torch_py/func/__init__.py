"""Transforms of functions of tensors: gradients, Jacobians, and batches,
which compose (`vmap(grad(f))`, `jacfwd(jacrev(f))`)."""

from torch_py._functorch.jacobians import hessian, jacfwd, jacrev, jvp, linearize
from torch_py._functorch.mapping import vmap
from torch_py._functorch.modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from torch_py._functorch.reverse_mode import grad, grad_and_value, vjp

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
