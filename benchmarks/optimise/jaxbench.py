"""What `jaxlint verify` finds in the kernels of JAXBench that have an expert's version, for a TPU that is only compiled for.

    python -m benchmarks.optimise.jaxbench SUITE [WORKLOAD...] [--target tpu:v6e-1x1] [--output FILE.md]

SUITE is the folder `benchmark` of a checkout of github.com/aryatschand/JAXBench (MIT license), which is no part of this repository. Each
workload has `baseline.py` in plain JAX and `optimized.py` with a Pallas kernel. verify runs the baseline on this machine, with less of its
independent axes (batch, heads, sequences; `SMALLER`), since its values are compared here; the compiler of the target says what memory each
version needs at that size. Time is left out: the compiler cannot tell that of a kernel. Needs the extra of the target (`tpu`).
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.optimise.compiled import Row, row_of, table, verify

# The sizes on which the work is repeated, which change no kernel; the two versions of one workload do not name them alike.
SMALLER = {
    "1p_Flash_Attention": {"batch": 1, "num_heads": 4},
    "2p_GQA_Attention": {"batch": 1, "num_query_heads": 2, "num_kv_heads": 1},
    "3p_MLA_Attention": {"batch": 1, "num_heads": 2},
    "4p_Sparse_Attention": {"batch": 1, "num_query_heads": 2, "num_kv_heads": 1},
    "6p_Paged_Attention": {"num_seqs": 4, "batch": 4},
    "7p_Ragged_Paged_Attention": {"max_num_seqs": 4, "max_num_batched_tokens": 256},
    "8p_GEMM": {"M": 1024, "N": 4096},
    "11p_Megablox_GMM": {"num_experts": 8, "seq_len": 256},
}
# Python's numbers among the inputs are sizes.
_CALLS = """
CONFIG.update({size: value for size, value in %r.items() if size in CONFIG})
values = create_inputs()
step = jax.jit(workload, static_argnums=[at for at, value in enumerate(values) if isinstance(value, int)])

if __name__ == "__main__":
    for _ in range(3):
        jax.block_until_ready(step(*values))
"""
_PEAK = """
import sys

import jax
from jax.sharding import SingleDeviceSharding

from jaxlint_runtime import targets
from jaxlint_runtime.inspection.memory import memory

import program

target = targets.parse(sys.argv[1])
place = SingleDeviceSharding(target.devices()[0])
shapes = [
    value if isinstance(value, int) else jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=place)
    for value in program.values
]
print("peak", memory(program.step.trace(*shapes).lower().compile(), target.platform).total)
"""


def _program(source: Path, folder: Path, smaller: dict[str, int]) -> Path:
    """A copy of `source` that calls its workload at the smaller size, in place of its own clock."""
    text = source.read_text().split("\nif __name__ ==")[0]
    program = folder / "program.py"
    program.write_text(text + _CALLS % smaller)
    return program


def _compiled(program: Path, target: str) -> float:
    """What the target's compiler says that `step` of the program needs, in bytes; NaN if it does not compile."""
    command = [sys.executable, "-c", _PEAK, target]
    done = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip()[-800:], file=sys.stderr, flush=True)
        return math.nan
    return float(done.stdout.rsplit("peak", 1)[1])


def measure(workload: Path, target: str) -> Row:
    """One workload: the bytes of the baseline, of what verify found, and of the expert's version."""
    start = time.monotonic()
    smaller = SMALLER[workload.name]
    with tempfile.TemporaryDirectory() as scratch:
        program = _program(workload / "baseline.py", Path(scratch), smaller)
        found = verify(program, target, Path(scratch), [], "workload", [])
    with tempfile.TemporaryDirectory() as scratch:
        expert = _compiled(_program(workload / "optimized.py", Path(scratch), smaller), target)
    return row_of(workload.name, found, expert, time.monotonic() - start)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite", type=Path, metavar="SUITE")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(SMALLER))
    parser.add_argument("--target", default="tpu:v6e-1x1")
    parser.add_argument("--output", type=Path, help="write the table here, too")
    arguments = parser.parse_args()
    if unknown := set(arguments.workloads) - set(SMALLER):
        parser.error(f"no such workload: {', '.join(sorted(unknown))}; there are {', '.join(SMALLER)}")
    names = arguments.workloads or list(SMALLER)
    if missing := [name for name in names if not (arguments.suite / name / "optimized.py").is_file()]:
        parser.error(
            f"{arguments.suite} has no {missing[0]}/optimized.py: give the folder `benchmark` of JAXBench"
        )
    rows = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows.append(measure(arguments.suite / name, arguments.target))
        text = table(rows, arguments.target)
        if arguments.output is not None:  # what is known so far, should this be cut short
            arguments.output.write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
