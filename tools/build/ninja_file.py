"""Prints a plan as a ninja file, with paths relative to the root so that ccache hits across checkouts."""

from __future__ import annotations

from .plan import Plan, SharedObject
from .precompiled import PrecompiledHeader
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

# GCC recognises the files of a precompiled header by their content. To ccache, two headers are equal if
# they are equal once preprocessed, so it could give back one that was made before a comment or an #if
# for another compiler changed: it is told to look at the files themselves, separated by colons.
rule precompile
  command = files=$$(CCACHE_DISABLE=1 $compiler -MM $flags -x c++-header $in) && $
      CCACHE_EXTRAFILES=$$(printf '%s' "$${files#*:}" | tr -s ' \\\\\\n' ':') $
      $compiler -MMD -MF $out.d $flags -x c++-header -c $in -o $out
  depfile = $out.d
  deps = gcc
  description = precompiling $title

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
        compiled = [unit for unit in shared.units if unit not in plan.foreign]
        precompiled = {unit: plan.precompiled[unit] for unit in compiled if unit in plan.precompiled}
        parts += [_precompile(header, shared) for header in dict.fromkeys(precompiled.values())]
        parts += [_compile(unit, shared, precompiled.get(unit)) for unit in compiled]
        parts.append(_link(shared, [plan.foreign.get(unit, unit.object) for unit in shared.units]))
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
        f"last_flags = {value(' '.join(plan.last_flags))}",
        f"link_flags = {value(' '.join(plan.link_flags))}",
    ]
    lines += [f"flags_{name} = {value(' '.join(flags))}" for name, flags in plan.flavours.items()]
    return "\n".join(lines) + "\n"


def _compile(unit: Unit, shared: SharedObject, header: PrecompiledHeader | None) -> str:
    flags, after = _flags(unit.flavour, shared), ""
    if header:
        # -Winvalid-pch: a header that the compiler cannot use costs seconds per file, and nobody would
        # notice.
        flags += ["-include", path(header.name), "-Winvalid-pch"]
        after = f" | {path(header.output)}"
    return (
        f"build {path(unit.object)}: compile {path(unit.source)}{after}\n  flags = {' '.join(flags)}\n  "
        f"title = {value(unit.title)}\n"
    )


def _precompile(header: PrecompiledHeader, shared: SharedObject) -> str:
    flags = " ".join(_flags(header.flavour, shared))
    return (
        f"build {path(header.output)}: precompile {path(header.name)}\n  flags = {flags}\n  title = "
        f"{value(header.title)}\n"
    )


def _flags(flavour: str, shared: SharedObject) -> list[str]:
    own = (value(flag) for flag in shared.compile_flags)
    return ["$compile_flags", f"$flags_{flavour}", *own, "$last_flags"]


def _link(shared: SharedObject, inputs: list[str]) -> str:
    objects = " ".join(path(name) for name in inputs)
    # Order only: a library that was relinked with the same interface need not relink what uses it.
    after = f" || {' '.join(path(output) for output in shared.after)}" if shared.after else ""
    libraries = value(" ".join(shared.link_flags))
    return (
        f"build {path(shared.output)}: link {objects}{after}\n  flags = $link_flags\n  libraries = "
        f"{libraries}\n"
    )


def path(text: str) -> str:
    return text.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def value(text: str) -> str:
    return text.replace("$", "$$")
