"""Classes of captured graphs: there to be named in annotations and isinstance(), not to be made."""

from __future__ import annotations

from typing import Any, NoReturn

from torch_py.nn.modules.module import Module


def refuse(name: str) -> NoReturn:
    raise NotImplementedError(f"torch.fx.{name}: torch_py does not capture graphs of programs yet")


class _Absent:
    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        refuse(type(self).__name__)


class Graph(_Absent):
    pass


class Node(_Absent):
    pass


class Proxy(_Absent):
    pass


class Tracer(_Absent):
    pass


class Interpreter(_Absent):
    pass


class Transformer(Interpreter):
    pass


class GraphModule(Module):
    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        refuse("GraphModule")
