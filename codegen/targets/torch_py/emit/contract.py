"""``torch_py/_generated/contract.json``: what was promised to programs, for those that were made earlier.

``digest`` names the state of native_functions.lock. ``former_names`` has, for each form of an operator
that was renamed, its name in the dispatcher and the version since which it has that name.
"""

from __future__ import annotations

import json

from codegen.model import Program
from codegen.model.former_names import names_of_forms
from codegen.model.lock import digest_of


def render(program: Program) -> str:
    former = {old: [new, since] for operator in program for old, new, since in names_of_forms(operator)}
    return json.dumps({"digest": digest_of(program), "former_names": former}, indent=1) + "\n"
