"""Keeps what jaxlint knows of JAX's past up to date, from the releases themselves.

    python tools/api_history.py update [RELEASE ...]     download releases (all new ones when none is named), take in what they change
    python tools/api_history.py neighbours [PACKAGE ...]     what releases of flax, optax, chex, haiku and orbax lost, and no row speaks of
    python tools/api_history.py names FOLDER_OR_WHEEL... rebuild the table of names from releases that are here
    python tools/api_history.py private RELEASE...       note where names that nothing public replaces are still found
    python tools/api_history.py report                   what the newest release lacks and no reviewed row speaks of
    python tools/api_history.py coverage                 of the names that went: how many are known, how many rewritten

Two tables lie in jaxlint/jaxapi/data. `api_names.txt` has every public name of every sampled release; this tool writes it
alone. `api_history.jsonl` has the reviewed rows, `neighbour_history.jsonl` those of the libraries around JAX; `update` appends drafts, marked as such in their note, where a deprecation
message or the same object under another name says what to do. Releases are read, never run, so this needs a Python that is new enough for their syntax.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from api_names import Release  # noqa: E402
from neighbours import imported_modules, losses, still_there  # noqa: E402

from jaxlint.jaxapi import history  # noqa: E402
from jaxlint.jaxapi.api_names import DATA, known_names  # noqa: E402
from jaxlint.jaxapi.history import Target, all_changes, lookup, lookup_module  # noqa: E402
from jaxlint.jaxapi.rewrites import rename_parameters  # noqa: E402
from jaxlint.jaxapi.versions import parse_version  # noqa: E402

HISTORY = DATA.with_name("api_history.jsonl")
_INSTEAD = re.compile(r"[Uu]se\s+`?(jax\.[A-Za-z_][\w.]*\w)`?")

# name of the module -> name -> the first sample that lacks it, None while it is there
Table = dict[str, dict[str, str | None]]


def version_of(path: Path) -> str:
    """The version of a release, from the name of its wheel or folder, else from its own version.py."""
    match = re.search(r"(?:^|-)v?(\d+(?:\.\d+)+)(?:-|$)", path.name)
    if match is None:
        sys.exit(f"{path}: name the folder or wheel after its release, such as jax-0.4.30")
    return match[1]


def build(releases: Mapping[str, Release]) -> tuple[Table, set[str]]:
    """The table of names over `releases`, oldest first, and the modules that make names while they run."""
    table: Table = {}
    open_modules: set[str] = set()
    for version, release in releases.items():
        modules = release.modules()
        seen: dict[str, set[str]] = {}
        for module in modules:
            found = release.names(module)
            seen[module] = {
                name for name, status in found.names.items() if status != "gone" and not name.startswith("_")
            }
            parent, _, leaf = module.rpartition(".")
            shadow = release.names(parent).origin.get(leaf) if parent in release.files else None
            if found.is_open or shadow not in (None, module):  # a function of that name hides the module
                open_modules.add(module)
        for module, names in seen.items():
            known = table.setdefault(module, {})
            known.update(dict.fromkeys(names))
        for module, known in table.items():
            for name, gone in known.items():
                if gone is None and name not in seen.get(module, ()):
                    known[name] = version
    return table, open_modules


def write(table: Table, open_modules: Iterable[str], open_now: set[str], versions: list[str]) -> None:
    """Writes `api_names.txt`: a line for each module, names that are there, then those that went by when."""
    opened = set(open_modules)
    lines = [" ".join(versions)]
    for module in sorted(table):
        mark = "**" if module in open_now else "*" if module in opened else ""
        there = sorted(name for name, gone in table[module].items() if gone is None)
        went: dict[str, list[str]] = collections.defaultdict(list)
        for name, gone in sorted(table[module].items()):
            if gone is not None:
                went[gone].append(name)
        parts = [" ".join(there)]
        parts += [f"{version} {' '.join(went[version])}" for version in sorted(went, key=parse_version)]
        lines.append(f"{module}{mark}\t" + "\t".join(parts))
    DATA.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    known_names.reread()
    print(
        f"{sum(map(len, table.values()))} names in {len(table)} modules of {len(versions)} releases -> {DATA.name}"
    )


def rebuild(paths: Iterable[Path]) -> dict[str, Release]:
    releases = {version_of(path): Release(path) for path in paths}
    releases = {version: releases[version] for version in sorted(releases, key=parse_version)}
    for version, release in releases.items():
        check_readable(version, release)
    table, open_modules = build(releases)
    newest = list(releases)[-1]
    write(table, open_modules, build({newest: releases[newest]})[1], list(releases))
    return releases


def check_readable(version: str, release: Release) -> None:
    """Stops where this Python is too old for the syntax of a release: what it cannot read would seem to be gone."""
    for module in release.modules():
        if release.tree(module) is None:
            own = ".".join(map(str, sys.version_info[:2]))
            sys.exit(
                f"{module} of {release.package} {version} cannot be read by Python {own}; use a newer one"
            )


def take_in(version: str, release: Release, before: Release) -> None:
    """Adds one release, newer than all that are known, to the table of names. `before`: the newest that is known."""
    check_readable(version, release)
    table = {module: dict(known_names(module).all()) for module in known_names.modules()}
    fresh, opened = build({version: release})
    added = sorted(f"{m}.{n}" for m, names in fresh.items() for n in names if n not in table.get(m, {}))
    lost = []
    for module, known in table.items():
        for name, gone in known.items():
            if gone is None and name not in fresh.get(module, {}):
                known[name] = version
                lost.append(f"{module}.{name}")
            elif gone is not None and name in fresh.get(module, {}):
                known[name] = None
    for module, names in fresh.items():
        table.setdefault(module, {}).update(
            {name: None for name in names if table.get(module, {}).get(name) is None}
        )
    write(table, opened | known_names.open_modules(), opened, [*known_names.versions(), version])
    print(f"jax {version} adds {len(added)} names and lacks {len(lost)} that the release before had")
    for name in added:
        print(f"  + {name}")
    lost = [name for name in lost if not is_foreign(before, name)]
    for name in sorted(lost):
        print(f"  - {name}{'' if _has_row(name) else '   (no row)'}")
    draft(version, release, before, lost)


def is_foreign(release: Release, name: str) -> bool:
    """Whether a module had the name only because it imported it from another library."""
    module, _, leaf = name.rpartition(".")
    if module not in release.files:
        return False
    origin = release.names(module).origin.get(leaf, "")
    foreign = bool(origin) and origin.partition(".")[0] != release.package
    return foreign or leaf in imported_modules(release.tree(module))


def draft(version: str, release: Release, before: Release, lost: Iterable[str]) -> None:
    """Appends rows for names that went or are deprecated and that nobody has reviewed."""
    rows: list[dict[str, object]] = []
    reviewed = {json.loads(line)["name"] for line in HISTORY.read_text(encoding="utf-8").splitlines()}
    homes = _public_homes(release)
    for name in sorted(lost):
        module, _, leaf = name.rpartition(".")
        origin = before.names(module).origin.get(leaf) if module in before.files else None
        if name not in reviewed and not _has_row(name) and origin and (new := homes.get(origin)):
            rows.append(_row(name, "moved", new, "rename", version, removed=True))
    for module in release.modules():
        for leaf, status in release.names(module).names.items():
            name = f"{module}.{leaf}"
            if status == "deprecated" and not leaf.startswith("_") and name not in reviewed:
                message = release.messages.get(name, "")
                instead = _INSTEAD.search(message)
                rows.append(
                    _row(name, "deprecated", instead[1] if instead else None, "manual", version, note=message)
                )
    with HISTORY.open("a", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(
        f"{len(rows)} draft rows -> {HISTORY.name}; review them, and set NEWEST in jaxlint/jaxapi/history.py to {version}"
    )


def _public_homes(release: Release) -> dict[str, str]:
    """Where what is defined at a place, by its dotted name, is public under that name; the shortest way to write it."""
    homes: dict[str, str] = {}
    for module in release.modules():
        for name, origin in release.names(module).origin.items():
            place = f"{module}.{name}"
            if not name.startswith("_") and origin.rpartition(".")[2] == name:
                known = homes.get(origin)
                if known is None or (place.count("."), place) < (known.count("."), known):
                    homes[origin] = place
    return homes


def _row(
    name: str,
    kind: str,
    new: str | None,
    rewrite: str,
    version: str,
    *,
    removed: bool = False,
    note: str = "",
) -> dict[str, object]:
    row: dict[str, object] = {"name": name, "kind": kind, "form": "name", "tier": "public"}
    row["removed_in" if removed else "deprecated_in"] = version
    if new:
        row |= {"replacement": new, "since": version}
    return row | {
        "rewrite": rewrite if new else "manual",
        "note": f"draft, not reviewed; {note}".rstrip("; "),
    }


_PRIVATE = (("jax.lib.xla_bridge.", "jax._src.xla_bridge."), ("jax.", "jax._src."))


def note_private(paths: Iterable[Path]) -> None:
    """Writes into each row without a replacement where all of these releases still have the name, under `jax._src`."""
    releases = [Release(path) for path in paths]
    rows = [json.loads(line) for line in HISTORY.read_text(encoding="utf-8").splitlines()]
    count = 0
    for row in rows:
        if (
            row.get("private") == ""
        ):  # reviewed: what has that name there takes other arguments, or gives something else
            continue
        row.pop("private", None)
        if row["form"] != "name" or row["kind"] != "removed" or row["rewrite"] != "manual":
            continue
        for old, new in _PRIVATE:
            module, _, leaf = (new + row["name"].removeprefix(old)).rpartition(".")
            if row["name"].startswith(old) and all(
                module in release.files and leaf in release.names(module).names for release in releases
            ):
                row["private"] = f"{module}.{leaf}"
                count += 1
                break
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows]
    HISTORY.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    print(f"{count} rows have a private home")


def pip() -> list[str]:
    """The package installer: this Python's, else one that uv runs."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if shutil.which("uv"):
        return ["uv", "tool", "run", "-q", "pip"]
    sys.exit("neither pip nor uv is at hand; install one of them")


def published(package: str = "jax") -> list[str]:
    """The releases of a package that the package index has, oldest first."""
    run = subprocess.run(
        [*pip(), "index", "versions", package, "--ignore-requires-python"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        sys.exit(f"{package}: {(run.stderr.strip() or 'no answer from pip').splitlines()[-1]}")
    match = re.search(r"Available versions: (.*)", run.stdout)
    return sorted(match[1].split(", ") if match else [], key=parse_version)


def update(wanted: list[str]) -> None:
    known = known_names.versions()
    versions = wanted or [v for v in published() if parse_version(v) > parse_version(known[-1])]
    if not versions:
        print(f"nothing is newer than jax {known[-1]}")
        return
    for version in sorted(versions, key=parse_version):
        if parse_version(version) <= parse_version(known[-1]):
            sys.exit(f"jax {version} is not newer than {known[-1]}; rebuild with `names` instead")
        with tempfile.TemporaryDirectory() as folder:
            before = Release(download(f"jax=={known_names.versions()[-1]}", Path(folder)))
            take_in(version, Release(download(f"jax=={version}", Path(folder))), before)


def download(requirement: str, folder: Path) -> Path:
    """The wheel of a release."""
    target = folder / requirement
    run = subprocess.run(
        [*pip(), "download", "-q", "--no-deps", "--only-binary=:all:", "--ignore-requires-python", requirement, "-d", str(target)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        sys.exit(f"{requirement}: {(run.stderr.strip() or 'no wheel').splitlines()[-1]}")
    return next(target.glob("*.whl"))


def sampled(versions: list[str]) -> list[str]:
    """The last release of each minor version, or of each release before 0.1."""
    last: dict[tuple[int, ...], str] = {}
    for version in versions:
        number = parse_version(version)
        last[number[: 2 if number[1] else 3]] = version
    return list(last.values())


def neighbours(wanted: list[str]) -> None:
    """What the releases of the libraries around JAX lost and no row speaks of, and rows that the newest release belies."""
    for package, (distribution, newest_read) in history.PACKAGES.items():
        if package == "jax" or (wanted and not {package, distribution} & set(wanted)):
            continue
        versions = sampled(published(distribution))
        with tempfile.TemporaryDirectory() as folder:
            releases = [
                (version, Release(download(f"{distribution}=={version}", Path(folder)), package))
                for version in versions[-12:]
            ]
        newest = releases[-1][1]
        rows = [
            change for change in history.neighbour_changes() if history.package_of(change.name) == package
        ]
        known = {(change.name, change.param or "") for change in rows}
        print(
            f"{distribution}: {len(releases)} releases from {releases[0][0]} to {releases[-1][0]}, {len(rows)} rows"
        )
        if parse_version(versions[-1]) > parse_version(newest_read):
            print(
                f"  {versions[-1]} is newer than {newest_read}, the newest that was read: set it in jaxlint/jaxapi/history.py"
            )
        for change in rows:
            if change.removed_in and change.form == "name" and still_there(newest, change.name):
                print(f"  ! {change.name} is there, and has a row that says it went in {change.removed_in}")
            replacement = change.replacement or ""
            if replacement.startswith(f"{package}.") and not still_there(newest, replacement):
                print(f"  ! {replacement}, which replaces {change.name}, is not there")
        for loss in losses(releases):
            if (loss.name, loss.param) in known or (not loss.param and _has_row(loss.name)):
                continue
            if not still_there(newest, loss.name, loss.param):
                print(f"  - {loss.name}{f'({loss.param})' if loss.param else ''} {loss.version}")


def report() -> None:
    """Names that went without a reviewed row, by module."""
    by_module: dict[str, list[str]] = collections.defaultdict(list)
    for module in known_names.modules():
        for name, gone in known_names(module).all():
            if gone is not None and not _has_row(f"{module}.{name}"):
                by_module[module].append(f"{name} ({gone})")
    for module, names in sorted(by_module.items(), key=lambda item: -len(item[1])):
        print(f"{module}: {', '.join(names)}")


def _has_row(name: str) -> bool:
    return lookup(name) is not None or lookup_module(name) is not None


def coverage() -> None:
    target = Target.of(None)
    went = sorted(
        {
            f"{module}.{name}"
            for module in known_names.modules()
            for name, gone in known_names(module).all()
            if gone
        }
        | {row.name for row in all_changes() if row.form in ("name", "module") and target.lacks(row)}
    )
    known = [name for name in went if known_names.what_became_of(name) is not None or _has_row(name)]
    reviewed = [name for name in went if _has_row(name)]
    own = [name for name in went if lookup(name) is not None]
    rewritten = [name for name in own if rename_parameters(lookup(name), target)]  # type: ignore[arg-type]
    versions = known_names.versions()
    print(f"releases sampled                      {len(versions)} ({versions[0]} to {versions[-1]})")
    print(f"names that one had, and the newest lacks   {len(went)}")
    print(f"  known                               {len(known)} ({len(known) / len(went):.1%})")
    print(f"  with a reviewed row                 {len(reviewed)}, {len(own)} of them a row of their own")
    print(
        f"  rewritten by a codemod              {len(rewritten)} ({len(rewritten) / len(own):.1%} of the rows of their own)"
    )
    rows = [row for row in all_changes() if row.rewrite != "manual"]
    print(
        f"rows of the history                   {len(all_changes())}, {len(rows)} of them renames, with or without arguments"
    )
    by_form = collections.Counter(row.form for row in rows)
    print(
        "  by form                             "
        + ", ".join(f"{form} {n}" for form, n in by_form.most_common())
    )
    print(f"newest release                        jax {history.NEWEST}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="See the head of this file.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("update").add_argument("releases", nargs="*")
    commands.add_parser("neighbours").add_argument("packages", nargs="*")
    commands.add_parser("names").add_argument("paths", nargs="+", type=Path)
    commands.add_parser("private").add_argument("paths", nargs="+", type=Path)
    commands.add_parser("report")
    commands.add_parser("coverage")
    options = parser.parse_args()
    if options.command == "update":
        update(options.releases)
    elif options.command == "neighbours":
        neighbours(options.packages)
    elif options.command == "names":
        rebuild(options.paths)
    elif options.command == "private":
        note_private(options.paths)
    else:
        {"report": report, "coverage": coverage}[options.command]()


if __name__ == "__main__":
    main()
