"""The dialect of a target: what its entries may say, what they must say, and where what they name is found.

The grammar of schemas and formulas is the same for all targets. A dialect is the vocabulary on top: dtypes,
dispatch keys, modules and tags, the keys that an author has to write, and the files next to the declarations
in which kernels and samples are defined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codegen.dtypes import DTYPE_ALIASES, DTYPES

if TYPE_CHECKING:
    from codegen.model.kernels import Kernel, KernelIndex
    from codegen.model.operator import Operator
    from codegen.model.program import Program
    from codegen.model.reading import Context
    from codegen.model.taken_names import TakenNames
    from codegen.schema import FunctionSchema

# What an entry can be required to have. `derivatives`: a formula for each tensor, or the reason for having
# none; `dtypes`: of the structures that loop over elements.
REQUIREMENTS = ("structure", "dtypes", "derivatives", "samples", "doc")

# The module of operators whose names begin with an underscore, which are for other operators only.
PRIVATE = "private"


class Checks(NamedTuple):
    """Checks of a target, in addition to those of the model. They report to ``context.problems``."""

    # An operator, and whether its entry has a structure.
    entry: Callable[[Operator, Context, bool], None]
    # All operators of a file, once each has been checked by itself.
    program: Callable[[Program, Context], None] = lambda program, context: None


@dataclass(frozen=True)
class Dialect:
    """The vocabulary of a target. The defaults are those of a target without kernels, samples and modules."""

    required: frozenset[str] = frozenset()  # words of REQUIREMENTS
    # Keys of entries that mean nothing to the target, and are mistakes.
    unused_keys: frozenset[str] = frozenset()

    # In the order in which lists of dtypes are written, and other names of them.
    dtypes: tuple[str, ...] = DTYPES
    dtype_aliases: Mapping[str, str] = field(default_factory=lambda: DTYPE_ALIASES)

    # Words of `dispatch:`, and the key and the function that follow from an operator's schema and structure.
    dispatch_keys: tuple[str, ...] = ()
    implied_kernel: Callable[[FunctionSchema, str], tuple[str, str]] | None = None
    # Keys that take the place of the kernel that follows, and those that come in addition to it.
    main_keys: frozenset[str] = frozenset()
    additional_keys: frozenset[str] = frozenset()

    # Words of `python_module:`, the default first.
    modules: tuple[str, ...] = ("main", PRIVATE)
    # Modules whose name begins those of their operators: linalg_det.
    prefixed_modules: tuple[str, ...] = ()
    # How programs write the modules, where not by their words, and the class that has the methods.
    places: Mapping[str, str] = field(default_factory=dict)
    method_place: str = "Tensor"
    tags: tuple[str, ...] = ()

    # What the declarations' folder defines of what entries name. Without `samples`, the key may say anything;
    # where it returns None, a folder has no generators to look up.
    kernels: Callable[[Path, Sequence[Kernel]], KernelIndex] | None = None
    samples: Callable[[Path], frozenset[str] | None] | None = None
    taken_names: Callable[[Path], TakenNames] | None = None
    # The version of the package that is built from the folder; None if it is not that of a package.
    version: Callable[[Path], str | None] | None = None
    # All files that these functions read, so that a changed one generates again.
    scanned_files: Callable[[Path], Sequence[Path]] = lambda folder: ()

    # Imports the model, so that it is called only when a file is checked.
    checks: Callable[[], Checks] | None = None

    def __post_init__(self) -> None:
        unknown = self.required - {*REQUIREMENTS}
        assert not unknown, f"a dialect requires {unknown}, which the model does not check"

    @property
    def alias_places(self) -> tuple[str, ...]:
        """Modules that an alias may name: special.expit."""
        return tuple(module for module in self.modules if module != PRIVATE)

    def place_of(self, module: str) -> str:
        """``torch.linalg``, as programs write the module ``linalg``."""
        return self.places.get(module, module)

    def canonical_dtype(self, name: str) -> str | None:
        """``half`` -> ``float16``; None if ``name`` is not a dtype."""
        if name in self.dtypes:
            return name
        return self.dtype_aliases.get(name)

    def in_canonical_order(self, members: Sequence[str]) -> tuple[str, ...]:
        present = set(members)
        return tuple(dtype for dtype in self.dtypes if dtype in present)
