"""The command `python -m torch_py.as_torch`, which takes the arguments that `python` takes."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

from torch_py.as_torch import install

USAGE = "usage: python -m torch_py.as_torch [-m MODULE | -c CODE | SCRIPT | -] [ARGUMENTS...]"


def _fresh_main(**attributes: object) -> ModuleType:
    """The program's own `__main__`, in place of this file."""
    main = ModuleType("__main__")
    vars(main).update(__builtins__=__builtins__, __spec__=None, __cached__=None, **attributes)
    sys.modules["__main__"] = main
    return main


def _below(traceback: TracebackType | None, frames: int) -> TracebackType | None:
    for _ in range(frames):
        traceback = traceback.tb_next if traceback is not None else None
    return traceback


def _execute(code: CodeType, main: ModuleType) -> None:
    """Runs the program; its traceback begins with the program, not with this file."""
    try:
        exec(code, vars(main))
    except SystemExit:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        error.__traceback__ = _below(error.__traceback__, 1)
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)


def _compile(source: bytes | str, name: str) -> CodeType:
    try:
        return compile(source, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        sys.excepthook(SyntaxError, error, None)
        sys.exit(1)


def _run_script(path: str) -> None:
    if Path(path).is_dir() or path.endswith((".zip", ".pyz")):
        sys.path[0] = path
        _fresh_main()
        runpy._run_module_as_main("__main__", False)  # type: ignore[attr-defined]  # what python does
        return

    try:
        source = Path(path).read_bytes()
    except OSError as error:
        print(
            f"{sys.executable}: can't open file {os.path.abspath(path)!r}: [Errno {error.errno}] "
            f"{error.strerror}",
            file=sys.stderr,
        )
        sys.exit(2)

    sys.path[0] = str(Path(path).resolve().parent)
    # Absolute, as Python makes it: programs that change the directory still find their files.
    path = os.path.join(os.getcwd(), path)
    _execute(_compile(source, path), _fresh_main(__file__=path))


def _run_interactively() -> None:
    if sys.stdin.isatty():
        import code

        code.interact(
            banner=f"Python {sys.version}\ntorch is torch_py", local=vars(_fresh_main()), exitmsg=""
        )
        return
    _execute(_compile(sys.stdin.read(), "<stdin>"), _fresh_main())


def main() -> None:
    arguments = sys.argv[1:]
    first = arguments[0] if arguments else "-"
    if first in ("-h", "--help"):
        print(USAGE)
    elif first in ("-m", "-c") and len(arguments) < 2:
        print(f"Argument expected for the {first} option\n{USAGE}", file=sys.stderr)
        sys.exit(2)

    elif first == "-m":
        sys.argv[:] = arguments[1:]
        install()
        _fresh_main()
        runpy._run_module_as_main(arguments[1])  # type: ignore[attr-defined]  # what python does for -m

    elif first == "-c":
        sys.argv[:] = ["-c", *arguments[2:]]
        sys.path[0] = ""
        install()
        _execute(_compile(arguments[1], "<string>"), _fresh_main())

    elif first == "-":
        sys.argv[:] = arguments or [""]
        sys.path[0] = ""
        install()
        _run_interactively()

    elif first.startswith("-"):
        print(f"unknown option {first}\n{USAGE}", file=sys.stderr)
        sys.exit(2)

    else:
        sys.argv[:] = arguments
        install()
        _run_script(first)


main()
