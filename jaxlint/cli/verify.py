"""`jaxlint verify`: runs a program, tries the improvements, proves them. Never imports jax: a worker process does."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jaxlint.cli.common import (
    FAILED,
    FINDINGS,
    INTERRUPTED,
    Failure,
    check_folder_of,
    put_back_half_done,
    said,
    write_report_file,
)
from jaxlint.cli.lockstep import LockstepOptions, compare_processes, lockstep_options, prove_in_processes
from jaxlint.cli.parameter_types import Dimension, Duration, Names, Sizes
from jaxlint.cli.program_options import ProgramOptions, program_options
from jaxlint.cli.report_files import ReportFiles, report_files
from jaxlint.report.escaping import wellformed

if TYPE_CHECKING:
    from jaxlint_runtime.report.document import Document
    from jaxlint_runtime.request import Request, Workers

_WAIT = 600.0  # seconds
_PRICE = 5.0  # times the processor time of the captured run, without --budget


@click.command("verify", context_settings={"ignore_unknown_options": False})
@program_options
@click.option(
    "--target",
    "target_names",
    type=Names(),
    multiple=True,
    metavar="NAME,...",
    help="Device to run on or compile for: cpu, gpu, tpu:v5e-1x1 ... (`jaxlint targets`); may be repeated.",
)
@click.option(
    "--transform",
    "transform_names",
    type=Names(),
    multiple=True,
    metavar="NAME,...",
    help="Try only this: donation, remat, bf16 ..., source (edits of the source) or settings (of JAX); may be repeated.",
)
@click.option(
    "--also",
    "also",
    multiple=True,
    metavar="ARGS",
    help="Arguments of another run of PROGRAM, such as '--resume --clip 1': its results must stay the same too, and edits may then change code that only this run reaches; may be repeated.",
)
@click.option(
    "--mesh",
    metavar="AXES",
    help="Find how to split arrays over a mesh of devices, say data=4,model=2: simulated ones, or those of --target tpu:v5e-2x4.",
)
@click.option(
    "--budget",
    type=Duration(),
    metavar="TIME",
    help="Time limit for everything, such as 90s, 2m or 1h; candidates that do not fit in are not tried. Without it, verify takes about five times the processor time of the program.",
)
@click.option(
    "--no-cache",
    is_flag=True,
    help="Prove everything again: neither use nor store proofs of earlier runs.",
)
@click.option(
    "--proof-cache",
    metavar="PLACE",
    envvar="JAXLINT_PROOF_CACHE",
    help="Also use the proofs in this folder or URL (s3://..., gs://...), and store proofs there for all who share the secret in JAXLINT_PROOF_KEY.",
)
@click.option(
    "--timing",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Time for the timing of one candidate; with --mesh, for the search over placements (240).",
)
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to report (text)."
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report to a file."
)
@report_files
@click.option(
    "--inputs",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Import the program and call its functions with the examples in a Python file, instead of running it.",
)
@click.option(
    "--dim",
    "dims",
    type=Dimension(),
    multiple=True,
    metavar="NAME=N",
    help="Size of a named dimension, in examples or jaxtyping annotations; may be repeated. Without --inputs, "
    "jitted functions with such annotations are called.",
)
@click.option(
    "--sizes",
    type=Sizes(),
    multiple=True,
    metavar="NAME=N,N,...",
    help="Verify once for each size of a dimension (in --inputs, in annotations, or {NAME} among ARGS), and show how the gain grows; may be repeated.",
)
@click.option(
    "--eager",
    is_flag=True,
    help="Compare the whole program with itself without jit, operation by operation.",
)
@click.option(
    "--fail-under",
    type=click.FloatRange(min=0),
    metavar="RATIO",
    help="Exit with 1 unless a measured speed-up reaches this ratio (by the lower bound of its interval).",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the present costs of the functions to a file, for --compare.",
)
@click.option(
    "--compare",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Exit with 1 when a function compiles more often, needs more memory or work, or is slower than when --save wrote the file.",
)
@click.option(
    "--apply",
    is_flag=True,
    help="Write proven changes to the source, after the whole edited program ran again.",
)
@click.option(
    "--accept-compiled",
    is_flag=True,
    help="With --apply: also write gains that only a compiler shows, without a measurement.",
)
@click.option("--allow-dirty", is_flag=True, help="With --apply: also change files with uncommitted changes.")
@click.option(
    "--workers",
    metavar="ENGINE",
    help="Try candidates in other processes, one job for each function and target: local:2 (on this machine), submitit:PARTITION "
    "(Slurm), ray:ADDRESS. Options for the engine follow a comma: submitit:gpu,slurm_gres=gpu:1. With --mesh, the jobs compile "
    "placements; jobs=N is their number (4).",
)
@click.option(
    "--workers-wait",
    type=Duration(),
    metavar="TIME",
    help="How long a job may wait for its machine (10m).",
)
@lockstep_options
@click.option("-q", "--quiet", is_flag=True, help="Hide the output of the program.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Describe each compiled program by line, and why each candidate was refused or rejected.",
)
def command(
    target_names: tuple[tuple[str, ...], ...],
    transform_names: tuple[tuple[str, ...], ...],
    also: tuple[str, ...],
    mesh: str | None,
    budget: float | None,
    no_cache: bool,
    proof_cache: str | None,
    timing: float | None,
    output_format: str,
    output: Path | None,
    inputs: str | None,
    dims: tuple[tuple[str, int], ...],
    sizes: tuple[tuple[str, tuple[int, ...]], ...],
    eager: bool,
    fail_under: float | None,
    save: Path | None,
    compare: Path | None,
    apply: bool,
    accept_compiled: bool,
    allow_dirty: bool,
    workers: str | None,
    workers_wait: float | None,
    quiet: bool,
    verbose: bool,
    program: ProgramOptions,
    in_step: LockstepOptions,
    files: ReportFiles,
) -> None:
    """Run PROGRAM, try improvements on the functions that it jits, and prove or reject each with numbers.

    PROGRAM is a script (or -m MODULE, or --pytest); ARGS after `--` are passed to it. A long program is stopped early:
    see --calls and --for. Exits with 0 when it ran, 1 under --fail-under, 2 when it could not run.
    With --processes or --launcher, PROGRAM runs as several processes, which prove together. With --lockstep they are only compared.
    """
    from jaxlint_runtime.optimiser_settings import EAGER, SOURCE, TRANSFORMS
    from jaxlint_runtime.report.stored_costs import captured_calls
    from jaxlint_runtime.request import Request

    others: dict[str, Any] = {
        "target": target_names,
        "transform": transform_names,
        "also": also,
        "mesh": mesh,
        "budget": budget,
    }
    others |= {"inputs": inputs, "dim": dims, "sizes": sizes, "eager": eager, "fail-under": fail_under}
    others |= {"save": save, "compare": compare, "apply": apply, "workers": workers, **files.given()}
    how = in_step.how(others)
    if how is not None and in_step.lockstep:
        sys.exit(compare_processes(program.for_worker(), how, output_format, output, quiet))
    targets = tuple(dict.fromkeys(itertools.chain.from_iterable(target_names)))
    transforms = _known_transforms(transform_names)
    shape = _mesh(mesh, targets, transforms, apply)
    if eager:
        transforms = (*(transforms or (*TRANSFORMS, SOURCE)), EAGER)
    costs = save is not None or compare is not None
    if shape is not None and costs:
        raise Failure("--mesh excludes --save and --compare, which cost the functions as written")
    request = Request(
        **program.for_worker(),
        also=tuple(tuple(_words(one)) for one in also),
        targets=targets,
        transforms=transforms or None,
        mesh=shape,
        seconds=timing,
        ends=None if budget is None else time.monotonic() + budget,
        budget=budget,
        price=_PRICE if budget is None else None,
        proofs=not no_cache,
        shared_proofs=proof_cache,
        source_first=apply,
        only_written=apply and not transforms,
        costs=costs,
        inputs=inputs,
        dims=dict(dims),
        workers=_workers(workers, workers_wait),
        **files.for_worker(),
    )
    if sizes and (apply or costs):
        raise Failure("--sizes excludes --apply, --save and --compare, which use one size")
    if apply and not request.runs:
        raise Failure("--apply runs the whole edited program; leave out --inputs and --dim")
    if (stored := _stored(compare)) is not None:
        request = dataclasses.replace(request, same_calls=captured_calls(stored))
    check_folder_of(output)
    check_folder_of(save)
    files.prepare()
    parted = False
    if how is not None:
        document, parted = prove_in_processes(request, how, quiet, apply, allow_dirty, accept_compiled)
    else:
        document = _run(request, dict(sizes), quiet, apply, allow_dirty, accept_compiled)
    worse = _against(document, stored, compare)
    _report(document, output_format, output, verbose)
    for line in files.write(document):
        click.echo(line, err=True)
    _save(document, save)
    if stored is not None and document.ran and not worse:
        click.echo("jaxlint: nothing costs more than in the baseline", err=True)
    sys.exit(_exit_code(document, fail_under) or (FINDINGS if worse or parted else 0))


def _words(arguments: str) -> list[str]:
    """The arguments of --also. Raises Failure."""
    try:
        return shlex.split(arguments)
    except ValueError as error:
        raise Failure(f"--also {arguments!r}: {str(error).lower()}") from None


def _known_transforms(names: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """The names of --transform, without duplicates. Raises Failure for an unknown one."""
    from jaxlint_runtime.optimiser_settings import ASKED, PROGRAM, TRANSFORMS

    transforms = tuple(dict.fromkeys(itertools.chain.from_iterable(names)))
    known = (*TRANSFORMS, *ASKED, *PROGRAM)
    strange = next((name for name in transforms if name not in known), None)
    if strange is not None:
        raise Failure(f"{strange}: no such transformation; use one of {', '.join(known)}")
    return transforms


def _mesh(
    text: str | None, targets: tuple[str, ...], transforms: tuple[str, ...], apply: bool
) -> tuple[tuple[str, int], ...] | None:
    """The axes of --mesh, whose sizes must multiply to the number of devices of each target."""
    from jaxlint_runtime.sharding.mesh import BadMesh, check_target, parse_mesh
    from jaxlint_runtime.targets import UnknownTarget, parse

    if text is None:
        return None
    if transforms:
        raise Failure("--mesh only searches shardings; leave out --transform")
    if apply:
        raise Failure("--mesh writes nothing, since shardings are advice; leave out --apply")
    try:
        shape = parse_mesh(text)
        for name in targets:
            found = parse(name)
            check_target(shape, name, found.compile_only, found.platform, found.chips)
    except BadMesh as error:
        message = str(error)
        raise Failure(message if message.startswith("--mesh") else f"--mesh {message}") from None
    except UnknownTarget as error:
        raise Failure(f"--target: {error}") from None
    return tuple(zip(shape.names, shape.sizes, strict=True))


def _workers(text: str | None, wait: float | None) -> Workers | None:
    """The engine of --workers. Raises Failure."""
    from jaxlint_runtime.engines.choosing import parse_workers
    from jaxlint_runtime.request import CannotRun

    if text is None:
        if wait is not None:
            raise Failure("--workers-wait goes with --workers")
        return None
    try:
        return parse_workers(text, _WAIT if wait is None else wait)
    except CannotRun as error:
        raise Failure(str(error)) from None


def _stored(path: Path | None) -> dict[str, Any] | None:
    """The baseline for the comparison, read before anything runs."""
    from jaxlint_runtime.report.stored_costs import BadBaseline, read_baseline

    if path is None:
        return None
    try:
        return read_baseline(path)
    except BadBaseline as error:
        raise Failure(str(error)) from None


def _against(document: Document, stored: dict[str, Any] | None, path: Path | None) -> bool:
    """Adds everything that is worse than the baseline to the document; returns whether anything is."""
    from jaxlint_runtime.report.stored_costs import compare

    if stored is None or not document.ran:
        return False
    compare(document, stored, str(path))
    return bool(document.regressions)


def _run(
    request: Request,
    sizes: dict[str, tuple[int, ...]],
    quiet: bool,
    apply: bool,
    allow_dirty: bool,
    accept_compiled: bool,
) -> Document:
    """Runs, verifies and, on request, applies; cleans up afterwards. Raises Failure."""
    from jaxlint_runtime.apply.preview import collect_diffs
    from jaxlint_runtime.report.progress_lines import Live
    from jaxlint_runtime.request import CannotRun, validate
    from jaxlint_runtime.run import Listener
    from jaxlint_runtime.sweep import check_sweep, sweep
    from jaxlint_runtime.verify import Verification
    from jaxlint_runtime.workers.cleanup import NoRoom, cleaned_up

    try:
        with cleaned_up():
            if sizes:
                check_sweep(request, sizes)
            else:
                validate(request)
            put_back_half_done([request.project()])
            with Live(quiet=quiet) as live:
                listener = Listener(live.note, live.progress, live.output)
                if sizes:
                    verification = sweep(request, listener, sizes)
                    verification.document.diffs = collect_diffs(verification)
                    return verification.document
                live.note(_announcement(request))
                verification = Verification(request, listener)
                document = verification.run()
                document.diffs = collect_diffs(verification)
                if apply and not document.interrupted:
                    from jaxlint_runtime.apply.apply_proven import apply_proven

                    apply_proven(verification, allow_dirty, accept_compiled)
                return document
    except (CannotRun, NoRoom) as error:
        raise Failure(str(error)) from None


def _save(document: Document, path: Path | None) -> None:
    """Writes the baseline of a completed run."""
    from jaxlint_runtime.report.stored_costs import as_baseline

    if path is not None and document.ran and not document.interrupted:
        write_report_file(path, json.dumps(as_baseline(document), indent=2) + "\n", "the baseline")
        click.echo(said(f"jaxlint: wrote {path}; commit it, and compare with --compare"), err=True)


def _announcement(request: Request) -> str:
    if not request.runs:
        return f"importing {request.target} and calling its functions, at most {request.timeout:g} s"
    limits = []
    if request.calls is not None and request.settle:
        limits.append(f"it trains and its slowest jitted function has had {request.calls} calls")
    elif request.calls is not None:
        limits.append(f"its busiest jitted function has had {request.calls} calls")
    if request.run_for is not None:
        limits.append(f"{request.run_for:g} s after the first jitted call")
    until = f"until {' or '.join(limits)}" if limits else "to its end"
    return f"running {request.target} {until}; at most {request.timeout:g} s"


def _report(document: Document, output_format: str, output: Path | None, verbose: bool) -> None:
    from jaxlint_runtime.report.terminal import print_report

    if output_format == "text" and output is None:
        print_report(document, sys.stdout, verbose)
        return
    if output_format == "json":
        text = json.dumps(wellformed(document.as_json()), indent=2) + "\n"
    else:
        buffer = io.StringIO()
        print_report(document, buffer, verbose)
        text = buffer.getvalue()
    if output is None:
        click.echo(text, nl=False)
    else:
        write_report_file(output, text)


def _exit_code(document: Document, fail_under: float | None) -> int:
    if document.interrupted:
        return INTERRUPTED
    if not document.ran:
        return FAILED
    ended_badly = document.ending is not None and document.ending["status"] != 0
    if ended_badly and not any(function["calls"] for function in document.functions):
        return FAILED
    if fail_under is not None and (document.best_speedup() or 0.0) < fail_under:
        return FINDINGS
    return 0
