"""Instructions that mean the same in all versions of Python in which they exist."""

from __future__ import annotations

from types import CodeType
from typing import Any

from torch_py._dynamo.decode.operators import BINARY, UNARY

# Instructions whose argument is passed on as it is, or that have none.
SAME = {
    "NOP": "nop",
    "RESUME": "nop",
    "PRECALL": "nop",
    "COPY_FREE_VARS": "nop",
    "POP_TOP": "pop",
    "PUSH_NULL": "push_null",
    "COPY": "copy",
    "SWAP": "swap",
    "LOAD_FAST": "load_fast",
    "STORE_FAST": "store_fast",
    "DELETE_FAST": "delete_fast",
    "MAKE_CELL": "make_cell",
    "LOAD_CLOSURE": "load_slot",
    "LOAD_DEREF": "load_deref",
    "LOAD_CLASSDEREF": "load_classderef",
    "STORE_DEREF": "store_deref",
    "DELETE_DEREF": "delete_deref",
    "BINARY_SUBSCR": "subscript",
    "STORE_SUBSCR": "store_subscript",
    "DELETE_SUBSCR": "delete_subscript",
    "IS_OP": "is_op",
    "CONTAINS_OP": "contains",
    "BUILD_TUPLE": "build_tuple",
    "BUILD_LIST": "build_list",
    "BUILD_SET": "build_set",
    "BUILD_MAP": "build_map",
    "BUILD_CONST_KEY_MAP": "build_const_key_map",
    "BUILD_STRING": "build_string",
    "BUILD_SLICE": "build_slice",
    "LIST_APPEND": "list_append",
    "SET_ADD": "set_add",
    "MAP_ADD": "map_add",
    "LIST_EXTEND": "list_extend",
    "SET_UPDATE": "set_update",
    "DICT_UPDATE": "dict_update",
    "DICT_MERGE": "dict_merge",
    "LIST_TO_TUPLE": "list_to_tuple",
    "END_SEND": "end_send",
    "CLEANUP_THROW": "cleanup_throw",
    "LOAD_FAST_CHECK": "load_fast",
    "LOAD_FAST_AND_CLEAR": "load_fast_and_clear",
    "BINARY_SLICE": "binary_slice",
    "STORE_SLICE": "store_slice",
    "LOAD_LOCALS": "load_locals",
    "LOAD_FROM_DICT_OR_DEREF": "load_from_dict_or_deref",
    "TO_BOOL": "to_bool",
    "CONVERT_VALUE": "convert_value",
    "FORMAT_SIMPLE": "format_simple",
    "FORMAT_WITH_SPEC": "format_with_spec",
    "SET_FUNCTION_ATTRIBUTE": "set_function_attribute",
    "COPY_DICT_WITHOUT_KEYS": "copy_dict_without_keys",
    "GEN_START": "pop",
    "UNPACK_SEQUENCE": "unpack_sequence",
    "UNPACK_EX": "unpack_ex",
    "FORMAT_VALUE": "format_value",
    "GET_ITER": "get_iter",
    "CALL": "call",
    "CALL_FUNCTION_EX": "call_ex",
    "MAKE_FUNCTION": "make_function",
    "LOAD_BUILD_CLASS": "load_build_class",
    "RETURN_VALUE": "return_value",
    "RETURN_GENERATOR": "return_generator",
    "YIELD_VALUE": "yield_value",
    "GET_YIELD_FROM_ITER": "get_yield_from_iter",
    "RAISE_VARARGS": "raise_varargs",
    "RERAISE": "reraise",
    "PUSH_EXC_INFO": "push_exc_info",
    "CHECK_EXC_MATCH": "check_exc_match",
    "POP_EXCEPT": "pop_except",
    "BEFORE_WITH": "before_with",
    "WITH_EXCEPT_START": "with_except_start",
    "LOAD_ASSERTION_ERROR": "load_assertion_error",
    "GET_LEN": "get_len",
    "MATCH_MAPPING": "match_mapping",
    "MATCH_SEQUENCE": "match_sequence",
    "MATCH_KEYS": "match_keys",
    "MATCH_CLASS": "match_class",
    "SETUP_ANNOTATIONS": "setup_annotations",
}
# Instructions whose argument is an index into co_names.
NAMED = {
    "LOAD_NAME": "load_name",
    "STORE_NAME": "store_name",
    "DELETE_NAME": "delete_name",
    "STORE_GLOBAL": "store_global",
    "DELETE_GLOBAL": "delete_global",
    "LOAD_ATTR": "load_attr",
    "LOAD_METHOD": "load_method",
    "STORE_ATTR": "store_attr",
    "DELETE_ATTR": "delete_attr",
    "IMPORT_NAME": "import_name",
    "IMPORT_FROM": "import_from",
    "LOAD_FROM_DICT_OR_GLOBALS": "load_from_dict_or_globals",
}
# Instructions whose argument is an index into co_consts.
CONSTANT = {"LOAD_CONST": "load_const", "RETURN_CONST": "return_const", "KW_NAMES": "kw_names"}


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
