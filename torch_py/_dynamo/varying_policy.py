"""Which sizes and integers of a function vary, from call to call of its compilation."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

from torch_py._dynamo import config
from torch_py._dynamo.sources import Source
from torch_py._shapes.stand_ins import Range
from torch_py._tensor import Tensor
from torch_py.nn.parameter import Parameter

LARGEST_NUMBER = 2**31 - 1  # that varies: operators of small dtypes have limits, too
# Of a tensor: the number of its elements, with large stand-ins as sizes, is an int64, too.
_MOST_DIMENSIONS = 3
_MOST_SETTINGS = 3
_LARGEST_DIVISOR = 32

Key = tuple[str, int | None]  # the text of a source, and the dimension of a size (None for a number)


class Policy:
    """Which sizes of a function's tensors vary, and which of its integers: those that have done so, and
    sizes that programs mark.

    Tensors and integers are known by the text of their source. With `dynamic`, all vary from the start; with
    False, only marked ones do. Of modules that were found in a place, code is for the particular module until
    another one comes.
    """

    def __init__(self, dynamic: bool | None, holds_values: bool = True) -> None:
        if dynamic is None and not config.assume_static_by_default:
            dynamic = True
        elif dynamic is None and not config.automatic_dynamic_shapes:
            dynamic = False
        self.dynamic = dynamic

        self._seen: dict[str, tuple[int, ...]] = {}  # sizes; a number is the only one
        self._varying: dict[str, set[int]] = {}
        self.fixed: set[Key] = set()  # what code is compiled for one value of
        self.tied: dict[Key, int] = {}  # sizes and numbers that do not vary where they are these
        self._divisors: dict[Key, int] = {}  # of sizes
        self._ranges: dict[Key, Range] = {}
        self._modules: dict[str, weakref.ref[Any]] = {}
        self._varying_modules: set[str] = set()
        self.holds_values = holds_values  # which ends graphs where they are used
        self._values: dict[str, set[float | str]] = {}
        self.taken_for_fixed: set[str | Key] = set()
        self.take_for_fixed()

    def take_for_fixed(self, *kinds: str | Key) -> None:
        """From now on, all "sizes" or "numbers", or particular numbers, are fixed, and others vary as far as
        settings allow it."""
        self.taken_for_fixed = {*kinds, "numbers"} if config.specialize_int else {*kinds}

    def dimensions(self, tensor: Tensor, source: Source) -> set[int]:
        """The dimensions of a tensor that vary; sizes of 0 and 1 do not, nor do those of modules' tensors."""
        text = source.text
        names = (f"_dynamo_{kind}_indices" for kind in ("dynamic", "weak_dynamic", "static"))
        strong, weak, static = (getattr(tensor, name, set()) for name in names)
        if source.is_fixed or "sizes" in self.taken_for_fixed:
            return set()

        is_parameter = config.force_parameter_static_shapes and isinstance(tensor, Parameter)
        found = set(range(tensor.dim())) if self.dynamic else set()
        if is_parameter or source.is_of_module:
            found = set()
        elif self.dynamic is None:
            found = self._changed(tensor.shape, text)
        found = (found | strong | weak) - static
        found = {d for d in found if tensor.shape[d] > 1 and not self._is_fixed((text, d), tensor.shape[d])}
        if len(found) <= _MOST_DIMENSIONS or strong or weak:
            return found
        # Channels, which weights fix, are left out first, then the last dimensions.
        return set(sorted(found - {1})[:_MOST_DIMENSIONS])

    def _is_fixed(self, key: Key, value: int) -> bool:
        return key in self.fixed or self.tied.get(key) == value

    def _changed(self, sizes: Sequence[int], text: str) -> set[int]:
        """The dimensions that have had another size in an earlier call."""
        before = self._seen.get(text, ())
        changed = self._varying.setdefault(text, set())
        if len(before) == len(sizes):
            changed |= {d for d, size in enumerate(sizes) if size != before[d]}
        return changed

    def observe(self, sizes: Sequence[int], source: Source) -> None:
        """Notes the sizes of an argument that code is compiled for, or the one of an integer."""
        self._seen[source.text] = tuple(sizes)

    def varies(self, number: int, source: Source) -> bool:
        """Whether an integer varies; 0, 1 and negative ones do not. Attributes do after a second value: most
        are settings.
        """
        text = source.text
        if not self.taken_for_fixed.isdisjoint(("numbers", (text, None))) or self.dynamic is False:
            return False
        has_changed = bool(self._changed((number,), text))
        if not 2 <= number <= LARGEST_NUMBER or self._is_fixed((text, None), number):
            return False
        return has_changed or (self.dynamic is True and not self.is_attribute(source))

    def holds(self, value: Any, source: Source, is_own: bool) -> bool:
        """Whether a float or a text is one of many in this place. In calls of a continuation (`is_own`), a
        second float is enough where it may have come from a tensor; others are more likely settings."""
        is_result = is_own and type(value) is float
        is_result = is_result and all(step.kind in ("argument", "item") for step in source.steps())
        seen = self._values.setdefault(source.text, set())
        seen.add(value)
        return self.holds_values and len(seen) > (1 if is_result else _MOST_SETTINGS)

    @staticmethod
    def is_attribute(source: Source) -> bool:
        """Whether a value is one that a module or a class has, or a global variable."""
        return source.is_fixed or source.is_of_module

    def divisor_of(self, key: Key, size: int) -> int:
        """What a size is a multiple of in all calls, twice at least, as far as that matters."""
        divisor = self._divisors[key] = math.gcd(self._divisors.get(key, 1), size)
        return divisor if size > divisor else 1

    def divide(self, key: Key, divisor: int) -> None:
        """From now on a size is taken for a multiple of a number."""
        self._divisors[key] = divisor
        self._ranges.pop(key, None)

    def divide_evenly(self, key: Key, size: int) -> bool:
        """The same for the largest power of two that is known; whether there is one."""
        text, dim = key
        before = self._seen.get(text, ())[dim:]
        divisor = math.gcd(_LARGEST_DIVISOR, size, *before[:1])
        if divisor == 1 or divisor == size:
            return False
        self.divide(key, divisor)
        return True

    def observe_module(self, module: Any, source: Source) -> None:
        """Notes a module that code is compiled for."""
        self._modules.setdefault(source.text, weakref.ref(module))

    def is_particular(self, module: Any, source: Source) -> bool:
        """Whether code may be for this very module, because no other one has been in its place."""
        before = self._modules.get(source.text)
        if before is not None and before() is not module:
            self._varying_modules.add(source.text)
        return source.text not in self._varying_modules

    def limit(self, key: Key, allowed: Range) -> None:
        """In the next capture, operators get a size, or a number, in this range."""
        self._ranges[key] = self._ranges.get(key, allowed).both(allowed)

    def range_of(self, key: Key, number: int) -> Range | None:
        """The range of a size or a number that is `number` in this call; None for any."""
        found = self._ranges.get(key)
        return None if found is None else found.near(number)

    def forget_ranges(self) -> None:
        """Has to be called before another call is captured, whose tensors may have other sizes."""
        self._ranges.clear()
