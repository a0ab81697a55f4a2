"""JSON schemas of the files that people write, for editors that know YAML.

They are made from the vocabulary that the reader uses and from the tables of docs/entries.md, so they cannot
say anything else. A schema sees keys and words; what depends on operators, formulas or C++ is the business of
``check``.

    operators.schema.json   native_functions.yaml, and the file of a package of operators
    backend.schema.json     the file of a backend
"""

from __future__ import annotations

import json
from pathlib import Path

from codegen.targets.torch_py.json_schema.backend import backend_schema
from codegen.targets.torch_py.json_schema.entries import operators_schema

# Where the schemas are kept; `python -m codegen schema` writes them.
FOLDER = Path(__file__).parent
OPERATORS = "operators.schema.json"
BACKEND = "backend.schema.json"


def render() -> dict[str, str]:
    """The text of each file."""
    schemas = {OPERATORS: operators_schema(), BACKEND: backend_schema()}
    return {name: json.dumps(schema, indent=1, ensure_ascii=False) + "\n" for name, schema in schemas.items()}
