"""Watches compilers: a graph that one fails on is written as a program (`TORCHDYNAMO_REPRO_AFTER`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch_py import random
from torch_py._dynamo import config
from torch_py._dynamo.repro.checks import AccuracyError, difference_of
from torch_py._dynamo.repro.minifier import copied, copy_of
from torch_py._dynamo.repro.running import compiler_of, inductor_compiler
from torch_py._dynamo.repro.scripts import name_of, write_program
from torch_py._records import Fields
from torch_py._shapes.arguments import NotFollowed
from torch_py._subclasses.fake_tensor import FakeTensor
from torch_py.fx.graph_module import GraphModule


def compiled(backend: Any, module: GraphModule, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """What a backend of torch.compile makes of a graph.

    Raises what the backend raises, and AccuracyError at level 4 if the results differ.
    """
    if config.repro_after == "aot":
        if name_of(backend) == "inductor":
            options = {**options, "inner_compile": inner_compile}
        return backend(module, list(inputs), **options)

    watch = _Watch(copy_of(module), list(inputs), name_of(backend), "dynamo", options)
    result = watch.compiled(lambda: backend(module, list(inputs), **options))
    if config.repro_level == 4:
        watch.compare([copied(value) for value in inputs])
    return result


def inner_compile(module: GraphModule, example_inputs: Sequence[Any], **options: Any) -> Any:
    """Compiles one of inductor's graphs. Results are compared at the first call: inputs are fake before."""
    watch = _Watch(copy_of(module), list(example_inputs), "inductor", "aot", {})
    run = watch.compiled(lambda: inductor_compiler()(module, example_inputs))
    return watch.comparing(run) if config.repro_level == 4 else run


class _Watch(Fields):
    """One graph, as it was before it was compiled."""

    module: GraphModule
    inputs: Sequence[Any]
    backend: Any
    after: str
    options: Mapping[str, Any]

    def compiled(self, compile: Callable[[], Any]) -> Any:
        """The result of a compilation; the program is written if that fails, and at level 3 before it."""
        if config.repro_level == 3:
            self.write("ends")
        try:
            found = compile()
            self._run_once(found)
            return found
        except NotFollowed:
            raise
        except Exception:
            if config.repro_level != 3:
                self.write("raises")
            raise

    def _run_once(self, function: Callable[..., Any]) -> None:
        """Calls a function whose graph has real inputs: backends may fail only then."""
        if any(isinstance(value, FakeTensor) for value in self.inputs):
            return
        state = random.get_rng_state()
        try:
            function(*(copied(value) for value in self.inputs))
        finally:
            random.set_rng_state(state)

    def compare(self, inputs: Sequence[Any]) -> None:
        """Raises AccuracyError if a graph compiles to something else than its operators."""
        compile = compiler_of(self.backend, self.after, self.options)
        found = difference_of(copy_of(self.module), inputs, compile)
        if found is not None:
            self.inputs = list(inputs)
            self.write("differs")
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

    def write(self, check: str) -> None:
        """Writes the program, and says where it is."""
        file = "repro.py" if config.repro_level == 1 else "minifier_launcher.py"
        try:
            path = write_program(
                file, self.module, self.inputs, self.backend, self.after, check, self.options
            )
        except (OSError, RuntimeError) as problem:
            warnings.warn(f"torch.compile: no program could be written: {problem}", stacklevel=2)
            return
        warnings.warn(f"torch.compile: a graph that fails was written as a program: {path}", stacklevel=2)
