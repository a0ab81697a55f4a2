"""Lets the functions of torch that are written in Python record their calls with proxies.

Operators ask their arguments for `__torch_function__`; these functions do not, as the question would cost
more than some of them do. While proxies may exist they get other code, which asks; at all other times they
are as they were. Their identity does not change, so that it does not matter how a program imported them.
"""

from __future__ import annotations

import inspect
import sys
import threading
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch_py._ops import OpOverloadPacket
    from torch_py.fx.proxy import Proxy

_NUMBER = "the number of the function"


def _asks(*args, **kwargs):  # type: ignore[no-untyped-def]
    # The code of a rerouted function. It runs among the globals of that function's module.
    from torch_py.fx._rerouting import call

    return call("the number of the function", args, kwargs)


def first_proxy(values: Any) -> Proxy | None:
    """The first proxy in a nest of values."""
    # That module imports this one.
    from torch_py.fx.proxy import Proxy

    if isinstance(values, Proxy):
        return values
    if isinstance(values, dict):
        values = values.values()
    elif isinstance(values, slice):
        values = (values.start, values.stop, values.step)
    elif not isinstance(values, (tuple, list)):
        return None

    for value in values:
        found = first_proxy(value)
        if found is not None:
            return found
    return None


class _Rerouted:
    """A function, what it does by itself, and its two codes."""

    def __init__(self, function: FunctionType, number: int) -> None:
        self.function = function
        self.own_code = function.__code__
        self.asking_code = _asking_code(function.__code__, number)
        self.itself = FunctionType(
            self.own_code,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        self.itself.__kwdefaults__ = function.__kwdefaults__
        self.itself.__annotations__ = function.__annotations__

    def spread(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, with a list of proxies in the place of variable ones taken apart:
        `einsum("i,i", [x, y])` is `einsum("i,i", x, y)`."""
        if not self.own_code.co_flags & inspect.CO_VARARGS or not args:
            return args
        *before, last = args
        is_list = isinstance(last, (list, tuple)) and first_proxy(last) is not None
        return (*before, *last) if is_list and first_proxy(before) is None else args


def _asking_code(own: CodeType, number: int) -> CodeType:
    """The code of `_asks` for one function, with as many cells as the function has."""
    code = _asks.__code__
    constants = tuple(number if constant == _NUMBER else constant for constant in code.co_consts)
    return code.replace(co_consts=constants, co_name=own.co_name, co_freevars=own.co_freevars)


@cache
def _functions() -> list[_Rerouted]:
    """The public functions in Python of the modules whose functions `__torch_function__` can take over."""
    # Imported on first use: it reads all modules of functions.
    from torch_py._overridable import _modules, ignored_functions

    ignored = ignored_functions()
    found: dict[FunctionType, None] = {}
    for module in _modules().values():
        for name, value in vars(module).items():
            is_public = not name.startswith("_") or name == "_assert"
            if isinstance(value, FunctionType) and is_public and value not in ignored:
                found[value] = None
    return [_Rerouted(function, number) for number, function in enumerate(found)]


def call(number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function while proxies may exist: recorded if there is one among the arguments."""
    rerouted = _functions()[number]
    proxy = first_proxy((args, kwargs))
    if proxy is None:
        return rerouted.itself(*args, **kwargs)
    return proxy.tracer.create_proxy("call_function", rerouted.function, rerouted.spread(args), kwargs)


class _Operators:
    """Operators of `torch.ops`: what calls them by themselves, and what asks for proxies first.

    Their overloads ask at all times.
    """

    def __init__(self) -> None:
        # Imported on first use: the registry of operators is large.
        from torch_py._ops import OpOverloadPacket

        self.cls = OpOverloadPacket
        self.own_call = own_call = OpOverloadPacket.__call__

        def asking_call(self: OpOverloadPacket, *args: Any, **kwargs: Any) -> Any:
            proxy = first_proxy((args, kwargs))
            if proxy is None:
                return own_call(self, *args, **kwargs)
            return proxy.tracer.create_proxy("call_function", self, args, kwargs)

        self.asking_call = asking_call


_operators = cache(_Operators)


class Rerouting:
    """Functions ask for proxies as long as one of these exists, or until the end of its `with` block."""

    _lock = threading.RLock()
    _count = 0

    def __init__(self) -> None:
        self._is_on = True
        self._change(1)

    def _change(self, difference: int) -> None:
        with Rerouting._lock:
            before = Rerouting._count
            Rerouting._count += difference
            if before == 0:
                _reroute(True)
            elif Rerouting._count == 0:
                _reroute(False)

    def close(self) -> None:
        """Ends this one's part; further calls do nothing."""
        if self._is_on:
            self._is_on = False
            self._change(-1)

    def __enter__(self) -> Rerouting:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.close()

    # Copies of a tracer share it: there is one end.
    def __copy__(self) -> Rerouting:
        return self

    def __deepcopy__(self, memo: Any) -> Rerouting:
        return self


def _reroute(asks: bool) -> None:
    for each in _functions():
        each.function.__code__ = each.asking_code if asks else each.own_code
        if asks:
            each.function.__wrapped__ = each.itself  # type: ignore[attr-defined]  # for inspect.signature
        else:
            del each.function.__wrapped__  # type: ignore[attr-defined]

    operators = _operators()
    operators.cls.__call__ = operators.asking_call if asks else operators.own_call  # type: ignore[method-assign]
