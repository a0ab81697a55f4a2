"""Moves operators from the native namespaces of `torch_py._C` into public modules.

The generator decides which namespace an operator is in (`python_module:` of its entry); nothing here names an
operator.
"""

from __future__ import annotations

from typing import Any


def export_operators(namespace: object, target: dict[str, Any]) -> list[str]:
    """Puts every operator of `namespace` into `target` (a module's globals) unless the name is taken; returns
    the public names added.

    Names like `_pack_padded_sequence`, which PyTorch has too, are added without being public.
    """
    added = []
    for name in dir(namespace):
        if name.startswith("__") or name in target:
            continue
        target[name] = getattr(namespace, name)
        if not name.startswith("_"):
            added.append(name)
    return added
