"""`jaxlint verify` for programs that run as several processes, and `--lockstep`, which only compares them.
The options form one group.
"""

from __future__ import annotations

import functools
import io
import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jaxlint.cli.common import FAILED, FINDINGS, INTERRUPTED, Failure, check_folder_of, write_report_file
from jaxlint.report.escaping import wellformed

if TYPE_CHECKING:
    from jaxlint_runtime.lockstep_run import LockstepRun
    from jaxlint_runtime.report.document import Document
    from jaxlint_runtime.request import InStep, Request

_Command = TypeVar("_Command", bound=Callable[..., Any])
_STALL = 30.0  # seconds
# Options of verify that run or change the program in one process, or trace it for other devices.
_ONE_PROCESS = ("target", "also", "mesh", "budget", "inputs", "dim", "sizes", "eager", "workers")
_OPTIONS = (
    click.option(
        "--lockstep",
        is_flag=True,
        help="Run all processes of a program that calls jax.distributed.initialize, and report which one leaves the common "
        "order of compiled programs, dies or stalls. Exits with 1 when one does.",
    ),
    click.option(
        "--processes",
        type=click.IntRange(min=2),
        metavar="N",
        help="Run the program as N processes on this machine, with CPU devices. {process} and {processes} "
        "among ARGS become their number and N.",
    ),
    click.option(
        "--local-devices",
        type=click.IntRange(min=1),
        metavar="N",
        help="With --processes: simulated CPU devices in each process (1).",
    ),
    click.option(
        "--launcher",
        metavar="COMMAND",
        help="Run the program as several processes, which this command starts: 'srun -n 8', 'mpirun -n 4'. 'ray': the program is a "
        "script whose JaxTrainer starts them.",
    ),
    click.option(
        "--stall",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help=f"With several processes: how long a process may stay idle while others wait for it ({_STALL:g}).",
    ),
    click.option(
        "--shared",
        type=click.Path(file_okay=False, exists=True),
        metavar="FOLDER",
        help="With several processes: an empty folder that all of them see, for their records. Without --processes and --launcher, "
        "run this command once for each process.",
    ),
)


@dataclass(frozen=True, slots=True)
class LockstepOptions:
    """How the processes are started. An option that was not passed is None."""

    lockstep: bool = False
    processes: int | None = None
    local_devices: int | None = None
    launcher: str | None = None
    stall: float | None = None
    shared: str | None = None

    def how(self, others: Mapping[str, Any]) -> InStep | None:
        """How the processes are started; None for a program of one process.

        `others` are the other options of verify by name, if they were passed. Raises Failure.
        """
        from jaxlint_runtime.job_step import job_step
        from jaxlint_runtime.request import InStep

        self._check(others)
        # Inside a step of a job, each process runs this command. Options for one process keep their meaning.
        alone = self.processes or self.launcher or self.shared or any(map(others.get, _ONE_PROCESS))
        step = None if alone else job_step(os.environ)
        if step is not None and others.get("apply"):
            raise Failure("--apply also starts the edited program: pass --launcher, outside of the job step")
        if step is None and not self._several:
            return None
        return InStep(
            processes=self.processes,
            local_devices=self.local_devices or 1,
            launcher=_words(self.launcher),
            stall=self.stall or _STALL,
            shared=self.shared,
            step=step,
        )

    @property
    def _several(self) -> bool:
        return self.lockstep or any(getattr(self, one.name) for one in fields(self))

    def _check(self, others: Mapping[str, Any]) -> None:
        """Refuses options that exclude each other. Raises Failure."""
        other = next((name for name, value in others.items() if value), None)
        if self.lockstep and other is not None:
            raise Failure(f"--lockstep changes and measures nothing; leave out --{other}")
        elsewhere = next((name for name in _ONE_PROCESS if others.get(name)), None)
        if self._several and elsewhere is not None:
            raise Failure(
                f"--{elsewhere} is for programs of one process; leave it out, or give --lockstep alone"
            )
        if self._several and others.get("apply") and not (self.processes or self.launcher):
            raise Failure("--apply also starts the edited program: pass --processes or --launcher")
        if self.local_devices is not None and self.processes is None:
            raise Failure("--local-devices goes with --processes")


def lockstep_options(command: _Command) -> _Command:
    """Adds the options to a command, which receives them as one `in_step: LockstepOptions`."""
    names = [field.name for field in fields(LockstepOptions)]

    @functools.wraps(command)
    def wrapper(**values: Any) -> Any:
        options = LockstepOptions(**{name: values.pop(name) for name in names})
        return command(in_step=options, **values)

    decorated: Any = wrapper
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def compare_processes(
    program: Mapping[str, Any], how: InStep, output_format: str, output: Path | None, quiet: bool
) -> int:
    """Runs the processes, reports, and returns the exit code. Raises Failure."""
    from jaxlint_runtime.lockstep_run import LockstepRun
    from jaxlint_runtime.report.progress_lines import Live
    from jaxlint_runtime.request import CannotRun, Request
    from jaxlint_runtime.run import Listener
    from jaxlint_runtime.workers.cleanup import NoRoom, cleaned_up

    check_folder_of(output)
    request = Request(**program)
    try:
        with cleaned_up(), Live(quiet=quiet) as live:
            run = LockstepRun(request, how, Listener(live.note, live.progress, live.output))
            run.run()
    except (CannotRun, NoRoom) as error:
        raise Failure(str(error)) from None
    if not run.follows:
        _report(run, output_format, output)
    return _exit_code(run)


def prove_in_processes(
    request: Request, how: InStep, quiet: bool, apply: bool, allow_dirty: bool, accept_compiled: bool
) -> tuple[Document, bool]:
    """Runs and verifies a program of several processes; also returns whether one of them stopped early. Raises Failure."""
    from jaxlint_runtime.across_run import AcrossRun
    from jaxlint_runtime.apply.preview import collect_diffs
    from jaxlint_runtime.report.progress_lines import Live
    from jaxlint_runtime.request import CannotRun
    from jaxlint_runtime.run import Listener
    from jaxlint_runtime.workers.cleanup import NoRoom, cleaned_up

    try:
        with cleaned_up(), Live(quiet=quiet) as live:
            run = AcrossRun(request, Listener(live.note, live.progress, live.output), how=how)
            document = run.run()
            if run.follows:
                sys.exit(FINDINGS if run.parted else 0)
            document.diffs = collect_diffs(run)
            if apply and not (document.interrupted or run.parted):
                from jaxlint_runtime.apply.apply_proven import apply_proven

                apply_proven(run, allow_dirty, accept_compiled)
            return document, run.parted
    except (CannotRun, NoRoom) as error:
        raise Failure(str(error)) from None


def _words(launcher: str | None) -> tuple[str, ...]:
    """The words of a command. Raises Failure."""
    if launcher is None:
        return ()
    try:
        words = tuple(shlex.split(launcher))
    except ValueError as error:
        raise Failure(f"--launcher: {str(error).lower()} in {launcher!r}") from None
    if not words:
        raise Failure("--launcher is empty; give the command that starts the processes")
    return words


def _report(run: LockstepRun, output_format: str, output: Path | None) -> None:
    from jaxlint_runtime.report.lockstep_report import as_json, print_lockstep

    buffer = io.StringIO()
    if output_format == "json":
        found = as_json(run.verdict, run.order, run.seconds)
        buffer.write(json.dumps(wellformed(found), indent=2) + "\n")
    else:
        print_lockstep(run.verdict, run.order, buffer)
    if output is None:
        sys.stdout.write(buffer.getvalue())
    else:
        write_report_file(output, buffer.getvalue())


def _exit_code(run: LockstepRun) -> int:
    from jaxlint_runtime.lockstep.batches import compared
    from jaxlint_runtime.lockstep.verdict import Kind

    if run.interrupted:
        return INTERRUPTED
    if run.verdict.kind is Kind.UNKNOWN:
        return FAILED
    differ = any(one.copies for one in compared(run.order))
    return FINDINGS if differ or run.verdict.kind is not Kind.SAME else 0
