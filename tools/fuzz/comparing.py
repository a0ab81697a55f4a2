"""The loop of a process that compares calls with PyTorch's and prints each kind of difference once.

Its command line is LOG SEED START SECONDS [COUNT [NAMES]]. The log holds the call that is being made, for who
finds the process dead.
"""

from __future__ import annotations

import faulthandler
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch

import torch_py

TIME_LIMIT = 20.0  # seconds of one call
Subject = TypeVar("Subject")
_ACCIDENTS = (AssertionError, KeyError, NameError, RecursionError, SystemError, ZeroDivisionError)


def is_accident(found: Exception | None, expected: Exception | None) -> bool:
    """Whether our exception is of no check of an argument: no number of mistakes in a call excuses it."""
    return "INTERNAL ASSERT" in str(found) or (
        isinstance(found, _ACCIDENTS) and not isinstance(expected, type(found))
    )


def compare_calls(
    subjects: Sequence[Subject],
    name_of: Callable[[Subject], str],
    make_call: Callable[[random.Random, Sequence[Subject]], Any],
    difference: Callable[[Any], str | None],
    is_known: Callable[[Any, str], bool],  # of a call and what differs
    subject_of: Callable[[Any], Any],
) -> None:
    """Does not return. `make_call` may make none; `difference` says "kind: details"."""
    log_path = sys.argv[1]
    seed = sys.argv[2]
    start = int(sys.argv[3])
    seconds = float(sys.argv[4])
    last = start + int(sys.argv[5]) if len(sys.argv) > 5 and int(sys.argv[5]) > 0 else sys.maxsize
    wanted = sys.argv[6].split(",") if len(sys.argv) > 6 and sys.argv[6] else []

    warnings.simplefilter("ignore")
    faulthandler.enable()
    torch.set_num_threads(1)
    torch_py.set_num_threads(1)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    chosen = tuple(subject for subject in subjects if not wanted or name_of(subject) in wanted)
    seen: set[tuple[str, str]] = set()
    end = time.monotonic() + seconds
    number = start

    while number < last and time.monotonic() < end:
        made = make_call(random.Random(f"{seed} {number}"), chosen)

        if made is not None:
            os.ftruncate(log, 0)
            os.pwrite(log, f"{number} {made}".encode("utf8", "replace"), 0)
            faulthandler.dump_traceback_later(TIME_LIMIT, exit=True)

            found = difference(made)
            key = (str(subject_of(made)), found.split(":")[0]) if found is not None else ("", "")
            if found is not None and key not in seen and (key[1] == "accident" or not is_known(made, found)):
                seen.add(key)
                print(f"differs: {number} {made}: {found}", flush=True)
        number += 1

    print(f"made {number - start} calls", flush=True)
    os._exit(0)
