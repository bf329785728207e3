"""What two runs of a program leave is compared as far as the original repeats it: files, error output, types of what is written."""

from __future__ import annotations

import dataclasses
import gzip
import io
import itertools
import json
import pickle
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from jaxlint.source import read_source
from jaxlint_runtime.request import Request
from jaxlint_runtime.rewrites.error_output import other_errors
from jaxlint_runtime.rewrites.file_contents import rounded_alike
from jaxlint_runtime.rewrites.outcome import other_outcome
from jaxlint_runtime.rewrites.pickled import unpickled
from jaxlint_runtime.rewrites.side_effects import (
    Leavings,
    collect,
    compared_files,
    other_files,
    snapshot,
)
from jaxlint_runtime.rewrites.trial_runs import Trial, Trials
from jaxlint_runtime.run import Run

Files = Mapping[str, bytes | str]


@pytest.fixture
def left(tmp_path: Path) -> Callable[..., Leavings]:
    """A run that finds `before` and has `after` at its end."""
    numbers = itertools.count()

    def run(after: Files, before: Files | None = None, errors: str = "") -> Leavings:
        place = tmp_path / str(next(numbers))
        project, keep = place / "project", place / "keep"
        keep.mkdir(parents=True)
        write(project, before or {})
        seen = snapshot(project)
        for name in before or {}:
            if name not in after:
                (project / name).unlink()
        write(project, {name: data for name, data in after.items() if (before or {}).get(name) != data})
        return collect({"": (project, seen)}, keep, errors, {str(project): "/home/me/project"})

    return run


def write(folder: Path, files: Files) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        text = data.replace("HERE", str(folder)).encode() if isinstance(data, str) else data
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)


def log(lines: int, loss: float = 0.5) -> str:
    return "".join(f"step {n} loss {loss / (n + 1):.6f}\n" for n in range(lines))


def arrays(**values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **values)
    return file.getvalue()


def array(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


W = np.linspace(0.1, 2.0, 300, dtype=np.float32)
NEAR = W * np.float32(1 + 1e-6)
FAR = W * np.float32(1.1)
NAME, SHARED = "a b", [1.5, None]
TENSORS = {"w": W, "step": 7, "name": "model", "loss": 0.25}


CONTENTS: list[tuple[str, bytes | str, bytes | str, str | None]] = [
    ("train.log", log(200), log(1), "train.log has 1 line instead of 200"),
    ("train.log", log(200), "JitTracer(float32[])\n", "train.log has 1 line instead of 200"),
    ("train.log", log(3), log(3, 0.500001), None),
    (
        "train.log",
        log(3),
        log(3, 0.6),
        "train.log has 'step 0 loss 0.600000' instead of 'step 0 loss 0.500000'",
    ),
    (
        "out.csv",
        "step,loss\n0,0.51\n1,0.42\n",
        "step,loss\n0,0.51\n1,0.45\n",
        "out.csv has '1,0.45' instead of",
    ),
    ("result.json", json.dumps({"n": 200}), json.dumps({"n": 200.0}), "200.0"),  # it became an array
    ("result.json", json.dumps({"n": 0.1 + 0.2}), json.dumps({"n": 0.3}), None),
    ("result.json", json.dumps({"ok": True}), json.dumps({"ok": "Array(True)"}), "result.json has"),
    ("result.json", json.dumps({"n": None}), json.dumps({"n": 0}), "result.json has"),
    ("w.npy", array(W), array(NEAR), None),
    ("w.npy", array(W), array(FAR), "w.npy has other values, at most 9.1e-02 apart"),
    ("w.npy", array(W), array(W.astype(np.float64)), "w.npy is float64[300] instead of float32[300]"),
    ("w.npy", array(np.arange(3)), array(np.arange(3) + 1), "w.npy has other values"),
    ("w.npz", arrays(w=W, b=W), arrays(w=W, b=NEAR), None),
    ("w.npz", arrays(w=W, b=W), arrays(w=W, b=FAR), "w.npz:b.npy has other values"),
    ("w.npz", arrays(w=W, b=W), arrays(w=W), "w.npz has no b.npy"),
    ("model.pkl", pickle.dumps(TENSORS), pickle.dumps({**TENSORS, "w": NEAR, "loss": 0.25000001}), None),
    (
        "model.pkl",
        pickle.dumps(TENSORS),
        pickle.dumps({**TENSORS, "w": FAR}),
        "model.pkl holds other values",
    ),
    (
        "model.pkl",
        pickle.dumps(TENSORS),
        pickle.dumps({**TENSORS, "step": 8}),
        "model.pkl holds other values",
    ),
    (
        "model.pkl",
        pickle.dumps(TENSORS),
        pickle.dumps({**TENSORS, "name": "mocel"}),
        "model.pkl holds other values",
    ),
    ("model.pkl", pickle.dumps(TENSORS), pickle.dumps(W), "model.pkl holds other values"),
    # The same values, whatever is one object: "a b" by two names, the dtype of two arrays, an array of one float.
    ("m.pkl", pickle.dumps([NAME, NAME]), pickle.dumps([NAME, "".join(["a ", "b"])]), None),
    ("m.pkl", pickle.dumps((W, W + 1), 4), pickle.dumps((W, pickle.loads(pickle.dumps(W + 1))), 4), None),
    (
        "m.pkl",
        pickle.dumps(np.float32(0.1)),
        pickle.dumps(np.nextafter(np.float32(0.1), np.float32(1))),
        None,
    ),
    ("m.pkl", pickle.dumps(1) + pickle.dumps(0.5), pickle.dumps(1) + pickle.dumps(0.50000001), None),
    ("m.pkl", pickle.dumps({"a": {1, 2}, "b": SHARED}, 2), pickle.dumps({"a": {2, 1}, "b": SHARED}, 2), None),
    ("m.pkl", pickle.dumps([SHARED, SHARED]), pickle.dumps([SHARED, list(SHARED)]), "holds other values"),
    ("m.pkl", pickle.dumps({"a": 1, "b": 2}), pickle.dumps({"b": 2, "a": 1}), "holds other values"),
    ("m.pkl", pickle.dumps({"n": 3}), pickle.dumps({"n": np.int64(3)}), "holds other values"),
    ("m.pkl", pickle.dumps({"n": 3}), pickle.dumps({"n": 3.0}), "holds other values"),
    ("m.pkl", pickle.dumps(W), pickle.dumps(W.astype(np.float64)), "holds other values"),
    ("m.pkl", pickle.dumps(Path("a/b")), pickle.dumps(Path("a/c")), "holds other values"),
    ("m.pkl", pickle.dumps(1) + pickle.dumps(2), pickle.dumps(1), "holds other values"),
    (
        "log.gz",
        gzip.compress(log(9).encode()),
        gzip.compress(log(2).encode()),
        "log.gz has 2 lines instead of 9",
    ),
    ("log.gz", gzip.compress(log(9).encode(), mtime=1), gzip.compress(log(9).encode(), mtime=2), None),
    ("plot.png", b"\x89PNG" + bytes(1000), b"\x89PNG" + bytes(range(250)) * 4, None),
    (
        "plot.png",
        b"\x89PNG" + bytes(1000),
        b"\x89PNG" + bytes(10),
        "plot.png has 14 bytes instead of 1004",
    ),
    ("where.txt", "saved to HERE/w.npy\n", "saved to HERE/w.npy\n", None),
]


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    CONTENTS,
    ids=[f"{number}-{one[0]}" for number, one in enumerate(CONTENTS)],
)
def test_a_file_is_compared_by_what_is_in_it(
    left: Callable[..., Leavings], name: str, old: bytes | str, new: bytes | str, problem: str | None
) -> None:
    found = other_files(left({name: old}), [left({name: old}), left({name: old})], left({name: new}))
    assert found is None if problem is None else str(found).startswith("the files it writes differ: ")
    assert problem is None or problem in str(found)


def test_files_that_are_missing_new_or_kept_are_told(left: Callable[..., Leavings]) -> None:
    base = {"a.txt": "1\n", "b.txt": "2\n"}
    runs = left(base), [left(base)]
    assert other_files(*runs, left({"a.txt": "1\n"})) == "the files it writes differ: b.txt is missing"
    assert other_files(*runs, left({**base, "c.txt": ""})) == "the files it writes differ: c.txt is new"
    cleaned = [left({}, before={"old.ckpt": "x"}) for _ in range(2)]
    kept = left({"old.ckpt": "x"}, before={"old.ckpt": "x"})
    assert (
        other_files(cleaned[0], cleaned[1:], kept)
        == "the files it writes differ: old.ckpt is no longer deleted"
    )
    assert "old.ckpt is deleted" in str(other_files(kept, [], cleaned[0]))


def test_what_was_there_and_is_not_written_is_no_leaving(left: Callable[..., Leavings]) -> None:
    before = {"data.csv": "1,2\n", "__pycache__/a.pyc": b"x"}
    run = left({**before, "__pycache__/a.pyc": b"y", "new.txt": ""}, before)
    assert set(run.sizes) == {"new.txt"}


@pytest.mark.parametrize(
    ("runs", "edited", "problem"),
    [
        # names that are new in each run: a date, a temporary name
        (["run-20260101-101010/log", "run-20260101-101110/log"], ["run-20260101-101500/log"], None),
        (["tmpab12cd_x", "tmpz9y8x7w6"], ["tmp12345678"], None),
        (["tmpab12cd_x", "tmpz9y8x7w6"], [], "there are 0 files like * instead of 1"),
        (["ckpt_10"], ["ckpt_10", "ckpt_20"], "there are 2 files like ckpt_* instead of 1"),
    ],
)
def test_names_that_change_from_run_to_run_are_counted(
    left: Callable[..., Leavings], runs: list[str], edited: list[str], problem: str | None
) -> None:
    base, *repeats = [left({name: log(3)}) for name in runs]
    found = other_files(base, repeats, left({name: log(3) for name in edited}))
    assert (found is None) == (problem is None)


def test_a_file_under_another_name_is_compared_all_the_same(left: Callable[..., Leavings]) -> None:
    base, again = left({"run-10/log": log(9)}), left({"run-11/log": log(9)})
    assert other_files(base, [again], left({"run-12/log": log(9)})) is None
    assert "run-10/log has 2 lines instead of 9" in str(
        other_files(base, [again], left({"run-12/log": log(2)}))
    )


def test_what_differs_between_two_runs_of_the_original_is_not_compared(left: Callable[..., Leavings]) -> None:
    def timed(seconds: float, loss: float = 0.5) -> str:
        rows = [f"{n},{loss},{seconds * (1 + n % 3 / 10):.4f}" for n in range(20)]
        return "\n".join(["step,loss,spent", *rows])

    base, again = left({"a.csv": timed(0.5)}), left({"a.csv": timed(0.52)})
    assert other_files(base, [again], left({"a.csv": timed(0.05)})) is None  # the edit is faster
    assert "a.csv has" in str(other_files(base, [again], left({"a.csv": timed(0.05, 0.7)})))
    stamped = "2026-01-01 10:{}:07,123 INFO step 1 loss 0.5\n"
    base, again = left({"a.log": stamped.format("10")}), left({"a.log": stamped.format("10")})
    assert other_files(base, [again], left({"a.log": stamped.format("11")})) is None
    base, again = left({"a.bin": b"\0\1\2\3" * 9}), left({"a.bin": b"\0\3\2\1" * 9})
    assert other_files(base, [again], left({"a.bin": b"\0\7\7\7" * 9})) is None
    assert other_files(base, [again], left({"a.bin": b"\0\7\7"})) == (
        "the files it writes differ: a.bin has 3 bytes instead of 36"
    )
    unsteady = left({"a.txt": log(3)}), [left({"a.txt": log(4)})]
    assert other_files(*unsteady, left({"a.txt": log(2)})) is None
    assert compared_files(base, [again]) == 1


def test_what_is_too_large_to_be_read_is_compared_by_its_hash(
    left: Callable[..., Leavings], monkeypatch: pytest.MonkeyPatch
) -> None:
    from jaxlint_runtime.rewrites import side_effects

    monkeypatch.setattr(side_effects, "READ", 10)
    base, again, other = (left({"big.bin": bytes([n]) * 100}) for n in (1, 1, 2))
    assert other_files(base, [again], again) is None
    assert other_files(base, [again], other) == "the files it writes differ: big.bin has other bytes"
    assert other_files(base, [other], left({"big.bin": bytes(100)})) is None  # it differs from run to run


def test_a_link_and_a_pipe_harm_nothing(left: Callable[..., Leavings], tmp_path: Path) -> None:
    import os

    project = tmp_path / "project"
    project.mkdir()
    os.mkfifo(project / "pipe")
    (project / "dangling").symlink_to(tmp_path / "nowhere")
    assert snapshot(project) == {}


def test_zip_members_of_a_bomb_are_not_read(left: Callable[..., Leavings]) -> None:
    def bomb(text: bytes) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a", bytes(300 * 2**20))
            archive.writestr("b", text)
        return file.getvalue()

    found = other_files(left({"a.zip": bomb(b"1")}), [], left({"a.zip": bomb(b"2")}))
    assert found == "the files it writes differ: a.zip cannot be read"


def test_error_output_is_compared_without_the_noise() -> None:
    noise = (
        "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"
        "E0101 10:10:10.{n}00000 12{n} cpu_aot_loader.cc:210] loading\n"
        "2026-01-01 10:10:1{n}.123456: W external/xla/a.cc:12] slow\n"
        "WARNING:2026-01-01 10:10:1{n},123:jax._src.xla_bridge:967: no GPU\n"
        "/usr/lib/python3/site-packages/jax/a.py:1{n}: UserWarning: said\n  jnp.asarray(x)\n"
    )

    def run(text: str, number: int = 1) -> str:
        return noise.format(n=number) + text

    assert other_errors(run(log(3)), [run(log(3), 2)], log(3)) is None
    assert other_errors(run(log(200)), [run(log(200))], run(log(1))) == (
        "it writes 1 line to stderr instead of 200"
    )
    assert "instead of 'step 0 loss 0.500000'" in str(other_errors(run(log(1)), [], run(log(1, 0.9))))
    bar = "\r".join(f"{n}0%|#| {n}/10 [00:0{n}<00:01, {n}.1it/s]" for n in range(9)) + "\n"
    faster = "100%|#| 10/10 [00:01<00:00, 99.9it/s]\n"
    assert other_errors(bar, [bar], faster) is None
    warned = "/home/me/project/train.py:{n}: UserWarning: loss is large\n  {code}\n"
    texts = [warned.format(n=n, code=code) for n, code in ((12, "warnings.warn(x)"), (15, "warn(x)"))]
    assert other_errors(texts[0], [], texts[1]) is None


def test_numbers_are_found_at_any_offset() -> None:
    generator = np.random.default_rng(0)
    head = bytes(range(7))
    for dtype in ("<f4", "<f8", ">f8"):
        for length in (1, 3, 500) if dtype != "<f4" else (3, 500):  # one byte may be anything
            values = generator.normal(size=length).astype(dtype)
            moved = (values * (1 + 1e-6)).astype(dtype)
            other = (values * 1.5).astype(dtype)
            parts = [head + one.tobytes() + head for one in (values, moved, other)]
            assert rounded_alike(parts[0], parts[1], 1e-3), (dtype, length)
            assert not rounded_alike(parts[0], parts[2], 1e-3), (dtype, length)
    assert not rounded_alike(b"abc 12 def" * 3, b"abc 13 def" * 3, 1e-3)
    assert not rounded_alike((5).to_bytes(8, "little") * 2, (6).to_bytes(8, "little") * 2, 1e-3)


PROGRAM = """
import atexit, json, sys, tempfile
from pathlib import Path

log = open("train.log", "w")  # never closed, as people leave it
atexit.register(lambda: Path("done.json").write_text(json.dumps({"n": steps})))
steps = 0

def report(n, loss):
    log.write(f"step {n} loss {loss:.4f}\\n")
    print(f"step {n}", file=sys.stderr)

for n in range(200):
    report(n, 1.0 / (n + 1))
    steps += 1
Path(tempfile.mkdtemp(), "last.txt").write_text("loss 0.005\\n")
print("loss", 0.005)
"""


class Trap:
    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (Path("called"),))


def test_a_pickle_is_read_without_calling_what_is_in_it(
    left: Callable[..., Leavings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one, other = pickle.dumps([Trap(), 1]), pickle.dumps([Trap(), 2])
    runs = [left({"m.pkl": data}) for data in (one, one, one, other)]
    assert other_files(runs[0], runs[1:2], runs[2]) is None
    assert "holds other values" in str(other_files(runs[0], runs[1:2], runs[3]))
    assert not Path("called").exists()


@pytest.mark.parametrize(
    "data", [b"\x80\x05", b"\x80\x05K\x01", b"\x80\x05t.", b"\x80\x05h\x09.", b"\x80\x04\xff."]
)
def test_what_only_looks_like_a_pickle_is_compared_by_its_bytes(
    left: Callable[..., Leavings], data: bytes
) -> None:
    same = left({"m.bin": data})
    assert unpickled(data) is None
    assert other_files(same, [same], left({"m.bin": data})) is None
    assert "m.bin" in str(other_files(same, [same], left({"m.bin": data + b"x"})))


@pytest.mark.slow
def test_whole_programs_are_compared_by_what_they_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    path = tmp_path.resolve() / "program.py"
    path.write_text(PROGRAM)
    records = tmp_path.resolve().parent / f"{tmp_path.name}-records"
    records.mkdir()
    trials = Trials(Run(Request("script", "program.py")), [], [], records)

    def run(text: str) -> Trial:
        path.write_text(text)
        trial, _ = trials.run({str(path): read_source(path, str(path))}, 120.0)
        assert trial.failure is None
        path.write_text(PROGRAM)
        return trial

    base, again = run(PROGRAM), run(PROGRAM)
    names = sorted(base.left.sizes)
    assert names[1:] == ["done.json", "train.log"]
    assert names[0].startswith("<temporary folder>/tmp")
    assert not (tmp_path / "train.log").exists()
    assert other_outcome(base, [again], again) is None
    once = "    report(n, 1.0 / (n + 1))\n"  # as a function does that is traced
    traced = run(PROGRAM.replace(once, f"    if not n:\n    {once}"))
    assert traced.printed == base.printed
    assert other_outcome(base, [again], traced) == (
        "the files it writes differ: train.log has 1 line instead of 200"
    )
    quiet = run(PROGRAM.replace("print(f", "n == 0 and print(f"))
    assert other_outcome(base, [again], quiet) == "it writes 1 line to stderr instead of 200"
    other = run(PROGRAM.replace('{"n": steps}', '{"n": float(steps)}').replace("loss 0.005\\\\n", "loss 0.9"))
    assert "done.json has" in str(other_outcome(base, [again], other))


OUTSIDE = """
import atexit, os, sqlite3
from pathlib import Path

place = Path("ELSEWHERE")
with open(place / "all_runs.log", "a") as log:
    for n in range(3):
        log.write(f"step {n}\\n")
(place / "best.txt").write_text("0.5")
os.replace(place / "best.txt", place / "best.json")
os.close(os.open(place / "marker", os.O_CREAT | os.O_WRONLY))
Path("../beside.txt").write_text("beside")
(place / "given.txt").read_text()
(place / "__pycache__").mkdir(exist_ok=True)
(place / "__pycache__" / "a.pyc").write_text("x")
scratch = place / "scratch"
scratch.write_text("")
scratch.unlink()
if (place / "old").exists():
    (place / "old").unlink()
sqlite3.connect(place / "runs.db").execute("create table if not exists runs (n)").close()
atexit.register((place / "end.txt").write_text, "end")
print(1.0)
"""


@pytest.mark.slow
def test_files_that_a_program_writes_elsewhere_are_compared_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path.resolve()
    project, elsewhere, records = (home / name for name in ("project", "elsewhere", "records"))
    for folder in (project, elsewhere, records):
        folder.mkdir()
    (project / "pyproject.toml").touch()
    (elsewhere / "given.txt").write_text("given")
    monkeypatch.chdir(project)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    path = project / "program.py"
    text = OUTSIDE.replace("ELSEWHERE", str(elsewhere))
    path.write_text(text)
    trials = Trials(Run(Request("script", "program.py")), [], [], records)

    def run(text: str) -> Trial:
        (elsewhere / "old").touch()
        source = dataclasses.replace(read_source(path, str(path)), text=text)
        trial, _ = trials.run({str(path): source}, 120.0)
        assert trial.failure is None
        return trial

    base, again = run(text), run(text)
    names = {name.removeprefix(f"<elsewhere>{home}/") for name in base.left.sizes}
    assert names == {
        f"elsewhere/{name}" for name in ("all_runs.log", "best.json", "marker", "runs.db", "end.txt")
    } | {"beside.txt"}
    assert {name.rpartition("/")[2] for name in base.left.gone} == {"old"}
    assert other_outcome(base, [again], run(text)) is None
    for old, new, told in (
        ("range(3)", "range(1)", "all_runs.log has 1 line instead of 3"),
        ('"0.5"', '"0.7"', "best.json"),
        ('"beside"', '"other"', "beside.txt"),
        ('"marker"', '"another"', "marker is missing"),
        ('"end")', '"END")', "end.txt"),
        ('    (place / "old").unlink()', "    pass", "old is no longer deleted"),
    ):
        problem = str(other_outcome(base, [again], run(text.replace(old, new))))
        assert "the files it writes differ" in problem
        assert told in problem
