"""Trains a network on real handwritten digits, then adds an operator to torch_py.

`make demo` runs `python examples/demo.py [--epochs 12] [--output build/demo] [--part PART]`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import add_operator
import train_digits

ROOT = Path(__file__).resolve().parent.parent
EXPECTED_ACCURACY = 0.97


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "build" / "demo",
        help="folder for pictures, weights and the operator library",
    )
    parser.add_argument("--part", choices=("digits", "operator"), help="only this part")
    options = parser.parse_args()

    options.output.mkdir(parents=True, exist_ok=True)
    accuracy = 1.0

    if options.part != "operator":
        accuracy = train_digits.run(options.output, options.epochs)
    if options.part != "digits":
        add_operator.run(options.output)

    if options.part is None:
        print("\nNext: docs/tutorials/ explains both parts, and examples/README.md lists more programs.")

    if accuracy < EXPECTED_ACCURACY:
        print(f"held-out accuracy {accuracy:.1%} is below {EXPECTED_ACCURACY:.0%}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
