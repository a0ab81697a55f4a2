"""Watches compilers: a graph that one fails on is written as a program (`TORCHDYNAMO_REPRO_AFTER`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch_py import random
from torch_py._dynamo import config
from torch_py._dynamo.backends.registry import name_of
from torch_py._dynamo.checking import copied
from torch_py._dynamo.repro.checks import AccuracyError, difference_of
from torch_py._dynamo.repro.minifier import Case, copy_of, inductor_compiler
from torch_py._shapes.arguments import NotFollowed
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py.fx.graph_module import GraphModule


def compiled(backend: Any, module: GraphModule, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """What a backend of torch.compile makes of a graph.

    Raises what the backend raises, and AccuracyError at level 4 if the results differ.
    """
    name = name_of(backend)
    if config.repro_after == "aot":
        if name == "inductor":
            options = {**options, "inner_compile": inner_compile}
        return backend(module, list(inputs), **options)

    watch = _Watch(copy_of(module), list(inputs), name or backend, "dynamo", options)
    result = watch.compiled(lambda: backend(module, list(inputs), **options))
    if config.repro_level == 4:
        watch.compare([copied(value) for value in inputs])
    return result


def inner_compile(module: GraphModule, example_inputs: Sequence[Any], **options: Any) -> Any:
    """Compiles one of inductor's graphs. Results are compared at the first call: inputs are fake before."""
    watch = _Watch(copy_of(module), list(example_inputs), "inductor", "aot", {})
    run = watch.compiled(lambda: inductor_compiler()(module, example_inputs))
    return watch.comparing(run) if config.repro_level == 4 else run


class _Watch(Case):
    """One graph, as it was before it was compiled."""

    def compiled(self, compile: Callable[[], Any]) -> Any:
        """The result of a compilation; the program is written if that fails, and at level 3 before it."""
        if config.repro_level == 3:
            self.tell("ends")
        try:
            found = compile()
            if not any(isinstance(value, FakeTensor) for value in self.inputs):
                with random.fork_rng(devices=()):  # backends may fail only when the graph runs
                    found(*map(copied, self.inputs))
            return found
        except Exception as error:
            if config.repro_level != 3 and not isinstance(error, NotFollowed):
                self.tell("raises")
            raise

    def compare(self, inputs: Sequence[Any]) -> None:
        """Raises AccuracyError if a graph compiles to something else than its operators."""
        found = difference_of(copy_of(self.module), inputs, self.compile)
        if found is not None:
            self.inputs = list(inputs)
            self.tell("differs")
            raise AccuracyError(f"Bad accuracy detected: {found}")

    def comparing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A compiled graph, compared with its operators at the first call."""
        seen: list[bool] = []

        def run(*inputs: Any) -> Any:
            if not seen:
                seen.append(True)
                self.compare([copied(value) for value in inputs])
            return function(*inputs)

        return run

    def tell(self, check: str) -> None:
        """Writes the program, and says where it is."""
        self.check = check
        try:
            path = self.write("repro.py" if config.repro_level == 1 else "minifier_launcher.py")
            outcome = f"a graph that fails was written as a program: {path}"
        except (OSError, RuntimeError) as problem:
            outcome = f"no program could be written: {problem}"
        warnings.warn(f"torch.compile: {outcome}", stacklevel=2)
