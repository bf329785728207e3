"""The command: fetch the packages, fix each as a whole, and show what holds."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpora import fetch
from benchmarks.corpora.present import table
from benchmarks.fixes.examine import examine

PINS = Path(__file__).with_name("packages.txt")
_COLUMNS = ("made", "refused", "for a comment", "never at rest", "broken", "new findings", "seconds")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fixes", description=__doc__)
    parser.add_argument(
        "packages", nargs="*", help="NAME==VERSION, or folders; those of packages.txt if none"
    )
    parser.add_argument("--new", action="store_true", help="the packages of benchmarks/corpora instead")
    parser.add_argument("--target-jax", default="0.10", metavar="VERSION", help="[%(default)s]")
    parser.add_argument("--safe", action="store_true", help="safe fixes alone")
    parser.add_argument("--cache", type=Path, default=fetch.cache_folder(), help="[%(default)s]")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write what was found as JSON")
    return parser.parse_args()


def packages(options: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    names = options.packages
    if not names:
        pins = fetch.PINS if options.new else PINS
        names = [line for line in pins.read_text().splitlines() if line and not line.startswith("#")]
    for name in names:
        yield name, Path(name) if Path(name).exists() else fetch.fetch(name, options.cache)


def main() -> int:
    options = arguments()
    outcomes: dict[str, dict[str, object]] = {}
    for name, root in packages(options):
        print(f"{name} ...", file=sys.stderr, flush=True)
        outcomes[name] = examine(root, options.target_jax, unsafe=not options.safe)
        for key in ("never at rest", "broken", "new findings"):
            for text in outcomes[name][key]:  # type: ignore[attr-defined]
                print(f"{name}: {key}: {text}", file=sys.stderr, flush=True)
        if options.save:
            options.save.write_text(json.dumps(outcomes, indent=1))
    rows = [
        [name, *(str(len(value) if isinstance(value := one[key], list) else value) for key in _COLUMNS)]
        for name, one in outcomes.items()
    ]
    print(table(("package", *_COLUMNS), rows))
    return int(any(one["broken"] or one["never at rest"] or one["new findings"] for one in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
