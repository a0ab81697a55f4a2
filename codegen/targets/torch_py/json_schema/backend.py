"""The schema of the file of a backend."""

from __future__ import annotations

from codegen.targets.torch_py.backends.reading import DEVICE_FUNCTIONS, DEVICE_KEY, HOOKS_FUNCTION, KEYS
from codegen.targets.torch_py.json_schema.shapes import (
    DOTTED,
    NAME,
    Schema,
    described,
    mapping,
    matching,
    table,
)

_MEANINGS = {
    "backend": "The name of the device, which a program gives to torch.device.",
    "device": "The C++ functions that the device is made of: docs/backends.md.",
    "dispatch": "The kernels: an operator such as add.Tensor, and the function that serves it.",
}


def backend_schema() -> Schema:
    values: dict[str, Schema] = {
        "backend": matching("[a-z_][a-z0-9_]*"),
        "device": {"anyOf": [_functions(DEVICE_FUNCTIONS), _functions(HOOKS_FUNCTION)]},
        "dispatch": {**mapping({DEVICE_KEY: table(DOTTED, matching(NAME))}, [DEVICE_KEY])},
    }
    keys = {key: values[key] for key in KEYS}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A backend",
        "description": "Kernels of a device outside of torch_py: docs/backends.md. "
        "`python -m codegen schema` writes this file.",
        **mapping(described(keys, _MEANINGS), KEYS),
    }


def _functions(signatures: dict[str, str]) -> Schema:
    """A map with all of these keys, each the name of a function."""
    keys = {
        key: {"description": f"A function `{signature.format(key)}`.", **matching(NAME)}
        for key, signature in signatures.items()
    }
    return mapping(keys, signatures)
