"""The byte code of Python 3.11."""

from __future__ import annotations

import opcode
from types import CodeType
from typing import Any

from torch_py._dynamo.decode.instructions import Instruction, Program, exception_table, slot_names, units
from torch_py._dynamo.decode.operators import BINARY, COMPARE, UNARY

# Instructions whose argument is passed on as it is, or that have none.
_SAME = {
    "NOP": "nop",
    "RESUME": "nop",
    "PRECALL": "nop",
    "COPY_FREE_VARS": "nop",
    "ASYNC_GEN_WRAP": "unsupported",
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
_NAMED = {
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
}
# Jumps: the canonical name, and whether the argument counts backwards.
_JUMPS = {
    "JUMP_FORWARD": ("jump", 1),
    "JUMP_BACKWARD": ("jump", -1),
    "JUMP_BACKWARD_NO_INTERRUPT": ("jump", -1),
    "POP_JUMP_FORWARD_IF_FALSE": ("jump_if_false", 1),
    "POP_JUMP_FORWARD_IF_TRUE": ("jump_if_true", 1),
    "POP_JUMP_FORWARD_IF_NONE": ("jump_if_none", 1),
    "POP_JUMP_FORWARD_IF_NOT_NONE": ("jump_if_not_none", 1),
    "POP_JUMP_BACKWARD_IF_FALSE": ("jump_if_false", -1),
    "POP_JUMP_BACKWARD_IF_TRUE": ("jump_if_true", -1),
    "POP_JUMP_BACKWARD_IF_NONE": ("jump_if_none", -1),
    "POP_JUMP_BACKWARD_IF_NOT_NONE": ("jump_if_not_none", -1),
    "JUMP_IF_FALSE_OR_POP": ("jump_if_false_or_pop", 1),
    "JUMP_IF_TRUE_OR_POP": ("jump_if_true_or_pop", 1),
    "FOR_ITER": ("for_iter", 1),
    "SEND": ("send", 1),
}


def _translate(code: CodeType, name: str, argument: int, end: int) -> tuple[str, Any]:
    if name in _SAME:
        return _SAME[name], argument
    if name in _NAMED:
        return _NAMED[name], code.co_names[argument]
    if name in _JUMPS:
        op, direction = _JUMPS[name]
        return op, end + 2 * direction * argument

    if name == "LOAD_CONST":
        return "load_const", code.co_consts[argument]
    if name == "LOAD_GLOBAL":
        return "load_global", (code.co_names[argument >> 1], argument & 1)
    if name == "BINARY_OP":
        return "binary", BINARY[argument]
    if name == "COMPARE_OP":
        return "compare", COMPARE[opcode.cmp_op[argument]]
    if name == "KW_NAMES":
        return "kw_names", code.co_consts[argument]
    if name in UNARY:
        return "unary", UNARY[name]
    return "unsupported", name


def decode(code: CodeType) -> Program:
    instructions = []
    for number, argument, offset, end in units(code, opcode._inline_cache_entries):  # type: ignore[attr-defined]
        name = opcode.opname[number]
        op, value = _translate(code, name, argument, end)
        instructions.append(Instruction(op, value, offset, end, name))
    return Program(code, instructions, exception_table(code.co_exceptiontable), slot_names(code))
