"""GraphModules that print and compile their code when it is asked for: compilers read graphs without code."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx.graph_module import GraphModule


def _get_graph_module_cls() -> type[GraphModule]:
    return GraphModule


class _LazyGraphModule(GraphModule):
    """A GraphModule whose `recompile` waits until `forward` or `code` is used."""

    @classmethod
    def from_graphmodule(cls, gm: GraphModule) -> _LazyGraphModule:
        """The same graph and attributes as a lazy module."""
        return gm if isinstance(gm, _LazyGraphModule) else cls(gm, gm.graph)

    @staticmethod
    def force_recompile(gm: GraphModule) -> None:
        """Compiles the code now if that is still to be done."""
        if isinstance(gm, _LazyGraphModule):
            gm.real_recompile()

    def real_recompile(self) -> None:
        if self._needs_recompile():
            super().recompile()

    def _needs_recompile(self) -> bool:
        return type(self).forward is _LazyGraphModule._compile_and_call

    def recompile(self) -> None:  # type: ignore[override]
        type(self).forward = _LazyGraphModule._compile_and_call  # type: ignore[method-assign]

    def _compile_and_call(self, *args: Any, **kwargs: Any) -> Any:
        self.real_recompile()
        return self.forward(*args, **kwargs)

    @property
    def code(self) -> str:
        self.real_recompile()
        return super().code

    def __str__(self) -> str:
        self.real_recompile()
        return super().__str__()


def _make_graph_module(
    *args: Any, graph_module_cls: type[GraphModule] | None = None, **kwargs: Any
) -> GraphModule:
    """A GraphModule, or an instance of `graph_module_cls`."""
    return (graph_module_cls or GraphModule)(*args, **kwargs)


__getattr__ = _lacking(__name__)
