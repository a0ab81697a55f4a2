"""Jumps, loops and the end of a function; generators: frames that are left and entered again; exceptions."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from torch_py._dynamo import attributes, operations
from torch_py._dynamo.decode import SETUP_FINALLY
from torch_py._dynamo.exc import Break, RefusedForStandIns
from torch_py._dynamo.frame import Finished, Frame
from torch_py._dynamo.handlers import push
from torch_py._dynamo.journal import ABSENT


def jump(frame: Frame, target: int) -> None:
    frame.jump(target)


def _jump_if(frame: Frame, target: int) -> None:
    """Drops the top, and jumps if it has the truth that the instruction names."""
    value = frame.stack[-1]
    truth = value if type(value) is bool else _truth(frame, value, frame.at - 1)
    frame.stack.pop()
    if truth is (frame.instruction.op == "jump_if_true"):
        frame.jump(target)


jump_if_true = jump_if_false = _jump_if


def _truth(frame: Frame, value: Any, at: int) -> bool:
    """The truth of a value for the instruction at a position, if that jumps by it.

    The capture may assume that a check holds: an `assert`, or an `if` that only raises. The jump leads over
    its error, or to it: at the end of a loop, Python 3.12 and later jump to the error and go on with the jump
    back.
    """
    instructions = frame.program.instructions
    jump = instructions[at]
    if jump.op in ("jump_if_true", "jump_if_false"):
        jumps_if = jump.op == "jump_if_true"
        for position, holds in ((at + 1, jumps_if), (frame.program.index_of[jump.arg], not jumps_if)):
            is_check = instructions[position].op == "load_assertion_error" or _raises(frame, position)
            if is_check and frame.capture.assumes(value, holds):
                return holds
    return frame.capture.truth(value)


_OTHER_WAYS = ("return", "for_iter", "yield", "setup_", "before_with", "send")


def _raises(frame: Frame, position: int) -> bool:
    """Whether nothing but an exception follows at a position, which the branch itself does not handle."""
    program = frame.program
    for instruction in program.instructions[position:]:
        if instruction.op == "raise_varargs":
            return program.handler_of(instruction.offset) == program.handler_of(frame.instruction.offset)
        if "jump" in instruction.op or instruction.op.startswith(_OTHER_WAYS):
            return False
    return False


def _jump_if_none(frame: Frame, target: int) -> None:
    if (frame.stack.pop() is None) is (frame.instruction.op == "jump_if_none"):
        frame.jump(target)


jump_if_none = jump_if_not_none = _jump_if_none


def _jump_or_pop(frame: Frame, target: int) -> None:
    if frame.capture.truth(frame.stack[-1]) is (frame.instruction.op == "jump_if_true_or_pop"):
        frame.jump(target)
    else:
        frame.stack.pop()


jump_if_true_or_pop = jump_if_false_or_pop = _jump_or_pop


def to_bool(frame: Frame, arg: Any) -> None:
    frame.stack[-1] = _truth(frame, frame.stack[-1], frame.at)


def compare_as_bool(frame: Frame, function: Callable[[Any, Any], Any]) -> None:
    left, right = frame.stack[-2:]
    result = _truth(frame, operations.binary(frame.capture, function, left, right), frame.at)
    frame.stack[-2:] = [result]


def for_iter(frame: Frame, target: int) -> None:
    """Pushes the next element; at the end drops the iterator and jumps."""
    value = operations.next_of(frame.capture, frame.stack[-1], operations.END)
    if value is operations.END:
        frame.stack.pop()
        frame.jump(target)
    else:
        frame.stack.append(value)


def return_value(frame: Frame, arg: Any) -> Finished:
    return Finished(frame.stack.pop())


def return_const(frame: Frame, value: Any) -> Finished:
    return Finished(value)


# Generators, for native code too: `list(generator)` comes back to the interpreter


class InterpretedGenerator(Generator[Any, Any, Any]):
    """A suspended frame. A generator of Python runs it, so that it can be used as Python allows."""

    is_interpreted_generator = True

    def __init__(self, frame: Frame) -> None:
        caller = frame.parent
        # Where it was made: before that, a graph can end without it.
        self.made_at = (caller.serial, caller.steps) if caller is not None else None
        self.__name__ = frame.code.co_name
        self._frame = frame
        self._steps = _steps(frame)
        frame.capture.generators.append(self)

    @property
    def has_to_clean_up(self) -> bool:
        """Whether it waits inside of `try` or `with`, and does something when it is dropped."""
        frame = self._frame
        if not frame.is_suspended or frame.closes_delegate:
            return frame.is_suspended
        return frame.program.cleans_up(frame.instruction.offset, frame.blocks, frame.globals)

    def send(self, value: Any) -> Any:
        return self._steps.send(value)

    def throw(self, *error: Any) -> Any:
        return self._steps.throw(*error)


def _steps(frame: Frame) -> Generator[Any, Any, Any]:
    """Interprets a frame from each `yield` to the next."""
    error: BaseException | None = None
    while True:
        result = _continued(frame, error)
        if not frame.is_suspended:
            return result

        try:
            delegate, frame.delegate = frame.delegate, None
            sent = (yield result) if delegate is None else (yield from delegate)
            frame.closes_delegate = False
            frame.stack.append(sent)
            error = None
        except (Break, RefusedForStandIns):
            raise
        except BaseException as raised:
            if isinstance(raised, GeneratorExit) and frame.capture.frame is None:
                raise  # as the generator is dropped after the capture
            error = raised


def _continued(frame: Frame, error: BaseException | None) -> Any:
    """What a frame yields or returns next, perhaps after an exception where it is suspended."""
    capture = frame.capture
    frame.is_suspended = False
    frame.parent = capture.frame
    handled = capture.handled
    try:
        if error is not None:
            frame.unwind(error)
        return frame.run()
    finally:
        capture.handled = handled


def return_generator(frame: Frame, arg: Any) -> Finished:
    generator = InterpretedGenerator(frame)
    frame.is_tail = False
    frame.stack.append(None)  # what the first `send` pushes; the code pops it
    return Finished(frame.capture.made(generator))


def yield_value(frame: Frame, arg: Any) -> Finished:
    frame.is_suspended = True
    return Finished(frame.stack.pop())


def _delegate(frame: Frame, target: int, dropped: int) -> Finished:
    """Suspends the frame until the iterator below the top has ended, whose result comes in place of as many
    values as are dropped. It goes on at the target."""
    iterator = frame.stack[-2]
    is_generator = isinstance(iterator, InterpretedGenerator)
    frame.closes_delegate = not is_generator and _can_be_closed(iterator)
    del frame.stack[-dropped:]
    frame.jump(target)
    frame.is_suspended = True
    frame.delegate = iterator if is_generator else _elements(frame.capture, iterator)
    return Finished(None)


def _can_be_closed(iterator: Any) -> bool:
    return attributes.in_class(type(iterator), "close") is not ABSENT


def _elements(capture: Any, iterator: Any) -> Generator[Any, Any, Any]:
    """What an iterator gives; what is sent is for the iterator."""
    sent = None
    try:
        while True:
            if sent is not None:
                element = capture.call(attributes.load(capture, iterator, "send"), (sent,), {})
            elif operations.is_native_iterator(iterator):
                element = operations.next_of(capture, iterator, operations.END)
                if element is operations.END:
                    return None
            else:
                element = capture.call(attributes.load(capture, iterator, "__next__"), (), {})
            sent = yield element

    except StopIteration as stop:
        return stop.value
    except GeneratorExit:
        if capture.frame is not None and _can_be_closed(iterator):
            capture.call(attributes.load(capture, iterator, "close"), (), {})
        raise


def send(frame: Frame, target: int) -> Finished:
    """`yield from`: the only step of a loop that passes values on to the iterator."""
    return _delegate(frame, target, dropped=2)


def send_kept(frame: Frame, target: int) -> Finished:
    """Like `send`, where the code at the target drops the iterator."""
    return _delegate(frame, target, dropped=1)


def yield_from(frame: Frame, arg: Any) -> Finished:
    """Like `send`, followed by what comes after it (Python 3.10)."""
    return _delegate(frame, frame.instruction.end, dropped=2)


def end_send(frame: Frame, arg: Any) -> None:
    del frame.stack[-2]


# Exceptions and `with` statements. In Python 3.10, blocks say where exceptions are handled, and three values
# on the stack stand for one there.


def _method_of(frame: Frame, manager: Any, name: str) -> Any:
    kind = type(manager)
    found = attributes.in_class(kind, name)
    if found is ABSENT:
        raise TypeError(f"{kind.__name__!r} object does not support the context manager protocol")
    return attributes.bind(frame.capture, found, manager, kind, name)


def raise_varargs(frame: Frame, count: int) -> None:
    if count == 0:
        handled = frame.capture.handled
        raise RuntimeError("No active exception to reraise") if handled is None else handled
    operands = frame.stack[len(frame.stack) - count :]
    error = _instance(frame, operands[0])
    if count == 2:
        cause = operands[1]
        error.__cause__ = None if cause is None else _instance(frame, cause)
    raise error


def _instance(frame: Frame, value: Any) -> BaseException:
    if isinstance(value, type) and issubclass(value, BaseException):
        value = frame.capture.call(value, (), {})
    if not isinstance(value, BaseException):
        raise TypeError("exceptions must derive from BaseException")
    return value


def reraise(frame: Frame, arg: int) -> None:
    """The argument is the depth in the stack of the offset of the instruction that failed first, or 0."""
    raise frame.stack.pop()


def push_exc_info(frame: Frame, arg: Any) -> None:
    error = frame.stack[-1]
    frame.stack[-1:] = [frame.capture.handled, error]
    frame.capture.handled = error


def pop_except(frame: Frame, arg: Any) -> None:
    frame.capture.handled = frame.stack.pop()


def check_exc_match(frame: Frame, arg: Any) -> None:
    error, kinds = frame.stack[-2:]
    frame.stack[-1] = _matches(type(error), kinds)


def jump_if_not_exc_match(frame: Frame, target: int) -> None:
    """Both in one (Python 3.10)."""
    error, kinds = frame.stack[-2:]
    found = _matches(error if isinstance(error, type) else type(error), kinds)
    del frame.stack[-2:]
    if not found:
        frame.jump(target)


def _matches(raised: type[BaseException], kinds: Any) -> bool:
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    return issubclass(raised, kinds)


load_assertion_error = push(lambda frame, _: AssertionError)


# Context managers


def before_with(frame: Frame, arg: Any) -> None:
    """Replaces the manager by its bound __exit__, and pushes what __enter__ returns."""
    enter = _method_of(frame, frame.stack[-1], "__enter__")
    leave = _method_of(frame, frame.stack[-1], "__exit__")
    frame.stack[-1:] = [leave, frame.capture.call(enter, (), {})]


def _left(frame: Frame, leave: int, raised: int) -> Any:
    """What __exit__ returns for an exception; both are in these depths of the stack."""
    error = frame.stack[-raised]
    return frame.capture.call(frame.stack[-leave], (type(error), error, error.__traceback__), {})


with_except_start = push(lambda frame, _: _left(frame, 4, 1))
with_except_start_triple = push(lambda frame, _: _left(frame, 7, 2))


def setup_finally(frame: Frame, target: int) -> None:
    frame.blocks.append((SETUP_FINALLY, target, len(frame.stack)))


def setup_with(frame: Frame, target: int) -> None:
    """As `before_with`; exceptions go to a block, which begins below what __enter__ returns."""
    before_with(frame, None)
    frame.blocks.append((SETUP_FINALLY, target, len(frame.stack) - 1))


def pop_block(frame: Frame, arg: Any) -> None:
    frame.blocks.pop()


def pop_except_block(frame: Frame, arg: Any) -> None:
    frame.blocks.pop()
    frame.capture.handled = frame.stack[-2]
    del frame.stack[-3:]


def reraise_triple(frame: Frame, arg: Any) -> None:
    raise frame.stack[-2]
