"""Modules under `torch.compile`."""

from __future__ import annotations

from typing import Any

from torch_py.nn.modules.module import Module


class OptimizedModule(Module):
    """A module under `torch.compile`: runs `_orig_mod` and shows its
    attributes; keys of its state_dict begin with `_orig_mod.`."""

    def __init__(self, mod: Module, dynamo_ctx: Any = None) -> None:
        super().__init__()
        self._orig_mod = mod
        self.training = mod.training
        # Outside of the registries of the module: the state dict does not know of it.
        vars(self)["dynamo_ctx"] = dynamo_ctx
        vars(self)["_compiled_call"] = mod if dynamo_ctx is None else dynamo_ctx(mod)

    def forward(self, *arguments: Any, **keywords: Any) -> Any:
        return vars(self)["_compiled_call"](*arguments, **keywords)

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
        return type(self), (self._orig_mod, vars(self)["dynamo_ctx"])
