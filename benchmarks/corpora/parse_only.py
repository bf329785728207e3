"""Times the bare parse of files, as a yardstick: `python -m benchmarks.corpora.parse_only ast|libcst` < list of paths.

Prints the seconds that parsing took, reading and start-up excluded. Files that do not parse are skipped.
"""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Callable
from pathlib import Path


def parser(name: str) -> Callable[[bytes], object]:
    if name == "ast":
        return ast.parse
    import libcst

    return libcst.parse_module


def main() -> None:
    parse = parser(sys.argv[1])
    sources = [Path(line).read_bytes() for line in sys.stdin.read().splitlines()]
    start, used = time.perf_counter(), time.process_time()
    for source in sources:
        try:
            parse(source)
        except Exception:
            continue
    print(time.perf_counter() - start, time.process_time() - used)


if __name__ == "__main__":
    main()
