"""Whether operators are being recorded: never."""

from __future__ import annotations

from typing import Any, NoReturn

from torch_py.fx._absent import refuse


def get_proxy_mode() -> None:
    return None


def make_fx(f: Any, *arguments: Any, **options: Any) -> NoReturn:
    refuse("experimental.proxy_tensor.make_fx")
