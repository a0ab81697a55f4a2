"""Samples of tensors whose memory is a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("from_file")
def from_file(make: Make) -> Iterator[SampleInput]:
    path = Path(tempfile.gettempdir()) / "torch_py_sample.bin"
    path.write_bytes(bytes(range(48)))
    yield SampleInput(str(path), size=3, dtype=make.torch.int32)
    yield SampleInput(str(path), False, 48, dtype=make.torch.uint8)
    yield SampleInput(str(path))


@error_samples("from_file")
def from_file_errors(make: Make) -> Iterator[ErrorInput]:
    path = Path(tempfile.gettempdir()) / "torch_py_sample.bin"
    path.write_bytes(bytes(48))
    yield ErrorInput(SampleInput(str(path), size=49, dtype=make.torch.uint8), RuntimeError, "48.*49")
    yield ErrorInput(SampleInput(str(path) + ".missing", size=1), RuntimeError, "missing")
