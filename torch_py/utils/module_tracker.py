"""`ModuleTracker`, which knows the modules that are running, in forward and in backward."""

from __future__ import annotations

import weakref
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.autograd.graph import register_multi_grad_hook
from torch_py.nn.modules.module import Module, register_module_forward_hook, register_module_forward_pre_hook
from torch_py.utils._pytree import tree_flatten

__all__ = ["ModuleTracker"]


def _differentiable(values: Any) -> list[Tensor]:
    return [value for value in tree_flatten(values)[0] if isinstance(value, Tensor) and value.requires_grad]


class ModuleTracker:
    """Tracks the running modules.

    Inside of the block, `parents` contains their names, ClassName.child.grandchild, and "Global"; `is_bw`
    tells whether backward is running.

    Names start at the module that is called first. In backward, a module ends when the gradients of its
    inputs have been computed.
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._roots: weakref.WeakSet[Any] = weakref.WeakSet()
        self._hooks: list[Any] = []

    @property
    def is_bw(self) -> bool:
        """Whether backward is running."""
        return _C._current_graph_task_id() != -1

    def name_of(self, module: Module) -> str:
        """The name of a module, starting at the module that was called first."""
        if module not in self._names:
            self._name_tree(module, type(module).__name__)
        return self._names[module]

    def _name_tree(self, module: Any, name: str) -> None:
        self._names[module] = name
        for child_name, child in module.named_children():
            if child not in self._names:
                self._name_tree(child, f"{name}.{child_name}")

    def _enter(self, name: str) -> None:
        self.parents.add(name)

    def _leave(self, name: str) -> None:
        if name in self.parents and name != "Global":
            self.parents.discard(name)

    def _before(self, module: Any, inputs: Any) -> None:
        name = self.name_of(module)
        self._enter(name)
        tensors = _differentiable(inputs)
        if tensors:
            register_multi_grad_hook(tensors, lambda gradients: self._leave(name))

    def _after(self, module: Any, inputs: Any, output: Any) -> None:
        name = self.name_of(module)
        self._leave(name)
        tensors = _differentiable(output)
        if tensors:
            register_multi_grad_hook(tensors, lambda gradient: self._enter(name), mode="any")

    def __enter__(self) -> ModuleTracker:
        self._hooks = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after, always_call=True),
        ]
        return self

    def __exit__(self, *exception: object) -> None:
        for hook in self._hooks:
            hook.remove()
