"""Names that PyTorch has in two places, and torch_py in one: module -> name -> "module:name" of the object.

They are found when they are first asked for, so a module may name what is above it.
"""

from __future__ import annotations

_MODES = "utils._python_dispatch"
_TREES = "utils._pytree"

ELSEWHERE: dict[str, dict[str, str]] = {
    "_functorch.vmap": {
        "Tensor": "_tensor:Tensor",
        "_add_batch_dim": "_C._functorch:_add_batch_dim",
        "_broadcast_to_and_flatten": f"{_TREES}:_broadcast_to_and_flatten",
        "_remove_batch_dim": "_C._functorch:_remove_batch_dim",
        "tree_flatten": f"{_TREES}:tree_flatten",
        "tree_unflatten": f"{_TREES}:tree_unflatten",
        "vmap": "_functorch.mapping:vmap",
    },
    "_tensor": {"_convert": "_tensor:_as_type"},
    "autograd.graph": {"TorchDispatchMode": f"{_MODES}:TorchDispatchMode"},
    "library": {"OpOverload": "_ops:OpOverload"},
    "nn.functional": {
        "handle_torch_function": "overrides:handle_torch_function",
        "has_torch_function": "overrides:has_torch_function",
    },
    "return_types": {"SequenceKey": f"{_TREES}:SequenceKey"},
}
