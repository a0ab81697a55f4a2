"""Interprets programs without tensors on any Python, with stand-ins for the rest of the library.

Run as a script by `test_other_pythons`: bindings exist for one version of Python only, and the byte code
differs between versions. Prints the names of programs that do something else than natively.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
OWN = ("torch_py", "torch_py._dynamo")


class _Empty(types.ModuleType):
    """A module in which every name is a class."""

    __path__: list = []

    def __getattr__(self, name):
        if name.startswith("__") or self.__name__ == "torch_py._dynamo":
            raise AttributeError(name)
        if self.__name__ == "torch_py.compiler" and name.startswith("_"):
            return importlib.import_module(f"torch_py.compiler.{name}")
        if self.__name__ == "torch_py" and (name.islower() or name == "_C"):
            return importlib.import_module(f"torch_py.{name}")

        bases = (Exception,) if name.endswith("Exception") else ()
        made = type(name, bases, {"__init__": lambda self, *args, **kwargs: None})
        if name == "cache":
            made = lambda function: function  # noqa: E731
        elif name == "combined":
            made = lambda function, left, right: function(left, right)  # noqa: E731
        elif name == "VARYING":
            made = ()
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != "torch_py":
            return None
        if name.startswith("torch_py._dynamo."):
            return None  # the real one
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = _Empty(spec.name)
        if spec.name == "torch_py._dynamo":
            module.__path__ = [str(ROOT / "torch_py/_dynamo")]
        return module

    def exec_module(self, module):
        if module.__name__ == "torch_py.compiler._marks":
            module.substitutes = {}
            for name in ("in_graph", "broken", "constants"):
                setattr(module, name, set())
        if module.__name__ == "torch_py.autograd":
            module.Function = type("Function", (), {"apply": classmethod(lambda cls: None)})


def interpreted(function, *args):
    from torch_py._dynamo.capture import Capture
    from torch_py._dynamo.handlers import all_handlers
    from torch_py._dynamo.start import FunctionStart

    class Recorder:
        inputs: dict = {}

        def number_input(self, value, source):
            return value

    import torch_py._dynamo.origins as module

    module.Recorder = lambda *given: Recorder()
    capture = Capture(all_handlers())
    return FunctionStart(function).run(capture, args)


def same(a, b):
    if isinstance(a, BaseException):
        return type(a) is type(b) and a.args == b.args
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return a == b


def main():
    sys.path.insert(0, str(ROOT))
    sys.meta_path.insert(0, _Finder())
    from plain_programs import PROGRAMS

    failed = 0
    for name, (function, args) in PROGRAMS.items():
        expected = function(*args)
        try:
            actual = interpreted(function, *args)
        except BaseException as error:
            actual = error
        if not same(expected, actual):
            failed += 1
            print(f"{name}: expected {expected!r}, got {actual!r}")
    print(f"{len(PROGRAMS)} programs, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(bool(main()))
