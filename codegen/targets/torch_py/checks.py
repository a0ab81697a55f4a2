"""Checks that every entry has the kernels and the shape rule that its structure needs, where they belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.diagnostics import Location, did_you_mean
from codegen.model.checks.report import Reporter
from codegen.model.kernels import Kernel
from codegen.model.operator import DispatchEntry, Operator
from codegen.model.program import Program, combination_macro
from codegen.model.reading import Context
from codegen.targets.torch_py import keys
from codegen.targets.torch_py.cpp import kernel_signature, shape_signature
from codegen.targets.torch_py.dispatch_checks import check_dispatch_calls
from codegen.targets.torch_py.kernels import is_for_cuda, is_per_isa, namespace_of, types, types_of
from codegen.targets.torch_py.rooms import check_room, kernel_file, loop_file, shape_file
from codegen.targets.torch_py.samples import repeated_samples


def check(operator: Operator, context: Context, has_structure: bool) -> None:
    report = Reporter(operator, context)
    if has_structure:
        _check_shape(operator, report)
        _check_formula(operator, report)
    if has_structure and operator.each is None:
        _check_keys(operator, report)
        _check_cuda_key(operator, report)
        for entry in operator.dispatch:
            _check_definition(operator, entry, report)
            _check_dtypes(operator, entry, report)


def _check_formula(operator: Operator, report: Reporter) -> None:
    """A formula is the kernel of the CPU, and the shape rule."""
    if operator.expr is None or operator.structure not in ("pointwise", "reduction", "shaped"):
        return
    if operator.structure == "shaped" and "shape" in operator.key_locations:
        what = "'shape' repeats what 'expr' says: the result has the sizes of the tensors"
        report.at_key("shape", what, "remove it")
    for entry in operator.dispatch:
        if entry.key in ("All", "CPU", "Meta"):
            report.at(
                entry.location,
                f"the {entry.key} kernel comes from 'expr'",
                "remove the dispatch entry, or 'expr'",
            )


def _check_shape(operator: Operator, report: Reporter) -> None:
    if operator.structure != "shaped":
        if "shape" in operator.key_locations:
            report.at_key(
                "shape",
                f"'shape' has no meaning for structure {operator.structure}",
                "remove it, or write structure: shaped",
            )
        return
    if operator.shape is None or operator.expr is not None:
        return

    key = "shape" if "shape" in operator.key_locations else "structure"
    signature = shape_signature(operator, operator.shape)
    place = f"{signature} in {shape_file(operator)}"

    if operator.shape_definition is None:
        near = report.context.kernels.near(operator.shape)
        report.at_key(
            key,
            f"the shape rule '{operator.shape}' is defined nowhere",
            f"did you mean {near}? or write {place}" if near else f"write {place}",
        )
    elif operator.shape_definition.is_local:
        found = operator.shape_definition
        report.at_key(
            key,
            f"the shape rule '{operator.shape}' is local to its file",
            f"move it out of the unnamed namespace, or remove static: {found.path}:{found.line}",
        )
    else:
        overloads = report.context.kernels.all_of(operator.shape)
        what = f"the shape rule '{operator.shape}'"
        check_types(report, operator.location_of(key), what, signature, overloads)
        check_namespace(report, operator.location_of(key), what, signature, overloads)
        check_place(report, signature, overloads, shape_file(operator))


def _check_keys(operator: Operator, report: Reporter) -> None:
    """Each dispatch key is one that the structure can have."""
    given = [d.key for d in operator.dispatch if d.key not in keys.LAYOUT_KEYS]
    one_for_all = operator.structure in keys.ALL_STRUCTURES

    for entry in operator.dispatch:
        if entry.key == keys.INPLACE_KEY:
            if operator.structure != "composite" or not operator.has_inplace:
                report.at(
                    entry.location,
                    "'Inplace' is for a composite that has the variant inplace",
                    f"remove Inplace: {entry.kernel}",
                )
            continue

        if entry.key in keys.LAYOUT_KEYS:
            continue

        # Composed while a graph is recorded; a device's own kernel runs otherwise.
        if operator.is_composite_implicit and "All" in given:
            continue

        if one_for_all and entry.key != "All":
            report.at(
                entry.location,
                f"a {operator.structure} has one function for every device, not one for {entry.key}",
                f"write All: {entry.kernel}",
            )

        if entry.key == "All" and operator.structure in ("pointwise", "reduction"):
            report.at(
                entry.location,
                f"a {operator.structure} kernel is a loop on one device",
                f"write CPU: {entry.kernel}",
            )
        elif entry.key == "All" and len(given) > 1 and not one_for_all:
            report.at(entry.location, "'All' is written with other dispatch keys", "remove one or the other")


def _check_cuda_key(operator: Operator, report: Reporter) -> None:
    """A kernel of the CUDA library has a sibling of the same name for the CPU."""
    entry = operator.dispatch_for(keys.CUDA_KEY)
    if entry is None:
        return

    cpu = operator.dispatch_for("CPU")
    name = cpu.kernel if cpu is not None else ""
    if cpu is None and operator.expr is None:
        report.at(
            entry.location,
            "a CUDA kernel without one for the CPU",
            f"write CPU, CUDA: {entry.kernel}, or remove CUDA",
        )
    elif name and name != entry.kernel:
        report.at(
            entry.location,
            f"the CUDA kernel is called '{entry.kernel}' and the CPU's '{name}'",
            f"write CUDA: {name}; it is in namespace at::native::cuda",
        )


def check_program(program: Program, context: Context) -> None:
    _check_unclaimed(program, context)
    check_dispatch_calls(program, context)
    _check_samples(context)


def _check_samples(context: Context) -> None:
    """Each generator of arguments has a name of its own."""
    for name, places in repeated_samples(context.root).items():
        (first, line), *others = places
        for path, other in others:
            context.problems.report(
                Location(path, other, 1),
                name,
                f"two generators of samples are called '{name}'",
                f"rename this one, or that at {first}:{line}",
            )


def _check_unclaimed(program: Program, context: Context) -> None:
    """Every kernel of the CUDA library is one that an entry claims, or local to its file.

    Files that extend others see the kernels of these as well, and do not claim them.
    """
    if program.base is not None or program.library is not None:
        return

    claimed = {entry.kernel for o in program for entry in o.dispatch if entry.key == keys.CUDA_KEY}
    owners = {entry.kernel: (o, entry) for o in program for entry in o.dispatch if entry.key == "CPU"}
    for kernel in context.kernels.on(keys.CUDA_KEY).definitions():
        if kernel.is_local or kernel.symbol in claimed or not kernel.path.endswith((".cu", ".cpp")):
            continue

        owner = owners.get(kernel.symbol)
        if owner is not None:
            what = "no entry claims this CUDA kernel"
            hint = f"write CPU, CUDA: {kernel.symbol} in the dispatch of {owner[0].name}, {owner[1].location}"
        elif kernel.symbol.endswith("_kernel"):
            what = "this CUDA kernel has the name of none for the CPU"
            hint = f"{did_you_mean(kernel.symbol, owners)} or put it into an unnamed namespace"
        else:
            continue
        context.problems.report(Location(kernel.path, kernel.line, 1), kernel.symbol, what, hint)


def _check_definition(operator: Operator, entry: DispatchEntry, report: Reporter) -> None:
    """The kernel is defined in the right file, with the right parameters, and other files can call it."""
    signature = kernel_signature(operator, entry.kernel, entry.key)
    wanted_file = kernel_file(operator, entry.key)
    wanted = f"{signature} in {wanted_file}"
    what = f"the {entry.key} kernel '{entry.kernel}'"
    index = report.context.kernels.on(entry.key)
    found = entry.definition

    if found is None:
        near = index.near(entry.kernel)
        if entry.is_implied and operator.structure == "pointwise":
            wanted += ", or expr: and a formula"
        report.at(
            entry.location,
            f"{what} is defined nowhere",
            f"did you mean {near}? or write {wanted}" if near else f"write {wanted}",
        )
    elif found.is_local:
        report.at(
            entry.location,
            f"{what} is local to its file",
            f"move it out of the unnamed namespace, or remove static: {found.path}:{found.line}",
        )
    else:
        overloads = index.all_of(entry.kernel)
        check_types(report, entry.location, what, signature, overloads)
        check_namespace(report, entry.location, what, signature, overloads)

        is_loop = found.path.startswith("aten/native/cpu/")
        belongs = loop_file(operator, is_per_isa(found)) if is_loop else wanted_file
        # What calls libraries is host C++, which several topics share: aten/native/cuda/Blas.cpp.
        if not (is_for_cuda(found) and found.path.endswith(".cpp")):
            check_place(report, signature, overloads, belongs)


def _check_dtypes(operator: Operator, entry: DispatchEntry, report: Reporter) -> None:
    """The loop has code for every dtype that the entry claims, as far as the macros in its body tell.

    Kernels of other structures may treat dtypes apart before a macro; tests run those (tests/ops).
    """
    definition = entry.definition
    if definition is None or not operator.dtypes or operator.structure not in ("pointwise", "reduction"):
        return

    sets = {s.macro: s.members for s in report.context.dtype_sets.values()}
    sets[combination_macro(operator.dtype_sets)] = operator.dtypes
    if not definition.dispatches or not all(macro in sets for macro in definition.dispatches):
        return

    compiled = {dtype for macro in definition.dispatches for dtype in sets[macro]}
    lacking = [dtype for dtype in operator.dtypes if dtype not in compiled]
    if lacking:
        where = f"{definition.path}:{definition.line}"
        names = ", ".join(definition.dispatches)
        report.at_key(
            "dtypes",
            f"the {entry.key} kernel has no code for {', '.join(lacking)}: {names} at {where}",
            f"write {_macro_for(operator, sets)} there, or claim fewer dtypes",
        )


def _macro_for(operator: Operator, sets: Mapping[str, Sequence[str]]) -> str:
    """The macro of the smallest set with all dtypes of the entry."""
    fitting = [macro for macro, members in sets.items() if set(operator.dtypes) <= set(members)]
    return min(fitting, key=lambda macro: len(sets[macro]), default="a macro of aten/Dispatch.h")


def check_place(report: Reporter, signature: str, found: Sequence[Kernel], belongs: str) -> None:
    """A definition that may have the types of ``signature`` is in a file of the operator's topic."""
    fitting = [kernel for kernel in found if types(kernel) in (None, types_of(signature))]
    for problem in check_room(report.operator, fitting, belongs):
        report.at(*problem)


def check_types(
    report: Reporter, location: Location, what: str, signature: str, found: Sequence[Kernel]
) -> None:
    """One definition has the types of ``signature``; the compiler checks those that macros write."""
    if any(kernel.signature == signature for kernel in found):
        return

    wanted = types_of(signature)
    if found and all(types(kernel) not in (None, wanted) for kernel in found):
        first = found[0]
        report.at(
            location,
            f"{what} has other parameters: {first.signature} at {first.path}:{first.line}",
            f"write {signature}",
        )


def check_namespace(
    report: Reporter, location: Location, what: str, signature: str, found: Sequence[Kernel]
) -> None:
    """A definition that may have the types of ``signature`` is where the generated code declares it.

    The compiler accepts it anywhere; the linker would miss the one that was declared.
    """
    fitting = [kernel for kernel in found if types(kernel) in (None, types_of(signature))]
    right = [kernel for kernel in fitting if kernel.namespace in (None, namespace_of(kernel.path))]
    written = [kernel for kernel in right if kernel.namespace is not None and kernel.signature is not None]
    places = dict.fromkeys(f"{kernel.path}:{kernel.line}" for kernel in written)
    if len(places) > 1:
        report.at(location, f"{what} is defined {len(places)} times", f"keep one of {', '.join(places)}")
    if right or not fitting:
        return

    first = fitting[0]
    report.at(
        location,
        f"{what} is in " + (f"namespace {first.namespace}" if first.namespace else "no namespace"),
        f"move it into namespace {namespace_of(first.path)}: {first.path}:{first.line}",
    )
