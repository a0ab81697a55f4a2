"""Prints a plan as a ninja file. Paths are relative to the directory ninja runs in, so that ccache hits across checkouts."""

from __future__ import annotations

from .plan import Plan, SharedObject
from .sources import Unit

HEADER = """\
# Written by tools/build/ninja_file.py.
ninja_required_version = 1.8
"""

RULES = """\
rule compile
  command = $compiler -MMD -MF $out.d $flags -c $in -o $out
  depfile = $out.d
  deps = gcc
  description = compiling $title

rule link
  command = $linker $flags -o $out @$out.rsp $libraries
  rspfile = $out.rsp
  rspfile_content = $in_newline
  description = linking $out

rule copy
  command = cp -f $in $out
  description = copying $out
"""


def render(plan: Plan) -> str:
    parts = [HEADER, _variables(plan), RULES]
    for shared in plan.objects:
        parts += [_compile(unit, shared) for unit in shared.units]
        parts.append(_link(shared))
    for copy, original in plan.bundled.items():
        parts.append(f"build {path(copy)}: copy {path(original)}\n")
    everything = [shared.output for shared in plan.objects] + list(plan.bundled)
    parts.append(f"default {' '.join(path(output) for output in everything)}\n")
    return "\n".join(parts)


def _variables(plan: Plan) -> str:
    lines = [
        f"builddir = {path(plan.log_folder)}",
        f"compiler = {value(plan.compiler)}",
        f"linker = {value(plan.toolchain.compiler)}",
        f"compile_flags = {value(' '.join(plan.compile_flags))}",
        f"link_flags = {value(' '.join(plan.link_flags))}",
    ]
    lines += [f"kernel_flags_{name} = {value(' '.join(flags))}" for name, flags in plan.kernel_flags.items()]
    return "\n".join(lines) + "\n"


def _compile(unit: Unit, shared: SharedObject) -> str:
    flags = ["$compile_flags"]
    if unit.isa:
        flags.append(f"$kernel_flags_{unit.isa.name}")
    flags += [value(flag) for flag in shared.compile_flags]
    return f"build {path(unit.object)}: compile {path(unit.source)}\n  flags = {' '.join(flags)}\n  title = {value(unit.title)}\n"


def _link(shared: SharedObject) -> str:
    objects = " ".join(path(unit.object) for unit in shared.units)
    # Order only: a library that was relinked with the same interface need not relink what uses it.
    after = f" || {' '.join(path(output) for output in shared.after)}" if shared.after else ""
    libraries = value(" ".join(shared.link_flags))
    return f"build {path(shared.output)}: link {objects}{after}\n  flags = $link_flags\n  libraries = {libraries}\n"


def path(text: str) -> str:
    return text.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def value(text: str) -> str:
    return text.replace("$", "$$")
