"""Instructions that mean the same in all versions of Python in which they exist."""

from __future__ import annotations

from types import CodeType
from typing import Any

from torch_py._dynamo.decode.instructions import BINARY, UNARY

# Instructions whose argument is passed on as it is, or that have none: those with CPython's names, in small
# letters, and others.
_KEPT = (
    "nop push_null copy swap load_fast store_fast delete_fast make_cell load_deref load_classderef "
    "store_deref delete_deref is_op build_tuple build_list build_set build_map build_const_key_map "
    "build_string build_slice list_append set_add map_add list_extend set_update dict_update dict_merge "
    "list_to_tuple end_send cleanup_throw load_fast_and_clear binary_slice store_slice load_locals "
    "load_from_dict_or_deref to_bool convert_value format_simple format_with_spec set_function_attribute "
    "copy_dict_without_keys unpack_sequence unpack_ex format_value get_iter call make_function "
    "load_build_class return_value return_generator yield_value get_yield_from_iter raise_varargs reraise "
    "push_exc_info check_exc_match pop_except before_with with_except_start load_assertion_error get_len "
    "match_mapping match_sequence match_keys match_class setup_annotations"
).split()
SAME = {
    "RESUME": "nop",
    "PRECALL": "nop",
    "COPY_FREE_VARS": "nop",
    "POP_TOP": "pop",
    "LOAD_CLOSURE": "load_slot",
    "BINARY_SUBSCR": "subscript",
    "STORE_SUBSCR": "store_subscript",
    "DELETE_SUBSCR": "delete_subscript",
    "CONTAINS_OP": "contains",
    "LOAD_FAST_CHECK": "load_fast",
    "GEN_START": "pop",
    "CALL_FUNCTION_EX": "call_ex",
    **{name.upper(): name for name in _KEPT},
}
# Instructions whose argument is an index into co_names, and those with one into co_consts.
_OF_NAMES = (
    "load_name store_name delete_name store_global delete_global load_attr load_method store_attr "
    "delete_attr import_name import_from load_from_dict_or_globals"
).split()
NAMED = {name.upper(): name for name in _OF_NAMES}
CONSTANT = {name.upper(): name for name in ("load_const", "return_const", "kw_names")}


def translate(code: CodeType, name: str, argument: int) -> tuple[str, Any]:
    """The canonical name and argument of an instruction that has no rule of a version."""
    if name in SAME:
        return SAME[name], argument
    if name in NAMED:
        return NAMED[name], code.co_names[argument]
    if name in CONSTANT:
        return CONSTANT[name], code.co_consts[argument]
    if name == "BINARY_OP":
        return "binary", BINARY[argument]
    if name in UNARY:
        return "unary", UNARY[name]
    return "unsupported", name
