"""Fake tensors, which torch_py does not have; use device="meta" for shapes and dtypes without data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NoReturn

from torch_py._pytorch_names.packages import lacking as _lacking


class UnsupportedFakeTensorException(RuntimeError):
    """The error for operators that need data."""


class FakeTensor:
    """A tensor without data that has a device. Creating one raises NotImplementedError."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        raise NotImplementedError('torch._subclasses.FakeTensor: torch_py has none; use device="meta"')


class FakeTensorMode:
    """A mode that makes fake tensors. Entering it raises NotImplementedError."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        pass

    def __enter__(self) -> NoReturn:
        raise NotImplementedError('torch._subclasses.FakeTensorMode: torch_py has none; use device="meta"')

    def __exit__(self, *exception: object) -> None:
        pass


def is_fake(x: Any) -> bool:
    return False


def maybe_get_fake_mode(t: Any) -> None:
    return None


@contextlib.contextmanager
def unset_fake_temporarily() -> Iterator[None]:
    yield


__getattr__ = _lacking(__name__)
