"""`torch.compile` without a compiler: functions and modules run as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._notices import say_once
from torch_py.compiler._functions import NOTICE, check, same
from torch_py.nn.modules.module import Module


class OptimizedModule(Module):
    """A module under `torch.compile`: runs `_orig_mod` and shows its
    attributes; keys of its state_dict begin with `_orig_mod.`."""

    def __init__(self, mod: Module, dynamo_ctx: Any = None) -> None:
        super().__init__()
        self._orig_mod = mod
        self.training = mod.training

    def forward(self, *arguments: Any, **keywords: Any) -> Any:
        return self._orig_mod(*arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Attributes of the module inside are set there, so that both see them."""
        if (
            name == "_orig_mod"
            or "_orig_mod" not in self.__dict__.get("_modules", {})
            or name in self.__dict__
            or hasattr(type(self), name)
        ):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def train(self, mode: bool = True) -> OptimizedModule:
        super().train(mode)
        return self

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return super().__call__(*arguments, **keywords)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})

    def __len__(self) -> int:
        return len(self._orig_mod)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> Any:
        return type(self), (self._orig_mod,)


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    **unknown: Any,
) -> Any:
    """`model`, a function or a Module, to be called as before; as a decorator with and without arguments.

    Runs eagerly, which a UserWarning says once (not with ``backend="eager"`` or ``disable=True``). A Module
    comes back wrapped, as its state_dict has prefixed keys in PyTorch too. Raises RuntimeError for a bad
    `mode`, `backend`, or for `mode` and `options` together.
    """
    check(mode, options, backend)
    settings = {
        "fullgraph": fullgraph,
        "dynamic": dynamic,
        "backend": backend,
        "mode": mode,
        "options": options,
        "disable": disable,
    }
    if model is None:
        return lambda function: compile(function, **settings)
    if not callable(model):
        raise RuntimeError(
            f"torch.compile: expected a function or a Module as model, got {type(model).__name__}"
        )

    if disable:
        return model

    if backend != "eager":
        say_once(NOTICE)
    return OptimizedModule(model) if isinstance(model, Module) else same(model)
