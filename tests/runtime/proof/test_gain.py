"""A gain is claimed where its interval is clear of 1, and is the same number in the terminal, on the page and in JSON."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from jaxlint_runtime.model import Cost, Interval, Result, Status
from jaxlint_runtime.proof.candidate_proof import _judge
from jaxlint_runtime.proof.gain import Claim, between_calls, between_runs, gain_of
from jaxlint_runtime.proof.paired_timing import Timing, interval
from jaxlint_runtime.protocol.json_records import to_plain
from jaxlint_runtime.report.best_versions import best_of
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.html.page import page
from jaxlint_runtime.report.terminal import render
from jaxlint_runtime.timing_noise import agreement

MIB = 2**20


class Plan:
    """Of a candidate that may not trade time."""

    trade = False


def timed(
    before: Any, after: Any, peaks: tuple[int, int] = (4 * MIB, 4 * MIB), candidate: str = "donation"
) -> dict[str, Any]:
    """The result of a candidate, decided as a proof decides it, from milliseconds block by block."""
    a, b = np.asarray(before, float), np.asarray(after, float)
    pairs = tuple(zip(a.tolist(), b.tolist(), strict=True))
    speedup = interval(a / b)
    timing = Timing(interval(a), interval(b), speedup, len(a), 1, agreement(pairs, speedup.median), pairs)
    found = Result("step", "train.py", 3, None, candidate, Status.FAILED, "run on cpu", "")
    found.before = Cost(timing.before, "measured", 0.1, peaks[0])
    found.after = Cost(timing.after, "measured", 0.1, peaks[1])
    found.speedup, found.pairs_ms = timing.speedup, timing.pairs
    verdict = _judge(Plan(), found, timing)  # type: ignore[arg-type]
    found.status, found.reason = verdict.status, verdict.reason
    plain: dict[str, Any] = to_plain(found)
    return plain


def noisy(ratio: float, spread: float, blocks: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    after = 10.0 * np.exp(generator.normal(0.0, spread, blocks))
    return ratio * 10.0 * np.exp(generator.normal(0.0, spread, blocks)), after


def document(*results: dict[str, Any]) -> Document:
    made = Document({"kind": "script", "target": "train.py", "arguments": []}, ["cpu"])
    made.ran, made.device = True, "cpu: cpu"
    made.results = [("cpu", one) for one in results]
    return made


def texts(made: Document) -> tuple[str, str, dict[str, Any]]:
    """The terminal in colour, the page, and JSON."""
    console = Console(file=io.StringIO(), width=200, record=True, force_terminal=True)
    for part in render(made):
        console.print(part)
    report = json.loads(json.dumps(made.as_json(), allow_nan=False))
    return console.export_text(), page(report), report


# twelve blocks of which four say the opposite of the other eight: a burst of other load
BURST = (np.array([10.0] * 8 + [6.0] * 4), np.array([6.85] * 8 + [10.0] * 4))


@pytest.mark.parametrize(
    "times", [noisy(1.46, 0.8, seed=3), noisy(1.02, 0.2), BURST], ids=["wide", "none", "burst"]
)
def test_what_is_not_beyond_noise_is_a_gain_nowhere(times: tuple[Any, Any]) -> None:
    """The memory is proven, so that the candidate is: no word, colour or tile may speak of its time."""
    result = timed(*times, peaks=(4 * MIB, 2 * MIB))
    assert result["status"] == "verified"
    median = f"{result['speedup']['median']:.2f}x"
    terminal, html, report = texts(document(result))
    assert "no difference beyond noise" in result["reason"]
    for text in (result["reason"], terminal, html):
        assert f"{median} as fast" not in text
        assert median not in text
        assert "as fast, measured" not in text
    span = f"not clear [{result['speedup']['low']:.2f}, {result['speedup']['high']:.2f}]"
    assert terminal.count(span) == 1
    assert html.count(span) == 2
    (shown,) = report["runs"][0]["results"]
    assert shown["gain"]["time"]["claim"] == "none"
    assert shown["gain"]["memory"]["claim"] == "better"
    assert document(result).best_speedup() is None
    assert re.search(r'<span class="better">0\.50x</span>', html)
    assert not re.search(r'Time a call.*?class="better".*?Peak memory', html, re.DOTALL)


def test_without_a_gain_in_anything_it_is_rejected() -> None:
    result = timed(*noisy(1.02, 0.2))
    assert result["status"] == "rejected"
    terminal, html, report = texts(document(result))
    assert f"0 of 1 candidate proven ({result['candidate']} of step: no gain)." in terminal
    assert "<b>0 of 1</b>" in html
    assert report["summary"] == {"verified": 0, "compiled": 0, "tried": 1, "text": "0 of 1 candidate proven"}


def test_a_gain_is_one_number_everywhere() -> None:
    result = timed(*noisy(1.5, 0.02), peaks=(4 * MIB, 2 * MIB))
    speedup = result["speedup"]
    median, span = f"{speedup['median']:.2f}x", f"[{speedup['low']:.2f}, {speedup['high']:.2f}]"
    terminal, html, report = texts(
        document(result, {**result, "candidate": "remat", "status": "not-applicable"})
    )
    assert f"{median} as fast" in result["reason"]
    assert terminal.count(f"{median} {span}") == 2  # both candidates
    assert f"step: {median} as fast, 50% less memory with donation." in terminal
    assert f"<b>{median}</b><span>as fast, measured: step</span>" in html
    assert f"{median} {span}" in html
    assert f'class="better">{1 / speedup["median"]:.2f}x<' in html  # before against after
    (shown, _) = report["runs"][0]["results"]
    assert shown["gain"]["time"] == {
        "claim": "better",
        "kind": "measured",
        "ratio": speedup["median"],
        "low": speedup["low"],
        "high": speedup["high"],
        "text": f"{median} as fast, {speedup['low']:.2f} to {speedup['high']:.2f}",
    }
    assert document(result).best_speedup() == speedup["low"]
    for text in (terminal, html, report["summary"]["text"]):
        assert "1 of 1" in text
    assert "4 -> 2 MiB" in terminal
    assert "<b>0.50x</b><span>the memory, by the compiler: step</span>" in html


def test_every_edit_of_the_source_is_counted_alike() -> None:
    """A program that failed and now runs has no figures; it is proven all the same, in each form."""
    mended = to_plain(
        Result("step", "train.py", 3, None, "source:fix", Status.VERIFIED, "", "the program failed before")
    )
    terminal, html, report = texts(document(mended, timed(*noisy(1.0, 0.1))))
    assert "1 of 2 candidates proven." in terminal
    assert "<b>1 of 2</b>" in html
    assert report["summary"]["verified"] == 1


@pytest.mark.parametrize(
    ("low", "median", "high", "before", "agreeing", "claim"),
    [
        (1.02, 1.05, 1.08, 20.0, 1.0, Claim.BETTER),
        (1.02, 1.05, 1.08, 0.5, 1.0, Claim.NONE),  # short calls are noisier
        (0.99, 1.30, 1.60, 20.0, 1.0, Claim.NONE),
        (1.10, 1.30, 1.60, 20.0, 0.8, Claim.NONE),
        (0.60, 0.70, 0.80, 20.0, 1.0, Claim.WORSE),
        (0.60, 0.70, 1.01, 20.0, 1.0, Claim.NONE),
    ],
)
def test_what_the_times_of_calls_say(
    low: float, median: float, high: float, before: float, agreeing: float, claim: Claim
) -> None:
    change = between_calls(median, low, high, before, before / median, agreeing)
    assert change.claim is claim
    assert ("no difference" in change.text) == (claim is Claim.NONE) == ("not clear" in change.cell)
    assert change.factor == (1.0 if claim is Claim.NONE else median)


@pytest.mark.parametrize(
    ("low", "high", "pairs", "text"),
    [
        (1.5, 2.5, 3, "2.00x less memory, 1.50 to 2.50"),
        (1.05, 2.5, 3, "no difference in memory beyond noise: 1.05 to 2.50 times less"),
        (1.5, 2.5, 1, "no difference in memory beyond noise: 1.50 to 2.50 times less, measured only once"),
    ],
)
def test_what_runs_of_programs_say(low: float, high: float, pairs: int, text: str) -> None:
    assert between_runs("memory", pairs, 2.0, low, high).text == text


@pytest.mark.parametrize(
    ("ratio", "what", "claim"),
    [(2.6, "time", Claim.BETTER), (2.4, "time", Claim.NONE), (2.6, "memory", Claim.NONE)],
)
def test_a_single_pair_shows_a_gain_in_time_that_is_large(ratio: float, what: str, claim: Claim) -> None:
    found = between_runs(what, 1, ratio, ratio, ratio)
    assert found.claim is claim
    assert found.text.endswith(", measured only once")


def test_what_takes_more_is_told_as_more() -> None:
    assert between_runs("memory", 3, 0.5, 0.4, 0.8).text == "2.00x more memory, 1.25 to 2.50"


def test_bytes_are_counted_and_programs_measured() -> None:
    planned = timed(*noisy(1.0, 0.1), peaks=(4 * MIB, 2 * MIB))
    memory = gain_of(planned).memory
    assert memory is not None
    assert (memory.exact, memory.kind, memory.better) == (True, "compiler", True)
    spread = to_plain({"memory": Interval(2.0, 0.9, 2.5), "compile": Interval(3.0, 2.9, 3.1)})
    whole = {**planned, "candidate": "source", "ratios": spread, "pairs": 3}
    gain = gain_of(whole)
    assert gain.memory is not None
    assert not gain.memory.better
    assert gain.compile is not None
    assert gain.compile.better
    _, html, _ = texts(document(whole))
    assert "the memory" not in html  # the resident set of one run is no gain
    assert "0.50x" not in html.split("Candidates")[0].split("What is proven")[0]


def test_the_best_is_chosen_by_what_may_be_claimed() -> None:
    loud = timed(*noisy(1.9, 1.5, seed=5), peaks=(4 * MIB, 2 * MIB), candidate="loud")
    quiet = timed(*noisy(1.2, 0.01), peaks=(4 * MIB, 2 * MIB), candidate="quiet")
    assert loud["speedup"]["median"] > quiet["speedup"]["median"]
    best = best_of([loud, quiet])
    assert best is not None
    assert best["candidate"] == "quiet"


def test_the_words_stand_in_one_place() -> None:
    """Whatever prints a ratio of times asks `gain`: no other module words one."""
    root = Path(__file__).resolve().parents[3] / "runtime" / "jaxlint_runtime"
    wording = re.compile(
        r"""x as fast|beyond noise|\["speedup"\]\["(?:median|low|high)"\]|speedup\.(?:median|low|high)"""
    )
    own = {"gain.py", "paired_timing.py"}
    said = [
        f"{path.name}: {line.strip()}"
        for path in root.rglob("*.py")
        if path.name not in own
        for line in path.read_text().splitlines()
        if wording.search(line)
    ]
    assert said == []


def test_kilobytes_do_not_pay_for_other_values() -> None:
    before, after = noisy(1.0, 0.001)
    for tolerance, peak, claim in (
        (0.0, 2**17, Claim.BETTER),
        (3e-5, 2**17, Claim.BETTER),
        (3e-2, 2**17, Claim.NONE),
        (3e-2, 4 * MIB, Claim.BETTER),
    ):
        found = timed(before, after, (peak, peak // 2)) | {"numerics": {"tolerance": tolerance}}
        memory = gain_of(found).memory
        assert memory is not None
        assert memory.claim is claim, (tolerance, peak)
