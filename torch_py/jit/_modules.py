"""The modules and functions that `torch.jit` returns."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch_py._tensor import Tensor
from torch_py.export.exported_program import ExportedProgram
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.jit._symbolic import graph_of
from torch_py.nn.modules.module import Module


class Error(RuntimeError):
    """An error of compiled programs."""


class ScriptModule(Module):
    """A module that was scripted, traced or loaded: it runs, has a graph, and is saved by `save`.

    `torch.jit.script`, `torch.jit.trace` and `torch.jit.load` make them.

    Args:
        arguments, keywords: those of `nn.Module`

    Attributes:
        graph: what `forward` does, as a `torch.fx.Graph`
        code: the same as Python
        original_name: the name of the class of the original module

    Example:
        >>> import torch_py.jit
        >>> scripted = torch.jit.script(nn.ReLU())
        >>> isinstance(scripted, torch.jit.ScriptModule), scripted.original_name
        (True, 'ReLU')
        >>> scripted(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    @property
    def graph(self) -> Graph:
        """What `forward` does as a torch.fx graph."""
        return self._forward_graph().graph

    inlined_graph = graph

    @property
    def code(self) -> str:
        """The graph of `forward` as Python."""
        return self._forward_graph().code

    def _forward_graph(self) -> GraphModule:
        raise NotImplementedError

    def save(self, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
        """Writes the module to a file: see `torch.jit.save`."""
        # Imported here: the module reads files into these classes.
        from torch_py.jit._saving import save

        save(self, f, _extra_files)

    @property
    def original_name(self) -> str:
        """The name of the class of the original module."""
        return type(self).__name__


def _share_state(target: Module, source: Module) -> None:
    """Lets a module have the parameters, buffers and submodules of another one, now and later."""
    for registry in ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"):
        if registry in vars(source):
            vars(target)[registry] = vars(source)[registry]


class RecursiveScriptModule(ScriptModule):
    """A scripted module. It shares the state of the original one, runs its Python code, and has its
    attributes and methods."""

    def __init__(self, original: Module) -> None:
        super().__init__()
        vars(self)["_original"] = original
        _share_state(self, original)
        vars(self)["training"] = original.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the original module does."""
        return self._original(*args, **kwargs)

    def train(self, mode: bool = True) -> RecursiveScriptModule:
        """Sets the mode of the module and of the original one."""
        self._original.train(mode)
        vars(self)["training"] = mode
        return self

    @property
    def original_name(self) -> str:
        return type(self._original).__name__

    def _forward_graph(self) -> GraphModule:
        return graph_of(self._original)

    def __getattr__(self, name: str) -> Any:
        if name == "_original":  # while a copy is made
            raise AttributeError(name)
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._original, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._parameters or name in self._buffers or name in self._modules or name == "training":
            super().__setattr__(name, value)
        else:
            setattr(self._original, name, value)

    def __len__(self) -> int:
        return len(self._original)  # type: ignore[arg-type]

    def __iter__(self) -> Any:
        return iter(self._original)  # type: ignore[call-overload]

    def __getitem__(self, key: Any) -> Any:
        return self._original[key]  # type: ignore[index]

    def __contains__(self, key: Any) -> bool:
        return key in self._original  # type: ignore[operator]

    def __deepcopy__(self, memo: Any) -> RecursiveScriptModule:
        # Imported here: only copies need it.
        import copy

        return RecursiveScriptModule(copy.deepcopy(self._original, memo))

    def __reduce__(self) -> Any:
        return RecursiveScriptModule, (self._original,)


class TopLevelTracedModule(ScriptModule):
    """A traced module: a recorded graph, with the state of the original module.

    `train` and `eval` set flags only; the recorded operators are those of the mode in which it was traced.
    """

    def __init__(self, programs: dict[str, ExportedProgram], name: str = "TracedModule") -> None:
        """`programs` has those of the traced methods; "forward" is one of them."""
        super().__init__()
        vars(self)["_programs"] = programs
        vars(self)["_name"] = name
        vars(self)["_runs"] = {method: program.module() for method, program in programs.items()}
        for run in self._runs.values():
            vars(self)["_guards"] = run._modules.pop("_guards_fn", None)
            if self._guards is not None:
                vars(run)["_guards_fn"] = self._guards
        first = next(iter(self._runs.values()))
        _share_state(self, first)
        for run in self._runs.values():
            _share_state(run, first)
        vars(self)["training"] = first.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the recorded operators. Raises AssertionError for shapes that the trace does not hold for."""
        return self._run("forward", *args, **kwargs)

    def _run(self, method: str, *args: Any, **kwargs: Any) -> Any:
        if method not in self._runs:
            raise NotImplementedError(f"the method '{method}' of this module was not traced")
        return type(self._runs[method]).forward(self._runs[method], *args, **kwargs)

    @property
    def original_name(self) -> str:
        return self._name

    def _forward_graph(self) -> GraphModule:
        return self._runs["forward"]

    def __getattr__(self, name: str) -> Any:
        if name not in ("_runs", "_programs") and name in self._runs:
            return functools.partial(self._run, name)
        return super().__getattr__(name)

    def current_programs(self) -> dict[str, ExportedProgram]:
        """The programs with the parameters and buffers that the module has now."""
        now = {
            **dict(self.named_parameters(remove_duplicate=False)),
            **dict(self.named_buffers(remove_duplicate=False)),
        }
        for program in self._programs.values():
            for tensors in (program.state_dict, program.constants):
                tensors.update({name: now[name] for name in tensors if name in now})
        return self._programs

    def __deepcopy__(self, memo: Any) -> TopLevelTracedModule:
        # Imported here: only copies need it.
        import copy

        programs = copy.deepcopy(self.current_programs(), memo)
        return TopLevelTracedModule(programs, self._name)


TracedModule = TopLevelTracedModule


class ScriptFunction:
    """A function that was scripted, traced or loaded. It is called like the original one.

    `torch.jit.script` and `torch.jit.trace` make them.

    Args:
        function: the original function
        traced: its recorded operators; default None, `function` itself runs

    Attributes:
        graph: what the function does, as a `torch.fx.Graph`
        code: the same as Python

    Example:
        >>> import torch_py.jit
        >>> def double(x):
        ...     return x + x
        >>> scripted = torch.jit.script(double)
        >>> isinstance(scripted, torch.jit.ScriptFunction), scripted(torch.ones(2))
        (True, tensor([2., 2.]))
    """

    def __init__(self, function: Callable[..., Any], traced: TopLevelTracedModule | None = None) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._traced = traced
        self.name = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._traced is not None:
            return self._traced(*args, **kwargs)
        return self._function(*args, **kwargs)

    @property
    def qualified_name(self) -> str:
        """The name with that of its module."""
        return f"{getattr(self._function, '__module__', '__torch__')}.{self.name}"

    def _graph_module(self) -> GraphModule:
        return self._traced._forward_graph() if self._traced is not None else graph_of(self._function)

    @property
    def graph(self) -> Graph:
        """What the function does as a torch.fx graph."""
        return self._graph_module().graph

    inlined_graph = graph

    @property
    def code(self) -> str:
        """The graph as Python."""
        return self._graph_module().code

    def save(self, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
        """Writes the function to a file: see `torch.jit.save`."""
        # Imported here: the module reads files into these classes.
        from torch_py.jit._saving import save

        save(self, f, _extra_files)

    def __repr__(self) -> str:
        return f"<torch.jit.ScriptFunction {self.qualified_name}>"


def plain_tensors(module: Module) -> None:
    """Makes the parameters and buffers of a module, and of those inside, plain attributes."""
    for owner in module.modules():
        for registry in (owner._parameters, owner._buffers):
            for name, tensor in list(registry.items()):
                del registry[name]
                vars(owner)[name] = tensor.detach() if isinstance(tensor, Tensor) else tensor
