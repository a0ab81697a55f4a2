"""Interprets programs without tensors on any Python, with stand-ins for the rest of the library.

Run as a script by `test_other_pythons`: bindings exist for one version of Python only, and the byte code
differs between versions. Prints the names of programs that do something else than natively. With the path of
an extension module, which has the frames of the runtime alone, every program is also interrupted before each
of its instructions, and CPython runs the rest. With "names" it prints the canonical names of instructions.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import opcode
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
OWN = ("torch_py", "torch_py._dynamo")


def _lacking(name):
    """Looks up a name that a module does not have."""
    raise AttributeError(name)


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
        elif name == "lacking":
            made = lambda *place: _lacking  # noqa: E731
        elif name == "VARYING":
            made = ()
        elif name == "Sizes":
            made.fix = lambda self, value: value
        elif name == "Module":
            made.__getattr__ = object.__getattribute__
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != "torch_py":
            return None
        if name.startswith("torch_py._dynamo."):
            return None  # the real one
        if name == "torch_py._records":  # as well
            return importlib.util.spec_from_file_location(name, ROOT / "torch_py/_records.py")
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


def begun(function, *args):
    """The capture and the frame of a call."""
    from torch_py._dynamo.capture import Capture
    from torch_py._dynamo.handlers import all_handlers
    from torch_py._dynamo.resume import FunctionStart
    from torch_py._dynamo.varying import Varying
    from torch_py._dynamo.varying_policy import Policy

    class Recorder:
        inputs: dict = {}

        def number_input(self, value, source):
            return value

        def is_result(self, value):
            return False

    import torch_py._dynamo.origins as module

    module.Recorder = lambda *given: Recorder()
    capture = Capture(all_handlers(), Varying(Policy(False)))
    return capture, FunctionStart(function).frame(capture, args)


def interpreted(function, *args):
    return begun(function, *args)[1].run()


class Unresumable(Exception):
    """Graphs never end here: before the first line, inside of a call, where an exception is handled."""


def interrupted(function, step, *args):
    """The result, in a tuple, if CPython runs the program from a step on; None after the last step."""
    from torch_py._dynamo.exc import Break
    from torch_py._dynamo.frame import NULL, UNBOUND
    from torch_py._dynamo.resume import ResumedStart
    from torch_py._dynamo.stops import Stop

    capture, frame = begun(function, *args)
    capture.stop_at = frame.serial, step
    try:
        frame.run()
        return None
    except Break:
        pass
    op, opname = frame.instruction.op, frame.instruction.opname
    is_call = op.startswith("call")
    is_first = op.startswith("make_cell") or opname == "COPY_FREE_VARS"
    if is_first or capture.handled is not None or (frame.keyword_names and not is_call):
        raise Unresumable

    stop = Stop(frame)
    offset = stop.call_start() if is_call else stop.instruction.offset
    start = ResumedStart([stop.layout(offset, stop.stack, None)], raises=False)
    slots = [value for value in stop.slots if value is not UNBOUND]
    stack = [value for value in stop.stack if value is not NULL]
    return (start.natively(*map(capture.admitted, [*slots, *stack])),)


def check_interruptions(programs):
    """Prints the steps after which CPython goes on in another way."""
    failed = 0
    count = 0

    for name, (function, args) in programs.items():
        expected = function(*args)
        for step in range(1, 400):
            try:
                found = interrupted(function, step, *args)
                if found is None:
                    break
                count += 1
                actual = found[0]
            except Unresumable:
                continue
            except Exception as error:
                actual = error
            if not same(expected, actual):
                failed += 1
                print(f"{name}, step {step}: expected {expected!r}, got {actual!r}")
                if failed == 20:
                    return failed
    print(f"{count} interruptions, {failed} failed")
    return failed


def load_frames(path):
    """What runs frames, from the real native module of the compiler."""
    loader = importlib.machinery.ExtensionFileLoader("torch_py._C", path)
    specification = importlib.util.spec_from_file_location("torch_py._C", path, loader=loader)
    native = importlib.util.module_from_spec(specification)
    loader.exec_module(native)
    for name in ("torch_py._C", "torch_py._C._compiler"):
        sys.modules.pop(name, None)

    stand_in = _Empty("torch_py._C._compiler")
    stand_in.resume = native._compiler.resume
    stand_in.UNBOUND = native._compiler.UNBOUND
    sys.modules["torch_py._C._compiler"] = stand_in
    importlib.import_module("torch_py._C")._compiler = stand_in


def same(a, b):
    if isinstance(a, BaseException):
        return type(a) is type(b) and a.args == b.args
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return a == b


def canonical_names():
    """What the decoder of this Python calls the instructions that it may meet."""
    decoder = importlib.import_module("torch_py._dynamo.decode")
    translate = decoder.TRANSLATE[sys.version_info[1]]
    code = types.SimpleNamespace(co_names=[""] * 40, co_consts=[None] * 40, co_nlocals=0)
    found = set()
    for name in opcode.opname:
        for argument in range(32):
            try:
                found.add(translate(code, name, argument, 0)[0])
            except IndexError:
                break
    return found


def main(path=None):
    sys.path.insert(0, str(ROOT))
    sys.meta_path.insert(0, _Finder())
    if path == "names":
        print(*canonical_names())
        return 0
    if path is not None:
        load_frames(path)
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
    return failed if path is None else failed + check_interruptions(PROGRAMS)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(bool(main(*sys.argv[1:])))
