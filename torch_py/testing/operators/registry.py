"""``samples("name")`` and ``error_samples("name")``, and the calls of an operator that they yield."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from torch_py.testing.operators.make import Make

Generator = Callable[[Make], Iterator["SampleInput"]]
Family = TypeVar("Family", bound=Callable[..., Iterator["SampleInput"]])
ErrorGenerator = Callable[[Make], Iterator["ErrorInput"]]

_GENERATORS: dict[str, Generator] = {}
_ERROR_GENERATORS: dict[str, ErrorGenerator] = {}


class SampleInput:
    """One call: ``SampleInput(input, 1, dim=0)`` is ``operator(input, 1, dim=0)``."""

    def __init__(self, input: Any, *args: Any, **kwargs: Any) -> None:
        self.input = input
        self.args = args
        self.kwargs = kwargs

    @property
    def positional(self) -> tuple[Any, ...]:
        return (self.input, *self.args)

    def map(self, function: Callable[[Any], Any]) -> SampleInput:
        """The same call with ``function`` applied to every tensor in it."""
        return SampleInput(
            *(_map(value, function) for value in self.positional),
            **{name: _map(value, function) for name, value in self.kwargs.items()},
        )

    def clone_input(self) -> None:
        """Replaces the input, a tensor or a list of tensors, by a copy that may be written to."""
        self.input = _map(self.input, lambda tensor: tensor.clone())

    def tensors(self) -> list[Any]:
        """Every tensor of the call, in order."""
        found: list[Any] = []
        self.map(found.append)
        return found

    def __str__(self) -> str:
        parts = [_text(value) for value in self.positional]
        return f"({', '.join(parts + [f'{name}={_text(value)}' for name, value in self.kwargs.items()])})"


@dataclass
class ErrorInput:
    """A call that must raise exactly ``error``, PyTorch's type; ``message`` is a regular expression."""

    sample: SampleInput
    error: type[BaseException]
    message: str = field(default="")


def samples(name: str, *arguments: Any, **options: Any) -> Callable[[Family], Family]:
    """Registers a generator under the name that entries use.

    Further arguments are passed to the generator after its first one. A generator of several operators, such
    as those for one to three dimensions, is registered once for each of them.

    Write it at the start of a line: codegen looks for it there.
    """

    def register(generator: Family) -> Family:
        assert name not in _GENERATORS, f"two generators of samples are called {name}"
        _GENERATORS[name] = lambda make: generator(make, *arguments, **options)
        return generator

    return register


def error_samples(*names: str) -> Callable[[ErrorGenerator], ErrorGenerator]:
    """Registers a generator of wrong calls for one or several names of samples."""

    def register(generator: ErrorGenerator) -> ErrorGenerator:
        for name in names:
            assert name not in _ERROR_GENERATORS, f"two generators of error samples are called {name}"
            _ERROR_GENERATORS[name] = generator
        return generator

    return register


def sample_names() -> frozenset[str]:
    return frozenset(_GENERATORS)


def error_names() -> frozenset[str]:
    return frozenset(_ERROR_GENERATORS)


def sample_inputs(
    name: str, torch: Any, dtype: str, *, device: str = "cpu", requires_grad: bool = False
) -> list[SampleInput]:
    """All calls of the generator ``name``.

    The values are the same every time and with every module that has PyTorch's functions.
    """
    return list(_GENERATORS[name](Make(torch, dtype, device, requires_grad, seed=name)))


def error_inputs(name: str, torch: Any, *, device: str = "cpu") -> list[ErrorInput]:
    generator = _ERROR_GENERATORS.get(name)
    return [] if generator is None else list(generator(Make(torch, "float32", device, False, seed=name)))


def is_tensor(value: Any) -> bool:
    return hasattr(value, "is_floating_point") and hasattr(value, "stride")


def _map(value: Any, function: Callable[[Any], Any]) -> Any:
    if is_tensor(value):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_map(item, function) for item in value])
    return value


def _text(value: Any) -> str:
    if is_tensor(value):
        strides = "" if value.is_contiguous() else f", strides {tuple(value.stride())}"
        return f"<{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}{strides}>"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_text, value))}]"
    return repr(value)
