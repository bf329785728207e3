"""Time `jaxlint check` on packages: cold, warm and after one change, beside a bare parse and other linters.

    python -m benchmarks.speed --peers --write benchmarks/results/speed.md
    python -m benchmarks.speed --scale --repeat 1 --cores 1 --rows cold

All rows of a package come from one run, taken in turn, as medians with their range; processor time is that of all processes of a row together. The bare parse is libcst's parser
over the same files, reading and start-up left out; every other row is a whole process, with its bytecode at hand.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from benchmarks.corpora.fetch import cache_folder, fetch, pinned
from benchmarks.corpora.present import table
from benchmarks.corpora.run import default_command, python_files
from benchmarks.pages import page_of_figures, put
from benchmarks.speed.measure import Task, measure

ROOT = Path(__file__).parents[2]
PEERS = Path(__file__).with_name("peers.txt")
SCALE = Path(__file__).with_name("scale.txt")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="*", type=Path, help="folders to time as one project each")
    parser.add_argument(
        "--packages",
        nargs="+",
        default=["flax", "optax"],
        metavar="NAME",
        help="timed together [%(default)s]",
    )
    parser.add_argument(
        "--corpus", action="store_true", help="then all pinned packages as one project (a quarter of an hour)"
    )
    parser.add_argument(
        "--scale",
        action="store_true",
        help="instead: growing sets of packages, the largest of a million lines (scale.txt)",
    )
    parser.add_argument("--peers", action="store_true", help="other linters too (minutes)")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="[%(default)s]")
    parser.add_argument("--timeout", type=float, default=900, metavar="SECONDS", help="[%(default)s]")
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2], metavar="N", help="[%(default)s]")
    parser.add_argument(
        "--rows",
        nargs="+",
        metavar="WORD",
        help="only rows with one of these in their names, beside libcst's",
    )
    parser.add_argument(
        "--apart",
        action="store_true",
        help="each process of jaxlint in a session of its own, for a busy machine",
    )
    parser.add_argument(
        "--write", type=page_of_figures, metavar="FILE", help="the page whose figures are replaced"
    )
    return parser.parse_args()


def environment_of_peers(cache: Path) -> Path:
    """The folder of the peers' commands; made on first use."""
    pins = [line for line in PEERS.read_text().splitlines() if line and not line.startswith("#")]
    folder = cache / ("peers-" + "-".join(pin.replace("==", "-") for pin in pins))
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
        python = str(folder / "bin" / "python")
        subprocess.run(
            ["uv", "pip", "install", "--quiet", "--python", python, *pins, "setuptools"], check=True
        )
        (folder / "done").touch()
    return folder / "bin"


def growing_sets() -> list[list[str]]:
    """The packages of scale.txt: each set is the one before, and the packages of one more paragraph."""
    lines = [line for line in SCALE.read_text().splitlines() if not line.startswith("#")]
    found: list[list[str]] = []
    for paragraph in "\n".join(lines).strip().split("\n\n"):
        found.append([*(found[-1] if found else []), *paragraph.split()])
    return found


def subjects_of(options: argparse.Namespace, cache: Path) -> list[tuple[str, list[Path]]]:
    """The projects to time: their names, and the folders that each consists of."""
    if options.scale:
        return [
            (f"{len(names)} packages: {', '.join(names)}", [fetch(name, cache) for name in names])
            for names in growing_sets()
        ]
    subjects: list[tuple[str, list[Path]]] = []
    pins = pinned()
    if options.packages:
        name = " and ".join(f"{n} {pins.get(n, '')}".strip() for n in options.packages)
        subjects.append((name, [fetch(name, cache) for name in options.packages]))
    if options.corpus:
        everything = [fetch(name, cache) for name in pins]
        subjects.append((f"{len(everything)} packages as one project", everything))
    return subjects + [(path.resolve().name, [path.resolve()]) for path in options.paths]


def project_of(sources: list[Path], folder: Path) -> Path:
    """A copy of packages as one project, so that nothing is written beside the originals."""
    for source in sources:
        for path in python_files(source):
            target = folder / source.name / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    (folder / "pyproject.toml").write_text('[project]\nname = "subject"\n', encoding="utf-8")
    return folder


def lines_of(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in python_files(folder))


def parse_task(parser: str, folder: Path, listing: Path) -> Task:
    script = (
        "import io, sys\nfrom benchmarks.corpora import parse_only\n"
        f"sys.argv = ['', {parser!r}]\nsys.stdin = io.StringIO(open({str(listing)!r}).read())\n"
        f"sys.path.insert(0, {str(ROOT)!r})\nparse_only.main()\n"
    )
    return Task(f"{parser}, bare parse", [sys.executable, "-c", script], ROOT, 1, own_clock=True)


def tasks_for(folder: Path, listing: Path, options: argparse.Namespace, peers: Path | None) -> list[Task]:
    command = (
        [sys.executable, str(Path(__file__).with_name("apart.py"))] if options.apart else default_command()
    )
    check = [*command, "check", "--output-format", "json", "--exit-zero"]
    changed = next(path for path in python_files(folder) if path.stat().st_size > 5000)
    text = changed.read_text(encoding="utf-8")
    named = str(changed.relative_to(folder))
    count = iter(range(10**6))

    def edit() -> None:
        changed.write_text(f"{text}\n_edits = {next(count)}\n", encoding="utf-8")

    def warm_up() -> None:
        subprocess.run(
            [*check, "."], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )

    def change() -> None:
        warm_up()
        edit()

    accepts = (0, 1, 2)  # files of a newer Python are said and left out
    tasks = [parse_task("libcst", folder, listing), parse_task("ast", folder, listing)]
    for cores in options.cores:
        jobs = ["--jobs", str(cores)]
        tasks += [
            Task("jaxlint, cold", [*check, "--no-cache", *jobs, "."], folder, cores, accepts=accepts),
            Task("jaxlint, unchanged", [*check, *jobs, "."], folder, cores, warm_up, accepts=accepts),
            Task("jaxlint, one file changed", [*check, *jobs, "."], folder, cores, change, accepts=accepts),
            # As pre-commit and editors ask: the rest of the project is context, up to a bound.
            Task("jaxlint, that file alone", [*check, *jobs, named], folder, cores, edit, accepts=accepts),
        ]
    if peers is not None:
        most = max(options.cores)
        tasks += [
            Task("ruff", [str(peers / "ruff"), "check", "--no-cache", "--isolated", "-q", "."], folder, most),
            Task(
                "fixit",
                [str(peers / "fixit"), "--quiet", "lint", "."],
                folder,
                most,
                repeats=1,
                accepts=tuple(range(256)),
            ),
            Task(
                "torchfix",
                [str(peers / "torchfix"), "--select=ALL", "."],
                folder,
                most,
                repeats=1,
                accepts=(0, 1),
            ),
            Task(
                "pylint",
                [str(peers / "pylint"), "--rcfile=/dev/null", f"--jobs={most}", "--recursive=y", "."],
                folder,
                most,
                repeats=1,
                accepts=tuple(range(64)),
            ),
        ]
    return [
        task
        for task in tasks
        if not options.rows or any(word in task.name for word in ("libcst", *options.rows))
    ]


def warming(tasks: list[Task]) -> Task:
    """One run of jaxlint that is in no table: it leaves the bytecode, as an installation or a first use does."""
    return replace(
        next(task for task in tasks if "jaxlint" in task.name), prepare=None, seconds=[], processor=[]
    )


def rows_of(tasks: list[Task], lines: int) -> str:
    base = next(task.median() for task in tasks if task.name.startswith("libcst"))
    of_processor = next(task.median_of_processor() for task in tasks if task.name.startswith("libcst"))
    header = ["", "cores", "s", "range", "of libcst's parse", "processor s", "of the parse's", "kLOC/s", "MB", "MB per 100 kLOC"]  # fmt: skip
    rows = []
    for task in tasks:
        if task.failure or not task.seconds:
            rows.append([task.name, str(task.cores), task.failure or "-", *[""] * 7])
            continue
        median = task.median()
        spread = f"{min(task.seconds):.2f} to {max(task.seconds):.2f}" if len(task.seconds) > 1 else "one run"
        rows.append(
            [task.name, str(task.cores), f"{median:.2f}", spread, f"{median / base:.2f}", f"{task.median_of_processor():.2f}",
             f"{task.median_of_processor() / of_processor:.2f}", f"{lines / 1000 / median:.1f}", f"{task.peak_mb:.0f}", f"{task.peak_mb / lines * 1e5:.0f}"]
        )  # fmt: skip
    return table(header, rows)


def main() -> int:
    options = arguments()
    cache = cache_folder()
    peers = environment_of_peers(cache) if options.peers else None
    subjects = subjects_of(options, cache)
    report = [
        f"Python {platform.python_version()}, libcst {version('libcst')}, jaxlint with its default rules, on {platform.machine()}. "
        "Each table is one run: all rows in turn, medians and their range.",
    ]
    for name, sources in subjects:
        with tempfile.TemporaryDirectory() as scratch:
            folder = project_of(sources, Path(scratch) / "project")
            listing = Path(scratch) / "files"
            listing.write_text("\n".join(str(path) for path in python_files(folder)), encoding="utf-8")
            lines = lines_of(folder)
            tasks = tasks_for(folder, listing, options, peers)
            if name == subjects[0][0]:
                measure([warming(tasks)], 1, options.timeout, lambda text: None)
            measure(tasks, options.repeat, options.timeout, lambda text: print(text, file=sys.stderr))
            report += [
                "",
                f"## {name}",
                "",
                f"{len(python_files(folder))} files, {lines / 1000:.1f} kLOC.",
                "",
            ]
            report.append(rows_of(tasks, lines))
    text = "\n".join(report) + "\n"
    print(text)
    if options.write is not None:
        put(options.write, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
