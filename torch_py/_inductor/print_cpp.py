"""Prints nests as C++ functions, which threads call for ranges of rows.

Loops have forms that compilers turn into vector code: innermost loops have no branches and no calls, and
reductions have an array of lanes (aten/vec/lanes.h).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from torch_py._inductor.indices import Axis, contiguous, count_of
from torch_py._inductor.ir import CPP, TRUTH, cost, loads
from torch_py._inductor.loops import Kernel, Nest
from torch_py._inductor.packs import takes_packs
from torch_py._inductor.print_expr import unwrapped
from torch_py._inductor.print_passes import Passes

_WIDTH = 100
_GRAIN = 32768  # additions that are worth a thread
_STRIPS = (256, 128, 64)
_TILE = 32
_ENTRY = 'extern "C" void {name}(void* const* data, const int64_t* sizes, int64_t begin, int64_t end) {{'


def print_nest(nest: Nest, name: str) -> Kernel:
    return _Printer(nest, name).kernel()


class _Printer(Passes):
    """The function around the passes: its parameters, and the loops over rows."""

    def kernel(self) -> Kernel:
        self._name_buffers()
        extent, repetitions = self._loops()
        work = sum(cost(item.value) + 2 for item in self.nest.items) * repetitions
        # GCC believes `__restrict` of parameters, and not that of variables.
        parameters = [*self._parameters(), "const int64_t* sizes", "int64_t begin", "int64_t end"]
        data = [f"static_cast<{type}>(data[{number}])" for number, type in enumerate(self._types())]
        arguments = [*data, "sizes", "begin", "end"]
        lines = [
            *self._comments(),
            f"static inline void {self.name}_loops(",
            f"{_listed(parameters, 4)}) {{",
            *self.out.lines,
            "}\n",
            # What programs call.
            _ENTRY.format(name=self.name),
            f"  {self.name}_loops(",
            f"{_listed(arguments, 6)});",
            "}",
        ]
        grain = max(1, _GRAIN // work)
        return Kernel(self.name, "\n".join(lines), self._key(), self.buffers, extent, grain)

    def _key(self) -> str:
        """The text with numbers for names."""
        text = "\n".join([*self._parameters(), *self.out.lines])
        numbers: dict[str, str] = {}

        def numbered(name: re.Match[str]) -> str:
            is_own = name[0] in self.names.used
            return numbers.setdefault(name[0], f"${len(numbers)}") if is_own else name[0]

        return re.sub(r"(?<!::)\b[A-Za-z_]\w*", numbered, text)

    def _comments(self) -> list[str]:
        lines = [item.line for item in self.nest.items if item.line]
        # A backslash at the end would make the next line part of the comment.
        return [f"// {line.rstrip(chr(92) + ' ')}" for line in dict.fromkeys(lines)]

    def _name_buffers(self) -> None:
        """Pointers for what is read from memory and written to it, in this order."""
        loaded = [sorted({load.buffer for load in loads(item.value)}, key=str) for item in self.nest.items]
        read = [buffer for buffers in loaded for buffer in buffers if self.nest.made(buffer) is None]
        self.buffers = [*dict.fromkeys(read), *self.nest.stored()]
        self.pointers = {buffer: self.names.new(buffer.name) for buffer in self.buffers}

    def _types(self) -> list[str]:
        """The types of the pointers: truths are read as bytes, as GCC has no packs of `bool`."""
        written = {item.buffer for item in self.nest.items}
        read = {**CPP, TRUTH: "uint8_t"}
        return [f"{CPP[b.dtype]}*" if b in written else f"const {read[b.dtype]}*" for b in self.buffers]

    def _parameters(self) -> list[str]:
        return [f"{type} __restrict {self.pointers[b]}" for type, b in zip(self._types(), self.buffers)]

    # Loops.

    def _loops(self) -> tuple[int, int]:
        """Prints the loops; the number of positions that threads divide, and how often all is computed for
        each of them.
        """
        outer = list(self.nest.outer)
        if self.columns:
            return self._column_loops(outer)
        if self.nest.has_rows or not outer:
            self._open_rows(outer)
            self.print_passes()
            self.out.close()
            return count_of(outer), count_of(self.nest.inner)

        last = outer.pop()
        other = self._other_direction(outer, last)
        if other is not None:
            return self._tile_loops(outer, last, other)
        has_packs = takes_packs(self.nest.items, last)
        if not outer:
            self._last_loop(self.nest.items, last, has_packs, "begin", "end")
            return last.size, 1
        self._open_rows(outer)
        self._last_loop(self.nest.items, last, has_packs)
        self.out.close()
        return count_of(outer), last.size

    def _other_direction(self, outer: Sequence[Axis], last: Axis) -> Axis | None:
        """The axis along which something is read from neighbours in memory, while the last one jumps."""
        if last.size < _TILE:
            return None
        places = [load.position for item in self.nest.items for load in loads(item.value)]
        jumping = [place for place in places if place.factor(last) > 1]
        long = [axis for axis in outer if axis.size >= _TILE]
        return next((axis for place in jumping for axis in long if place.factor(axis) == 1), None)

    def _tile_loops(self, outer: list[Axis], last: Axis, other: Axis) -> tuple[int, int]:
        """Squares of two axes, so that what is read stays in the cache until its neighbours are needed."""
        tiles = Axis("block", -(-other.size // _TILE))
        rows = [tiles if axis is other else axis for axis in outer]
        self._open_rows(rows)
        self.out.add(f"const int64_t first = block * {_TILE};")
        self.out.add(f"const int64_t past = first + {_TILE} < {other.size} ? first + {_TILE} : {other.size};")
        self.out.open(f"for (int64_t start = 0; start < {last.size}; start += {_TILE})")
        self.out.add(f"const int64_t stop = start + {_TILE} < {last.size} ? start + {_TILE} : {last.size};")
        self.out.open_loops([other], "first", "past")
        self.out.open_loops([last], "start", "stop")
        self._elements(self.nest.items, "", {})
        self.out.close(4)
        return count_of(rows), _TILE * last.size

    def _open_rows(self, outer: Sequence[Axis]) -> None:
        """A loop over the positions of axes. If these are not one of the nest, it has all of them in one."""
        if len(outer) == 1 and outer[0] in self.nest.outer:
            self.out.open_loops(outer, "begin", "end")
            return
        self.out.open("for (int64_t row = begin; row < end; ++row)")
        strides = contiguous([axis.size for axis in outer])
        for number, (axis, stride) in enumerate(zip(outer, strides)):
            quotient = "row" if stride == 1 else f"(row / {stride})"
            text = f"{quotient} % {axis.size}" if number > 0 else unwrapped(quotient)
            self.out.add(f"const int64_t {axis.name} = {text};")

    def _column_loops(self, outer: list[Axis]) -> tuple[int, int]:
        """Strips of columns: neighbouring results, which are vectors."""
        last = outer[-1]
        width = next((w for w in _STRIPS if last.size % w == 0), _STRIPS[0] if last.size > 256 else last.size)
        rows = [*outer[:-1], Axis("block", -(-last.size // width))]
        self._open_rows(rows)
        self.width = str(width)
        if last.size % width:
            rest = f"{last.size} - block * {width}"
            self.out.add(f"const int64_t width = {rest} < {width} ? {rest} : {width};")
            self.width = "width"

        self.strip = width
        self.print_passes()
        self.out.close()
        return count_of(rows), width * count_of(self.nest.inner)


def _listed(parts: Sequence[str], indentation: int) -> str:
    """Parameters or arguments, in lines of a readable width, which end after whole ones."""
    joined = ", ".join(part.replace(" ", "\0") for part in parts)
    lines = textwrap.wrap(joined, _WIDTH - indentation, break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines), " " * indentation).replace("\0", " ")
