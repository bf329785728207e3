"""The bounded, seeded part of `make fuzz`; and that the harness would see what it looks for."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings

from benchmarks.pages import END, START
from benchmarks.robustness import adversarial, cases, failures, faults, figures, forked, grown, properties
from benchmarks.robustness.cases import Case
from benchmarks.robustness.pool import Warm
from benchmarks.robustness.properties import Answer, Judgement
from benchmarks.robustness.shrink import shrunk

SEED = 20_261_124
CASES = 100


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    with Warm(tmp_path_factory.mktemp("fuzz")) as worker:
        yield worker


@pytest.mark.slow
def test_mutants_of_programs(warm: Warm) -> None:
    """Cases of each kind, as `make fuzz` draws them."""
    counts: Counter[str] = Counter()
    kinds = set()
    for number in range(CASES):
        case = cases.case(SEED, number)
        verdict = warm.judge(case, number)
        assert not verdict.failures, (case.name, case.mutations, verdict.failures)
        counts.update(verdict.counts)
        kinds.add(case.kind)
    assert kinds == {"tokens", "splice", "encoding", "grown", "notebook", "markdown", "settings", "project"}
    assert counts["refused files"] < CASES * 0.6, "too few of the mutants are programs"
    assert counts["findings"] > 50
    assert counts["unsafe fixes applied"] > 5


@pytest.mark.slow
@settings(
    max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
@given(grown.programs())
def test_programs_that_are_made_to_blow_up(warm: Warm, text: str) -> None:
    verdict = warm.judge(
        Case("hypothesis", "grown", {"program.py": text.encode("utf-8", "surrogatepass")}, ())
    )
    assert not verdict.failures


@pytest.fixture(scope="module")
def trials(warm: Warm) -> faults.Trials:
    trials = faults.Trials(warm.folder, str(SEED), warm)
    trials.rng.seed(SEED)
    return trials


@pytest.fixture(scope="module")
def subject(trials: faults.Trials) -> faults.Subject:
    subject = trials.subject()
    assert subject.unsafe != subject.original
    return subject


@pytest.mark.slow
def test_a_kill_before_each_change_of_a_file_loses_nothing(
    trials: faults.Trials, subject: faults.Subject
) -> None:
    assert trials.kill_at_event(subject) == []
    (events,) = subject.events.values()
    assert events >= 4, "the hook did not see how files are written"
    for _ in range(3):
        assert trials.kill_at_event(subject) == []


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_nothing(trials: faults.Trials, subject: faults.Subject) -> None:
    for _ in range(2):
        assert trials.kill_at_moment(subject) == []


@pytest.mark.slow
def test_files_that_may_not_grow_are_left_whole(trials: faults.Trials, subject: faults.Subject) -> None:
    for _ in range(2):
        assert trials.short_files(subject) == []


@pytest.mark.slow
@pytest.mark.skipif(not faults.can_mount(), reason="no small disk can be mounted here")
def test_a_full_disk_leaves_files_whole(trials: faults.Trials, subject: faults.Subject) -> None:
    for _ in range(2):
        assert trials.full_disk(subject) == []


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_an_output_that_takes_nothing_is_an_error_of_one_line(
    trials: faults.Trials, subject: faults.Subject
) -> None:
    for _ in range(2):
        assert trials.full_output(subject) == []


@pytest.mark.slow
def test_several_at_once_leave_files_whole(trials: faults.Trials, subject: faults.Subject) -> None:
    for _ in range(2):
        assert trials.at_once(subject) == []


# ---- the harness itself ----


def test_the_same_seed_gives_the_same_cases() -> None:
    again = [cases.case(3, number) for number in range(40)]
    assert again == [cases.case(3, number) for number in range(40)]
    assert again != [cases.case(4, number) for number in range(40)]


def test_a_command_that_takes_too_long_ends_its_worker_and_says_where(warm: Warm) -> None:
    text = "import jax\n" + "".join(
        f"@jax.jit\ndef f{n}(x):\n    return [f{n - 1}(x) for _ in x]\n" for n in range(300)
    )
    verdict = warm.judge(Case("slow", "tokens", {"program.py": text.encode()}, ()), seconds=0.02)
    ((kind, message),) = verdict.failures
    assert kind == "hang"
    assert ".py:" in message
    assert not warm.judge(Case("quick", "tokens", {"program.py": b"x = 1\n"}, ())).failures


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer("raised", "", "Traceback (most recent call last):\nKeyError: 1"), "crash"),
        (Answer(-11, "", ""), "crash"),
        (
            Answer(
                2, "", "error: a.py: internal error (KeyError: 1 at x.py:3); please report it with this file"
            ),
            "internal error",
        ),
        (Answer(1, "    not fixed: a.py would no longer parse (invalid syntax)", ""), "unparsable edit"),
        (Answer(2, "", "error: a.py: its fixes do not converge; left as it was"), "restless fix"),
        (Answer(2, "", ""), "silent failure"),
        (Answer(0, "", "hello"), "odd message"),
    ],
)
def test_each_failure_of_a_command_is_seen(
    answer: Answer, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # whose sources are looked at
    found = Judgement()
    properties._sound(found, "check", answer)
    assert [one for one, _ in found.failures] == [kind]


def test_a_torn_file_and_a_stray_one_are_seen(trials: faults.Trials) -> None:
    folder = trials._placed({"a.py": b"x = 1", "b.py.tmp": b""}, "torn")
    states = [{"a.py": b"x = 1\n"}, {"a.py": b"x = 2\n"}]
    assert [kind for kind, _ in trials._whole(folder, states, "test")] == ["lost bytes", "stray file"]


def test_a_failure_is_made_small_and_kept(tmp_path: Path) -> None:
    text = "".join(f"line {n} (a, b)\n" for n in range(200)) + "needle in hay\n"
    case = Case("1-2", "tokens", {"a.py": text.encode(), "b.py": b"x\n"}, ("swap",), ("--preview",))
    small = shrunk(case, lambda one: b"needle" in one.files.get("a.py", b""), 30)
    assert small.files == {"a.py": b"needle"}
    assert small.options == ()
    kept = failures.Failures(tmp_path)
    folder = kept.add(case, "crash", "KeyError: 1 at line 3")
    assert folder is not None
    assert failures.stored(folder).files == case.files
    assert kept.add(case, "crash", "KeyError: 2 at line 4") is None  # the same but for its numbers
    assert list(kept.counts.values()) == [2]
    assert kept.add(Case("verify", "verify", {}, ()), "verify", "a process is left") is not None


def test_the_page_is_made_from_stored_figures(tmp_path: Path) -> None:
    told = figures.Figures(seed=5, minutes=1.0)
    told.by_kind["tokens"] = 1234
    told.failures["crash: x|y"] = 2
    told.store(tmp_path / "figures.json")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{START}\nold\n{END}\nafter\n")
    figures.write_page(figures.load(tmp_path / "figures.json"), page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "seed 5" in text
    assert "1,234" in text
    assert "crash: x/y" in text
    assert "old" not in text


def test_what_two_runs_of_a_program_may_not_differ_in() -> None:
    ran = adversarial.Ran(0, "loss 0.25\nn 3\n", "", {"a.py": b"1", "log.txt": b"0.1\n"})

    def told(**changes: object) -> str | None:
        values = {"status": ran.status, "out": ran.out, "err": ran.err, "files": ran.files, **changes}
        return adversarial.different(ran, adversarial.Ran(**values), sources={"a.py"})  # type: ignore[arg-type]

    assert told(out="loss 0.2500001\nn 3\n", files={"a.py": b"2", "log.txt": b"0.1\n"}) is None
    assert "prints" in str(told(out="loss 0.26\nn 3\n"))
    assert "prints" in str(told(out="loss 0.25\nn 3.0\n"))
    assert "standard error" in str(told(err="Traceback\n"))
    assert told(out="loss   0.2500001\nn 3\n") is None
    assert "exit status" in str(told(status=1))
    assert "log.txt differs" in str(told(files={"a.py": b"1", "log.txt": b"JitTracer\n"}))
    assert "other files" in str(told(files={"a.py": b"1"}))


def test_a_run_that_was_cut_off_is_no_run(tmp_path: Path) -> None:
    forks = object.__new__(forked.Forks)
    forks._server = SimpleNamespace(stdin=StringIO(), stdout=StringIO(f"{-signal.SIGALRM}\n0\n"))  # type: ignore[assignment]
    for name in ("out", "err"):
        (tmp_path / name).write_text(name)
    with pytest.raises(TimeoutError, match=r"long\.py --n 3 did not end within \d+ s"):
        forks.run(tmp_path, "long.py", ("--n", "3"), {}, tmp_path)
    assert forks.run(tmp_path, "short.py", (), {}, tmp_path) == (0, "out", "err")


def test_the_programs_of_a_folder_and_their_flags(tmp_path: Path) -> None:
    for name in (
        "one.py",
        "_helper.py",
        "sub/main.py",
        "sub/part.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    one, main = tmp_path / "one.py", tmp_path / "sub" / "main.py"
    assert adversarial.programs(tmp_path) == [(one, []), (main, [])]
    main.write_text("# function: step\n# flags: --late --n 3\n\nimport jax\n")
    one.write_text("import jax\n# flags: --no-header\n")
    assert adversarial.programs(tmp_path) == [(one, []), (main, [("--late", "--n", "3")])]


def test_a_result_has_to_parse_where_its_original_did() -> None:
    newer = b"import jax\ntype A = int\n"  # Python 3.12 reads it
    assert properties._unreadable("a.py", b"x = 1\n", b"x = (\n")
    assert not properties._unreadable("a.py", b"x = 1\n", b"x = 2\n")
    assert not properties._unreadable("a.py", b"%matplotlib\nx = 1\n", b"%matplotlib\nx = 2\n")
    assert not properties._unreadable("a.py", newer, newer.replace(b"jax", b"jax as j"))
