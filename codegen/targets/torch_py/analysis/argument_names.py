"""Renames arguments in C++ whose names are keywords there, or are used by the generated code around them.

Note [Names of arguments]. A schema may call an argument ``default``, ``iter`` or ``wrap``, but generated
loops, wrappers and bindings use such words themselves. Before anything is printed, ``with_free_names``
renames these arguments everywhere in the operator: ``Argument.name`` is then the name in C++, and
``Argument.spelling`` the name in the schema, which Python keeps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from codegen.expressions import parse, to_source
from codegen.expressions.nodes import Name, Node, substitute
from codegen.expressions.scope import METADATA_METHODS
from codegen.model import Derivative, Formula, Operator, Requirement
from codegen.model.keywords import cpp_identifier
from codegen.schema import Argument, Arguments

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")

# Names that templates and printers use unqualified in the scope of arguments. tests/codegen compares them
# with generated code.
GENERATED = frozenset(
    # variables and types
    "args below cast count_value dtype_of_elements element entry finish formula grad_inputs gradient "
    "gradients grads i inside iter keys node operands opmath_t out0 out1 out2 out3 out4 out5 plan "
    "requires_grad result results scalar_t self_before spec0 spec1 spec2 spec3 spec4 spec5 stages view "
    # functions
    "arithmetic as_view check_distinct_outputs check_inplace check_inplace_result check_leaves check_lists "
    "check_no_overlap check_one_device check_out_requires_no_grad check_single_number collect_next_edges "
    "compute_requires_grad copy_to_output copy_to_outputs copy_to_self cpu_kernel cpu_reduce device_of_call "
    "device_of_new dispatch effective_keys elements_of_row elementwise empty_from_spec forget_temporary_base "
    "has_function_modes input_metadata keys_of keys_of_device keys_or_cpu launch_plan materialize_grad "
    "mixes_devices next_edge output_buffer own packed_numbers real_if_input_is rebase_history reduce_grad "
    "reduce_rows results_of_each row_pass row_value save_list saved_names saved_value set_history "
    "should_compute_any should_compute_output store_output throw_only_numbers transform_rows unlocked "
    "unpack_list value_before with_requires_grad wrap wrap_none wrapped_scalar".split()
)
# Generated locals and members are named after arguments, with these words behind an underscore: self_value.
_DERIVED = frozenset(
    ["", "buffer", "element", "info", "len", "number", "size", "value"]
    + [method.split("_")[0] for method in METADATA_METHODS]
)


def with_free_names(operator: Operator) -> Operator:
    """The same operator with arguments renamed where C++ needs it."""
    taken = set(operator.schema.arguments.names())
    renamed: dict[str, str] = {}

    for name in operator.schema.arguments.names():
        is_keyword = cpp_identifier(name) != name
        if name in GENERATED or is_keyword or _is_derived(name, taken):
            renamed[name] = free_name(f"{name}_", taken)
            taken.add(renamed[name])

    return _renamed(operator, renamed) if renamed else operator


def _is_derived(name: str, others: set[str]) -> bool:
    """Whether generated code may use ``name`` for a value of another argument: self_value next to self."""
    return any(
        name.startswith(f"{other}_") and name[len(other) + 1 :].split("_")[0] in _DERIVED for other in others
    )


def free_name(name: str, taken: set[str]) -> str:
    """``name``, with underscores until nothing else has it."""
    while name in taken:
        name += "_"
    return name


def _renamed(operator: Operator, names: Mapping[str, str]) -> Operator:
    """``operator`` with its arguments renamed in the schema and in all formulas."""
    values: dict[str, Node] = {old: Name(new) for old, new in names.items()}

    def renamed(found: Formula) -> Formula:
        return replace(found, node=substitute(found.node, values), renamed=tuple(names.items()))

    def formula(found: Formula | None) -> Formula | None:
        return None if found is None else renamed(found)

    def argument(found: Argument) -> Argument:
        return replace(found, name=names[found.name], spelled=found.name) if found.name in names else found

    def derivative(found: Derivative) -> Derivative:
        inputs = tuple(names.get(n, n) for n in found.inputs)
        return found._replace(inputs=inputs, formula=formula(found.formula))

    def requirement(found: Requirement) -> Requirement:
        check = renamed(found.check)
        return replace(found, check=check, message=found.message and _PLACEHOLDER.sub(shown, found.message))

    def shown(match: re.Match[str]) -> str:
        """A value in the braces of a message."""
        return "{" + to_source(substitute(parse(match.group(1)), values)) + "}"

    before = operator.schema.arguments
    arguments = Arguments(
        tuple(map(argument, before.pre_self)),
        before.self_argument,
        tuple(map(argument, before.post_self)),
        tuple(map(argument, before.kwarg_only)),
        tuple(map(argument, before.out)),
    )
    return replace(
        operator,
        schema=replace(operator.schema, arguments=arguments),
        expr=formula(operator.expr),
        derivatives=tuple(map(derivative, operator.derivatives)),
        requires=tuple(map(requirement, operator.requires)),
        scalars=tuple(names.get(n, n) for n in operator.scalars),
    )


def as_spelled(node: Node, operator: Operator) -> Node:
    """``node`` with the names of the schema."""
    renamed = {a.name: Name(a.spelling) for a in operator.schema.arguments if a.spelling != a.name}
    return substitute(node, renamed)
