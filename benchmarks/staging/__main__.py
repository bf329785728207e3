"""Hold `jaxlint inspect` and `jaxlint check` against what JAX traced while the tests of real packages ran.

    python -m benchmarks.staging --packages optax dm-haiku --python /path/to/python3.12 --misses --false --show 20

The Python that runs the tests needs version 3.12 or later, pytest, JAX and what the packages and their tests import. What
was observed is kept in the cache, so that a second run only repeats jaxlint's part.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.corpora.fetch import FetchError, cache_folder
from benchmarks.corpora.run import default_command
from benchmarks.pages import page_of_figures, put
from benchmarks.staging import join, packages, present
from benchmarks.staging.commands import jaxlint
from benchmarks.staging.observe import observe


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.staging",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--packages", nargs="+", required=True, metavar="NAME[==VERSION]", help="from PyPI")
    parser.add_argument(
        "--path", action="append", default=[], metavar="NAME=FOLDER", help="a checkout of a package with its tests"
    )  # fmt: skip
    parser.add_argument("--python", default=sys.executable, help="what runs the tests [%(default)s]")
    parser.add_argument("--seconds", type=float, default=240, help="for the tests of a package [%(default)s]")
    parser.add_argument("--jobs", type=int, default=1, help="processes that run tests at once [%(default)s]")
    parser.add_argument("--seed", type=int, default=0, help="which tests come first [%(default)s]")
    parser.add_argument(
        "--fresh", action="store_true", help="run the tests again although the cache has them"
    )
    parser.add_argument("--cache", type=Path, default=cache_folder() / "staging", help="[%(default)s]")
    parser.add_argument(
        "--jaxlint", default="", metavar="COMMAND", help="the command to run instead of jaxlint"
    )
    parser.add_argument("--misses", action="store_true", help="list functions traced but not said to be")
    parser.add_argument(
        "--false", action="store_true", help="list functions said to be staged but not traced"
    )
    parser.add_argument("--params", action="store_true", help="list wrong parameters of staged functions")
    parser.add_argument(
        "--show", type=int, default=20, metavar="N", help="at most so many of each [%(default)s]"
    )
    parser.add_argument(
        "--write", type=page_of_figures, metavar="FILE", help="the page whose figures are replaced"
    )
    return parser.parse_args()


def result_of(package: str, options: argparse.Namespace) -> present.Result:
    """One package from unpacking to the join."""
    checkouts = dict(item.split("=", 1) for item in options.path)
    checkout = checkouts.get(package.partition("==")[0])
    subject = packages.subject(package, options.cache, Path(checkout) if checkout else None)
    print(f"{subject.name} {subject.version}: tests ...", file=sys.stderr, flush=True)
    truth = observe(
        subject,
        options.python,
        options.seconds,
        options.seed,
        options.cache,
        options.fresh,
        options.jobs,
    )
    print(f"{subject.name} {subject.version}: jaxlint ...", file=sys.stderr, flush=True)
    command = shlex.split(options.jaxlint) or default_command()
    joined = join.join(jaxlint(command, "inspect", subject, "--calls"), truth["functions"])
    join.mark_reasons(joined.pairs, subject.root)
    # Of the JAX that ran: what a later one has removed is not at odds with a run of an earlier one.
    findings = jaxlint(command, "check", subject, "--no-cache", "--target-jax", truth["jax"])
    return present.Result(
        subject,
        truth,
        joined,
        join.contradicted(findings, joined.pairs),
        sum(finding["severity"] == "error" for finding in findings),
    )


def main() -> int:
    options = arguments()
    results = []
    failed = False
    for package in options.packages:
        try:
            results.append(result_of(package, options))
        except (FetchError, OSError, subprocess.CalledProcessError) as error:
            print(f"error: {error}", file=sys.stderr)
            failed = True
    if not results:
        return 2
    tables = "\n\n".join([present.scores(results), present.runs(results), present.causes(results)])
    print(tables)
    for result in results:
        lists: list[Iterable[str]] = [present.contradictions(result)]
        lists += [present.misses(result, options.show)] if options.misses else []
        lists += [present.false_claims(result, options.show)] if options.false else []
        lists += [present.parameters(result, options.show)] if options.params else []
        for texts in lists:
            for text in texts:
                print(f"\n{result.subject.name}: {text}")
    if options.write:
        put(options.write, tables)
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
