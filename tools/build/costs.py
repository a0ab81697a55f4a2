"""What nvcc takes for each file, and the size of its library: both have limits.

`python -m tools.build.costs` prints the most expensive files and fails where a limit is passed. A file that
ccache had is not known.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from .configuration import Configuration
from .cuda import COSTS_FILE, DEVICE_LIBRARY

SECONDS_OF_A_FILE = 40.0
MEGABYTES_OF_AN_ARCHITECTURE = 25.0
SHOWN = 10


def read_costs(path: Path) -> dict[str, float]:
    """Processor seconds by object, as they were when it was compiled last."""
    costs: dict[str, float] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            seconds, _, made = line.partition(" ")
            costs[made] = float(seconds)
    return {made: seconds for made, seconds in costs.items() if Path(made).exists()}


def problems(costs: dict[str, float], library: Path, architectures: int) -> Iterator[str]:
    limit = SECONDS_OF_A_FILE * architectures
    for made, seconds in sorted(costs.items(), key=lambda item: -item[1]):
        if seconds > limit:
            yield f"{made}: {seconds:.0f} processor seconds, the limit is {limit:.0f}: split the file"

    limit = MEGABYTES_OF_AN_ARCHITECTURE * architectures
    size = library.stat().st_size / 1e6
    if size > limit:
        yield f"{library}: {size:.1f} MB, the limit is {limit:.0f} MB: fewer instances of kernels"


def main() -> int:
    costs = read_costs(Path(COSTS_FILE))
    library = Path(DEVICE_LIBRARY)
    if not library.exists():
        print(f"{library} is not there: make cuda")
        return 1

    found = list(problems(costs, library, len(Configuration.from_environment().cuda_architectures)))
    size = library.stat().st_size / 1e6
    print(f"nvcc: {sum(costs.values()):.0f} processor seconds in {len(costs)} files; {library} {size:.1f} MB")
    for made, seconds in sorted(costs.items(), key=lambda item: -item[1])[:SHOWN]:
        print(f"{seconds:6.1f} s  {made}")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
