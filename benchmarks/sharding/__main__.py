"""What `jaxlint verify --mesh data=4,model=2` finds for a transformer, beside an expert's placement and plain data parallel.

    python -m benchmarks.sharding [PROGRAM...] [--target cpu] [--target tpu:v5e-2x4] [--seconds 240] [--output FILE.md]

Each program of `programs/` has a train step and the placements of an expert, which follow public code that it cites. Bytes, memory and
FLOPs are those of the compiled programs, on simulated CPU devices or of XLA's compiler for a topology.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

PROGRAMS = ("plain", "linen", "experts")
MESH = "data=4,model=2"
_PACKAGES = ("jax", "jaxlib", "libtpu", "flax", "optax")


def measure(name: str, target: str, seconds: float, compiles: int) -> dict[str, Any]:
    """One program on one target, in this process."""
    from jaxlint_runtime.lowering.function_versions import capture
    from jaxlint_runtime.model import JitOptions
    from jaxlint_runtime.optimiser_settings import Settings
    from jaxlint_runtime.protocol.json_records import to_plain
    from jaxlint_runtime.sharding import placement_record, shard_function
    from jaxlint_runtime.sharding.mesh import parse_mesh

    program = importlib.import_module(f"benchmarks.sharding.programs.{name}")

    def placing(rules: Any) -> Any:
        def spec(one: Any) -> Any:
            if "int" in one.dtype and one.shape and one.output is None:
                return (("data",), *((),) * (len(one.shape) - 1))
            found = (s for pattern, s in rules if re.search(pattern, one.path) and len(s) == len(one.shape))
            return next(found, ((),) * len(one.shape))

        return spec

    captured = capture(program.train_step, *program.example(), options=JitOptions(donate_argnums=(0,)))
    settings = Settings(target=target, progress=lambda line: print(f"  {line}", file=sys.stderr, flush=True))
    experts = {name: placing(rules) for name, rules in program.PLACEMENTS.items()}
    start = time.perf_counter()
    found = shard_function.shard(
        captured,
        settings,
        parse_mesh(MESH),
        shard_function.Bounds(compiles=compiles, seconds=seconds, confirmed=4),
        experts,
    )
    record = placement_record.record(captured, found)
    record["seconds"] = time.perf_counter() - start
    return to_plain(record)


def in_a_process(name: str, target: str, seconds: float, compiles: int) -> dict[str, Any]:
    """The same in a process that has the devices."""
    from jaxlint_runtime.sharding.mesh import parse_mesh, simulate
    from jaxlint_runtime.targets import parse

    shape = parse_mesh(MESH)
    environment = {**os.environ, **parse(target).environment}
    simulate(environment, zip(shape.names, shape.sizes, strict=True))
    command = [
        sys.executable,
        "-m",
        "benchmarks.sharding",
        name,
        "--target",
        target,
        "--seconds",
        str(seconds),
        "--compiles",
        str(compiles),
        "--inner",
    ]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def table(record: dict[str, Any]) -> list[str]:
    """One program on one target as Markdown."""
    from jaxlint_runtime.report.sharding_tables import HEADINGS, rows

    lines = [
        "| placement | " + " | ".join(HEADINGS) + " | |",
        "| --- |" + " ---: |" * len(HEADINGS) + " --- |",
    ]
    for name, figures, remark, chosen in rows(record):
        shown = f"**{name}** (recommended)" if chosen else name
        lines.append(f"| {shown} | {' | '.join(figures)} | {remark} |")
    return lines


_FIGURES = (("flops", "FLOP"), ("sent_bytes", "bytes sent"), ("peak_bytes", "memory"))


def shares(record: dict[str, Any]) -> dict[str, list[float]]:
    """What was found as a share of each expert's figures, in the order of `_FIGURES`."""
    found = next(one for one in record["placements"] if one["chosen"])
    return {
        one["name"]: [found[key] / one[key] for key, _ in _FIGURES]
        for one in record["placements"]
        if one["name"].startswith("expert (") and one["flops"]
    }


def against_expert(record: dict[str, Any]) -> str:
    """The same as a sentence."""
    parts = [
        f"{name}: "
        + ", ".join(f"{share:.2f} of its {what}" for share, (_, what) in zip(of, _FIGURES, strict=True))
        for name, of in shares(record).items()
    ]
    return "Found against " + "; ".join(parts) + "." if parts else ""


def summary(rows: list[tuple[str, str, str, list[float]]]) -> list[str]:
    """One sentence and one table: by program, devices and expert the shares of the expert's figures."""
    if not rows:
        return []
    least = [f"{min(of[k] for *_, of in rows):.2f} to {max(of[k] for *_, of in rows):.2f}" for k in range(3)]
    return [
        f"The placement found sends {least[1]} of the bytes of an expert's, needs {least[2]} of its memory and computes {least[0]} of its FLOP (comparisons: {len(rows)}).",
        "",
        "| program | devices | against | of its FLOP | of its bytes sent | of its memory |",
        "| --- | --- | --- | ---: | ---: | ---: |",
        *[
            f"| {name} | {devices} | {expert} | " + " | ".join(f"{share:.2f}" for share in of) + " |"
            for name, devices, expert, of in rows
        ],
    ]


def _header(name: str) -> str:
    """What a program is and whom its expert's placements follow."""
    header: str = importlib.import_module(f"benchmarks.sharding.programs.{name}").HEADER
    return header


def report(records: list[tuple[str, str, dict[str, Any]]], command: str) -> str:
    """The whole page. `command` is what made it."""
    versions = []
    for package in _PACKAGES:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    lines = [
        "# Shardings found, an expert's, and plain data parallel",
        "",
        "`jaxlint verify --mesh` finds placements for a train step. This page sets what it recommends beside an expert's placement and plain data parallelism.",
        *summary(
            [
                (name, record["devices"], expert, of)
                for name, _, record in records
                for expert, of in shares(record).items()
            ]
        ),
        "",
        f"`{command}`, on the mesh `{MESH}`. *Sent* is what one device puts on the wire in a step, by ring algorithms; *memory* is what the "
        "compiler planned for one device; *score* is explained in [shardings.md](../../docs/shardings.md).",
        "",
        *[f"- {name}: {_header(name)}" for name in dict.fromkeys(name for name, _, _ in records)],
        "",
        f"Python {platform.python_version()}, {', '.join(versions)}; {os.cpu_count()} CPU cores.",
    ]
    for name, _, record in records:
        lines += ["", f"## {name} on {record['devices']}", "", *table(record), ""]
        lines += [
            f"Recommended: {record['title']}. {record['tried']} placements tried in {record['seconds']:.0f} s on a busy machine"
            + (", the bound of the search was reached." if record["bounded"] else ".")
        ]
        lines += ["", *[f"- {line}" for line in record["explanation"]]]
        lines += ["", against_expert(record)]
        values = record["values"]
        if values is not None and record["values_problem"] is None:
            lines.append(
                f"Values and updates as on one device (largest relative difference {values['max_rel']:.1e}, allowed {values['tolerance']:.1e}), run on simulated devices."
            )
        if record["advice"]:
            lines += ["", *[f"- {line}" for line in record["advice"]]]
    lines += [
        "",
        "## What it does not show",
        "",
        "- All figures are read from compiled programs; no time was measured, and nothing ran on a TPU.",
        "- Values and updates were compared on simulated CPU devices.",
        "- The models are small, and there is one mesh.",
        *(
            ["- A search stops at its bound: a better placement may be left."]
            if any(record["bounded"] for *_, record in records)
            else []
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--target", action="append", dest="targets")
    parser.add_argument("--seconds", type=float, default=240.0, help="for one search")
    parser.add_argument(
        "--records", type=Path, help="folder of what was measured before, which is not measured again"
    )
    parser.add_argument("--compiles", type=int, default=48, help="for one search")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    programs = given.programs or list(PROGRAMS)
    if unknown := set(programs) - set(PROGRAMS):
        parser.error(f"there is no program {sorted(unknown)[0]}; there are {', '.join(PROGRAMS)}")
    targets = given.targets or ["cpu", "tpu:v5e-2x4"]
    if given.inner:
        print(json.dumps(measure(programs[0], targets[0], given.seconds, given.compiles)))
        return
    bounds = {"--seconds": given.seconds, "--compiles": given.compiles}
    changed = [
        f" {name} {value:g}" for name, value in bounds.items() if value != parser.get_default(name[2:])
    ]
    command = "python -m benchmarks.sharding" + "".join(changed)
    records = []
    for name in programs:
        for target in targets:
            print(f"{name} on {target}", file=sys.stderr, flush=True)
            kept = given.records / f"{name}-{target.replace(':', '-')}.json" if given.records else None
            if kept is not None and kept.exists():
                record = json.loads(kept.read_text(encoding="utf-8"))
            else:
                record = in_a_process(name, target, given.seconds, given.compiles)
                if kept is not None:
                    kept.write_text(json.dumps(record), encoding="utf-8")
            records.append((name, target, record))
            text = report(records, command)
            if given.output is not None:
                given.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
