"""A frame of an interpreted function: slots, a stack, and where it is; and what a call puts into it.

The callable of a call is next to NULL or the first argument, in an order that depends on the version of
Python; it is alone in calls that are called plain.
"""

from __future__ import annotations

import builtins
import enum
import types
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from torch_py._dynamo.decode import EXCEPT_HANDLER, VARKEYWORDS, decode, names_in_signature, signature_of
from torch_py._dynamo.exc import Break, unsupported_call
from torch_py._dynamo.journal import Marker
from torch_py._records import Fields

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture
    from torch_py._dynamo.decode import Instruction, Program


# Instructions that move values without looking at them.
_MOVES = frozenset(
    "nop resume precall kw_names copy_free_vars pop_top store_fast load_fast load_fast_check load_const "
    "load_global push_null copy swap rotate rot_n".split()
)


NULL: Any = Marker("NULL")  # what PUSH_NULL pushes
UNBOUND: Any = Marker("unbound")  # the content of a local variable without a value


class Pending(Fields):
    """An argument that has not been used yet, and needs no guard until it is."""

    value: Any
    source: Any


class Frame:
    """Interprets one call of a function. Handlers (see `handlers`) do the instructions.

    Handlers read their operands from the stack, do their work, and only then change the stack: a `Break` on
    the way leaves the frame as it was before the instruction.
    """

    def __init__(self, capture: Capture, code: CodeType, namespace: dict[str, Any]) -> None:
        self.capture = capture
        self.code = code
        self.program: Program = decode(code)
        self.globals = namespace
        found = namespace.get("__builtins__", builtins)
        self.builtins: dict[str, Any] = found if isinstance(found, dict) else vars(found)
        capture.fixed(namespace, "G")
        capture.fixed(self.builtins, "B")

        # What the frame has.
        self.locals: list[Any] = [UNBOUND] * len(self.program.names)
        self.names: dict[str, Any] = {}  # the namespace of a class body
        self.stack: list[Any] = []
        self.blocks: list[tuple[int, int, int]] = []  # kind, offset of the handler, depth (Python 3.10)

        # Where it is.
        self.at = 0
        self.instruction: Any = self.program.instructions[0]
        self.parent: Frame | None = capture.frame
        self.steps = 0
        self.acted_at = 0  # the last step that did something which must not be done twice
        self.serial = next(capture.serials)
        self.is_suspended = False
        self.delegate: Any = None  # the iterator of `yield from` in which it is suspended
        self.closes_delegate = False  # when it is dropped meanwhile
        self.has_pending = False  # whether the stack has arguments that have not been used yet
        self.is_tail = False  # whether the caller's instruction pushes the result, and does nothing else
        self.result_base = 0  # how much of the stack is left when the result of a call is pushed
        self.raise_at: tuple[int, int] | None = None  # while it waits for a result: see resume.Layout

    def run(self) -> Any:
        """Interprets until the function returns, yields, or raises an exception."""
        capture = self.capture
        outer, capture.frame = capture.frame, self

        try:
            while True:
                try:
                    return self._steps()
                except Break as reason:
                    reason.frames.append(self)
                    self.at = self.program.index_of[self.instruction.offset]
                    raise
                except (Exception, GeneratorExit) as error:
                    raised = error
                self.unwind(raised)
        finally:
            capture.frame = outer

    def _steps(self) -> Any:
        """Runs instructions until one of them gives the result of the frame."""
        if self.has_pending:
            self._use_pending()

        instructions = self.program.instructions
        handlers = self.capture.handlers
        stop_at = self.capture.stop_at
        while True:
            instruction = instructions[self.at]
            self.instruction = instruction
            self.at += 1
            self.steps += 1
            if (self.serial, self.steps) == stop_at:
                raise Break("the end of a graph", "what follows could not be captured")
            finished = handlers[instruction.op](self, instruction.arg)
            if finished is not None:
                return finished.value

    def _use_pending(self) -> None:
        """The first instructions of a resumed frame: what is on its stack is guarded once it is used."""
        instructions = self.program.instructions
        handlers = self.capture.handlers
        while any(type(value) is Pending for value in self.stack):
            instruction = self.instruction = instructions[self.at]
            if instruction.op not in _MOVES:
                if instruction.op.startswith("call"):
                    self.capture.break_at_output(self)
                break
            self.at += 1
            self.steps += 1
            handlers[instruction.op](self, instruction.arg)

        self.has_pending = False
        self.stack = [self.capture.admitted(value) for value in self.stack]

    def unwind(self, raised: BaseException) -> None:
        """Continues at the handler of an exception; raises it again without a handler."""
        handled = self.capture.handled
        if handled is not None and raised.__context__ is None and raised is not handled:
            raised.__context__ = handled

        if handled is None:
            self.capture.raised_at = (self.serial, self.steps)
        if self.program.uses_blocks:
            self._unwind_blocks(raised)
            return

        offset = self.instruction.offset
        row = self.program.handler_of(offset)
        if row is None:
            raise raised
        del self.stack[row.depth :]
        if row.lasti:
            self.stack.append(offset // 2)
        self.stack.append(raised)
        self.at = self.program.index_of[row.target]

    def _unwind_blocks(self, raised: BaseException) -> None:
        """Continues at the innermost block, with the exception that was handled before below the new one."""
        capture = self.capture
        while self.blocks:
            kind, target, depth = self.blocks.pop()
            if kind == EXCEPT_HANDLER:
                capture.handled = self.stack[depth + 1]
                del self.stack[depth:]
                continue
            del self.stack[depth:]
            self.blocks.append((EXCEPT_HANDLER, 0, depth))
            before = capture.handled
            self.stack += (None, before, None if before is None else type(before))
            self.stack += (None, raised, type(raised))
            capture.handled = raised
            self.jump(target)
            return

        raise raised

    def slot(self, number: int) -> Any:
        """The content of a slot, which a continuation may not have read yet."""
        value = self.locals[number] = self.capture.admitted(self.locals[number])
        return value

    def unbound(self, number: int) -> NameError:
        """The error for a slot without a value."""
        name = self.program.names[number]
        where = "where it is not associated with a value"
        if name in self.code.co_freevars:
            return NameError(f"cannot access free variable '{name}' {where} in enclosing scope")
        return UnboundLocalError(f"cannot access local variable '{name}' {where}")

    def jump(self, offset: int) -> None:
        self.at = self.program.index_of[offset]

    @property
    def keyword_names(self) -> tuple[str, ...]:
        """The keywords of the call that the frame makes, if they have an instruction of their own."""
        start = self.program.begin_of_call(self.instruction.offset)
        return start.arg if start.opname == "KW_NAMES" else ()

    def caller_frames(self) -> list[Frame]:
        """This frame and those that called it, innermost first."""
        found = [self]
        while (caller := found[-1].parent) is not None:
            found.append(caller)
        return found


class Finished(NamedTuple):
    """The result of a frame."""

    value: Any


def bind(capture: Capture, function: FunctionType, args: Any, kwargs: dict[str, Any]) -> list[Any]:
    """The values of the parameters in the order of co_varnames. Raises TypeError as a call does."""
    code = function.__code__
    binder = FunctionType(_binder(code), {}, argdefs=(UNBOUND,) * len(function.__defaults__ or ()))
    binder.__kwdefaults__ = dict.fromkeys(function.__kwdefaults__ or (), UNBOUND)
    binder.__qualname__ = function.__qualname__
    slots: list[Any] = binder(*args, **kwargs)

    for position, value in enumerate(slots):
        if value is UNBOUND:
            slots[position] = _default(capture, function, position)
    if code.co_flags & VARKEYWORDS:
        capture.made(slots[-1])
    return slots


@lru_cache(maxsize=2048)
def _binder(code: CodeType) -> CodeType:
    """Code with the same parameters, which returns their values."""
    parameters = str(signature_of(code))[1:-1]
    return eval(f"lambda {parameters}: [{', '.join(names_in_signature(code))}]").__code__  # type: ignore[no-any-return]


def _default(capture: Capture, function: FunctionType, position: int) -> Any:
    """The default of a parameter, which has one."""
    code = function.__code__
    if position < code.co_argcount:
        defaults = capture.read_native(function, "__defaults__")
        return capture.read_item(defaults, position - code.co_argcount + len(defaults))
    return capture.read_key(capture.read_native(function, "__kwdefaults__"), code.co_varnames[position])


def fill_closure(capture: Capture, frame: Frame, function: FunctionType) -> None:
    cells = function.__closure__ or ()
    first = len(frame.locals) - len(cells)
    frame.locals[first:] = cells
    origin = capture.origin_of(function)
    for position, cell in enumerate(cells):
        if capture.is_new(cell) or capture.origin_of(cell) is not None:
            continue
        if origin is None or origin.kind == "constant":
            capture.fixed(cell, function.__code__.co_freevars[position])
        else:
            whole = capture.sources.attr(origin, "__closure__")
            capture.admit(cell, capture.sources.item(whole, position))


def build_class(capture: Capture, body: Any, name: str, /, *bases: Any, **kwargs: Any) -> Any:
    """``__build_class__(body, name, *bases, metaclass=None, **keywords)``."""
    refusal = unsupported_call(f"class statement ({name})", "code of the program runs where it is made")
    kinds = [kwargs.get("metaclass", type), *map(type, bases)]
    if any(kind.__module__ not in _LIBRARY for kind in kinds):
        raise refusal

    resolved = types.resolve_bases(bases)
    meta, namespace, keywords = types.prepare_class(name, resolved, kwargs)
    if resolved != bases:
        namespace["__orig_bases__"] = bases

    frame = Frame(capture, body.__code__, body.__globals__)
    frame.names = namespace
    fill_closure(capture, frame, body)
    frame.run()
    if _runs_code(resolved, namespace):
        raise refusal
    return capture.made(meta(name, resolved, namespace, **keywords))


def _runs_code(bases: Any, namespace: dict[str, Any]) -> bool:
    """Whether bases, or what a class contains, are told of it, or its members are made by the program."""
    hooks = [getattr(base, "__init_subclass__", None) for base in bases]
    hooks += [getattr(type(value), "__set_name__", None) for value in namespace.values()]
    if any(isinstance(base, enum.EnumMeta) for base in bases):
        own = [vars(kind) for base in bases for kind in base.__mro__ if kind.__module__ not in _LIBRARY]
        hooks += [part[word] for part in (namespace, *own) for word in _OF_MEMBERS if word in part]
    return not all(hook is None or _is_of_library(hook) for hook in hooks)


def _is_of_library(hook: Any) -> bool:
    if isinstance(hook, (FunctionType, types.MethodType)):
        return hook.__module__ in _LIBRARY
    return isinstance(hook, (types.BuiltinFunctionType, types.MethodDescriptorType))


_LIBRARY = frozenset({"abc", "builtins", "enum", "functools", "typing"})
_OF_MEMBERS = ("__init__", "__new__", "_generate_next_value_", "_missing_")


_PLAIN = ("call_function", "call_function_kw", "call_function_ex_plain")
_NULL_LAST = ("call_null_last", "call_kw", "call_function_ex_null_last")


def call_parts(instruction: Instruction, stack: list[Any], named: Any) -> tuple[int, Any, Any, Any]:
    """How much of the stack is below the call, what an instruction calls, its arguments, and its keywords.

    Those of ``f(*args, **kwargs)`` are as they are given. `named` are the names of the last arguments, if
    those are not on the stack.
    """
    op, count = instruction.op, instruction.arg
    below = 1 if op in _PLAIN else 2
    if op.startswith("call_function_ex"):
        base = len(stack) - below - 1 - (count & 1)
        args = stack[base + below]
        kwargs = stack[-1] if count & 1 else {}
    else:
        if op.endswith("_kw"):
            named, stack = stack[-1], stack[:-1]
        base = len(stack) - count - below
        args = stack[base + below :]
        if below == 2 and stack[base] is not NULL and stack[base + 1] is not NULL:
            args = [stack[base + 1], *args]
        cut = len(args) - len(named)
        args, kwargs = args[:cut], dict(zip(named, args[cut:]))

    callee = stack[base + 1] if stack[base] is NULL else stack[base]
    return base, callee, args, kwargs


def _call_operands(op: str, count: int, callee: Callable[..., Any]) -> list[Any]:
    if op in _PLAIN:
        below = [callee]
    else:
        below = [callee, NULL] if op in _NULL_LAST else [NULL, callee]
    if op.startswith("call_function_ex"):
        return [*below, (), *[{}] * (count & 1)]
    return [*below, *[None] * count, *[()] * op.endswith("_kw")]


# Other instructions at which a graph may end, and how many values they take from the stack.
TAKEN = {
    **dict.fromkeys("unary load_attr get_iter to_bool unpack_sequence".split(), 1),
    **dict.fromkeys("jump_if_true jump_if_false jump_if_true_or_pop jump_if_false_or_pop".split(), 1),
    **dict.fromkeys("binary compare_as_bool binary_subscr contains_op store_attr delete_subscr".split(), 2),
    "store_subscr": 3,
}
_SPECIAL = (
    "getattribute setattr getitem setitem delitem contains iter bool lt le eq ne gt ge add sub mul matmul "
    "truediv floordiv mod pow lshift rshift and or xor neg pos invert"
).split()


def operands(op: str, count: int, callee: Callable[..., Any]) -> list[Any]:
    """What an instruction finds on the stack if it is to do nothing but call `callee`, with any arguments."""
    if op.startswith("call"):
        return _call_operands(op, count, callee)
    if op.startswith("for_iter"):
        return [iter(callee, None)]
    methods = {f"__{name}__": callee for name in _SPECIAL}
    return [type("operand", (), methods)()] * TAKEN[op]
