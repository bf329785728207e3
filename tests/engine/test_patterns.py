"""Path patterns: those of a clone mean what they mean to git, and cost no more than reading them."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from jaxlint.source.patterns import PathPatterns, PatternError, read_ignore_file

PIECES = ["a", "b", "ab", "*", "**", "?", "[ab]", "[!a]", "/", "/**/", "\\*", ".", "*a*b"]
patterns = st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join)
paths = st.lists(st.text("ab.*", min_size=1, max_size=7), min_size=1, max_size=5).map("/".join)


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(patterns, st.lists(paths, min_size=1, max_size=5), st.booleans())
def test_they_mean_what_they_mean_to_pathspec(pattern: str, paths: list[str], folder: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = GitIgnoreSpec.from_lines([pattern])
        except ValueError:
            return
    ours = PathPatterns("/top", (pattern,))
    for path in paths:
        expected = plain.check_file(path + ("/" if folder else "")).include
        assert ours.decide(f"/top/{path}", folder=folder) == expected, (pattern, path)


NAMES = ["a", "ab", ".a", "a.b", "_a-b"]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
    st.lists(st.sampled_from([*NAMES, "b", "aa", "..a"]), min_size=1, max_size=4).map("/".join),
    st.booleans(),
)
def test_plain_names_are_matched_without_pathspec(names: list[str], path: str, folder: bool) -> None:
    ours = PathPatterns("/top", tuple(names))
    expected = GitIgnoreSpec.from_lines(names).check_file(path + ("/" if folder else "")).include
    assert ours.check().decide(f"/top/{path}", folder=folder) == expected
    assert "_spec" not in vars(ours)


DEEP = "/".join(["a"] * 400)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "b", "a" * 200),
        ("x/" + "*a?" * 30 + "b", "x/" + "a" * 200),
        ("**/a/" * 12 + "b", DEEP),
        ("a/**/" * 12 + "b/", DEEP),
        ("**/*a*a*a*a*b/" * 5 + "c", f"{'/'.join(['a' * 60] * 30)}"),
        ("*" * 900 + "b", "a" * 200),
    ],
)
def test_no_pattern_is_searched_for_in_all_ways(pattern: str, path: str) -> None:
    started = time.process_time()
    assert not PathPatterns("/top", (pattern,)).matches(f"/top/{path}")
    assert time.process_time() - started < 2


def test_a_file_of_patterns_that_mean_nothing_is_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(
        b"[z-a]\n" + b"[" * 50_000 + b"\n\xff\n" + b"(" * 50_000 + b"\nbuild/\n"
    )
    found = read_ignore_file(str(tmp_path))
    assert found is not None
    assert found.matches(str(tmp_path / "build"), folder=True)
    assert not found.matches(str(tmp_path / "source.py"))


def test_a_wrong_pattern_is_one_line() -> None:
    with pytest.raises(PatternError):
        PathPatterns("/top", ("x" * 2000,)).check()


def test_names_with_line_ends_are_matched_as_others(tmp_path: Path) -> None:
    excluded = PathPatterns("/top", ("build/", "*.gen.py"))
    assert excluded.matches("/top/a\nb/build", folder=True)
    assert excluded.matches("/top/a\nb/x.gen.py")
    assert not excluded.matches("/top/x.gen.py\n")
