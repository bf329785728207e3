"""The command: fetch or find the corpora, run jaxlint over each, print what came out."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shlex
import sys
from pathlib import Path

from benchmarks.corpora import fetch, present, run


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="folders (a checkout, a package) or single files")
    parser.add_argument(
        "--packages",
        nargs="+",
        default=[],
        metavar="NAME[==VERSION]",
        help="from PyPI; `all` for packages.txt",
    )
    parser.add_argument(
        "--cache", type=Path, default=fetch.cache_folder(), help="where packages are kept [%(default)s]"
    )
    parser.add_argument(
        "--jaxlint", default="", metavar="COMMAND", help="the command to run instead of jaxlint"
    )
    parser.add_argument("--args", default="", help="further arguments of `jaxlint check`, as one string")
    parser.add_argument(
        "--timeout", type=float, default=900, metavar="SECONDS", help="per corpus [%(default)s]"
    )
    parser.add_argument(
        "--no-parse", action="store_true", help="leave out the bare parses that times are compared to"
    )
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N findings with their code")
    parser.add_argument("--per-rule", action="store_true", help="with --show: N findings of each rule")
    parser.add_argument("--seed", type=int, default=0, help="which findings --show draws [%(default)s]")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="RULE", help="with --show: these codes, names or severities"
    )
    parser.add_argument("--context", type=int, default=6, metavar="LINES", help="with --show [%(default)s]")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write all outcomes as JSON")
    parser.add_argument(
        "--load", type=Path, metavar="FILE", help="read outcomes written by --save instead of running"
    )
    parser.add_argument(
        "--compare", type=Path, metavar="FILE", help="list findings new and gone since --save FILE"
    )
    return parser.parse_args()


def outcomes_of(options: argparse.Namespace) -> list[run.Outcome]:
    """Run over everything that was asked for, in order, with a line of progress for each."""
    command = shlex.split(options.jaxlint) or run.default_command()
    names = list(fetch.pinned()) if options.packages == ["all"] else options.packages
    options.paths += [Path(name) for name in names if os.sep in name]  # `--packages flax ../checkout`
    names = [name for name in names if os.sep not in name]
    corpora = [(name.partition("==")[0], fetch.fetch(name, options.cache)) for name in names]
    corpora += [(path.resolve().name, path) for path in options.paths]
    outcomes = []
    for name, root in corpora:
        if not root.exists():
            raise FileNotFoundError(f"{root}: no such file or folder")
        print(f"{name} ...", file=sys.stderr, flush=True)
        outcome = run.check(name, root, command, shlex.split(options.args), options.timeout)
        if not options.no_parse:
            outcome.ast_seconds = run.parse_seconds(root, "ast")
            outcome.libcst_seconds = run.parse_seconds(root, "libcst")
        outcomes.append(outcome)
    return outcomes


def main() -> int:
    options = arguments()
    try:
        outcomes = present.load(options.load) if options.load else outcomes_of(options)
    except (fetch.FetchError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not outcomes:
        print("error: nothing to run on; give paths or --packages", file=sys.stderr)
        return 2
    print(present.summary(outcomes), present.rules(outcomes), sep="\n\n")
    for outcome in outcomes:
        for text in ([outcome.crash] if outcome.crash else []) + outcome.complaints:
            print(f"\n{outcome.corpus}: {text}")
    if options.save:
        options.save.write_text(json.dumps([dataclasses.asdict(outcome) for outcome in outcomes]))
    if options.compare:
        new, gone = present.difference(options.compare, outcomes)
        for title, items in (("new", new), ("gone", gone)):
            print(f"\n{len(items)} {title}")
            for number, (outcome, finding) in enumerate(items, 1):
                print(present.show(number, outcome, finding, 0))
    if options.show:
        if options.only:
            keys = ("code", "name", "severity")
            for outcome in outcomes:
                outcome.findings = [
                    f for f in outcome.findings if {f[key] for key in keys} & set(options.only)
                ]
        for number, item in enumerate(
            present.sample(outcomes, options.show, options.seed, options.per_rule), 1
        ):
            print("\n" + present.show(number, *item, options.context))
    return int(any(outcome.crash for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
