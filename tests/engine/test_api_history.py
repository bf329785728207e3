"""What the engine knows of JAX's past, held against the installed JAX."""

from __future__ import annotations

import importlib
import inspect
import warnings

import jax
import pytest

from jaxlint.jaxapi.history import (
    NEWEST,
    Target,
    all_changes,
    keyword_changes,
    lookup,
    lookup_module,
    neighbour_changes,
)
from jaxlint.jaxapi.rewrites import call_parameters, rename_parameters
from jaxlint.jaxapi.versions import VersionError, parse_range, parse_version

INSTALLED = parse_version(jax.__version__)


def exists(qualified: str) -> bool:
    """Whether the installed JAX has the name, its module imported explicitly."""
    parts = qualified.split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for length in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join(parts[:length]))
            except Exception:  # optional dependencies of a module may be missing
                continue
            try:
                for part in parts[length:]:
                    found = getattr(found, part)
            except AttributeError:
                return False
            return True
    return False


def find(qualified: str):
    """The object of that name, None where the installed packages lack it."""
    module, _, leaf = qualified.rpartition(".")
    try:
        return getattr(importlib.import_module(module), leaf, None)
    except ImportError:
        return None


def test_what_is_gone_is_gone_and_what_is_to_go_is_there():
    wrong = []
    for change in all_changes():
        if change.form not in ("name", "module") or change.kind not in ("removed", "moved"):
            continue
        gone = parse_version(change.removed_in) <= INSTALLED
        # Modules whose own requirements are missing here cannot be told from those that went.
        if exists(change.name) and gone:
            wrong.append(change.name)
        if (
            not gone
            and not exists(change.name)
            and parse_version(change.deprecated_in or NEWEST) <= INSTALLED
        ):
            wrong.append(f"{change.name} is missing")
    assert not wrong


@pytest.mark.parametrize("specifier", [None, "0.10.2", ">=0.4.30", ">=0.4.10"])
def test_every_rewrite_leads_somewhere(specifier):
    target = Target.of(specifier)
    wrong = []
    count = 0
    for change in all_changes():
        if change.form not in ("name", "module") or not target.lacks(change):
            continue
        parameters = rename_parameters(change, target)
        if parameters is None:
            continue
        count += 1
        since = parse_version(change.since or "0")
        names = [name for name in (parameters["new"], parameters.get("alternative")) if name]
        wrong += [
            name for name in names if name.startswith("jax") and since <= INSTALLED and not exists(name)
        ]
        module = parameters.get("module")
        if module and since <= INSTALLED and not inspect.ismodule(importlib.import_module(module)):
            wrong.append(module)
    assert not wrong
    assert count > 100


def test_replacements_are_reachable_with_the_imports_that_the_rewrite_makes():
    """Without `module`, plain `import jax` must be enough; in a fresh interpreter, since imports add up."""
    import subprocess
    import sys

    names = {
        parameters["new"]
        for change in all_changes()
        if change.form in ("name", "module")
        and (parameters := rename_parameters(change, Target.of(None)))
        and parameters["new"].startswith("jax.")
        and not parameters.get("module")
        and parse_version(change.since or "0") <= INSTALLED
    }
    code = (
        "import jax, jax.numpy, warnings\nwarnings.simplefilter('ignore')\n"
        f"for name in {sorted(names)!r}:\n"
        "    found = jax\n"
        "    for part in name.split('.')[1:]:\n"
        "        found = getattr(found, part, None)\n"
        "    if found is None: print(name)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == ""
    assert len(names) > 30


def test_keywords_that_went_are_not_accepted():
    wrong = []
    for change in all_changes():
        if change not in keyword_changes(change.name) or not change.removed_in:
            continue
        if change.param == "kind":  # accepted, as long as it is None
            continue
        if parse_version(change.removed_in) > INSTALLED or not exists(change.name):
            continue
        module, _, leaf = change.name.rpartition(".")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = jax
            for part in [*module.split(".")[1:], leaf]:
                found = getattr(found, part)
        parameter = inspect.signature(found).parameters.get(change.param)
        if parameter is not None and type(parameter.default).__name__ == "DeprecatedArg":
            continue  # raises when anything is given
        if parameter is not None and parameter.kind in (
            parameter.POSITIONAL_OR_KEYWORD,
            parameter.KEYWORD_ONLY,
        ):
            wrong.append(f"{change.name}({change.param}=)")
    assert not wrong


def test_the_fifty_most_used_rows_have_a_way_out_or_a_word_of_advice():
    from jaxlint.jaxapi.history import describe_replacement

    rows = [change for change in all_changes() if change.kind != "recommendation"][:60]
    assert rows[0].name == "jax.tree_map"
    for change in rows:
        if change.form in ("name", "module"):
            assert lookup(change.name) is change
            assert describe_replacement(change)
    target = Target.of(None)
    rewritten = [change.name for change in rows if rename_parameters(change, target)]
    assert len(rewritten) >= 30


@pytest.mark.parametrize(
    ("specifier", "lacks", "warns"),
    [
        (None, True, False),
        ("0.10.2", True, False),
        ("0.4.30", False, True),
        ("0.4.20", False, False),
        (">=0.4.30", True, False),
        ("<0.6", False, True),
        ("<=0.6.0", True, False),
        ("<=0.6.0,<0.6.0", False, True),
        ("~=0.5.0", False, True),
        ("==0.5.*", False, True),
        (">0.4, <0.7", True, False),
        ("0.5.3rc1", False, True),
    ],
)
def test_the_target_decides(specifier, lacks, warns):
    change = lookup("jax.tree_map")  # deprecated in 0.4.26, removed in 0.6.0
    assert Target.of(specifier).lacks(change) is lacks
    assert Target.of(specifier).deprecates(change) is warns


def test_rewrites_only_to_what_every_targeted_version_has():
    change = lookup("jax.tree_map")  # jax.tree.map is there since 0.4.25
    assert rename_parameters(change, Target.of(None))["new"] == "jax.tree.map"
    assert rename_parameters(change, Target.of(">=0.4.25"))["new"] == "jax.tree.map"
    assert rename_parameters(change, Target.of(">=0.4.20"))["new"] == "jax.tree_util.tree_map"
    assert rename_parameters(change, Target.of("<0.7"))["new"] == "jax.tree_util.tree_map"
    shard_map = lookup("jax.experimental.shard_map.shard_map")
    assert rename_parameters(shard_map, Target.of(">=0.5")) is None


def test_a_replacement_that_went_too_is_followed():
    change = lookup("jax.xla")
    assert rename_parameters(change, Target.of(None))["new"] == "jax.interpreters.xla"
    gone = lookup("jax.interpreters.xla.pytype_aval_mappings")
    assert rename_parameters(gone, Target.of(None))["new"] == "jax.core.pytype_aval_mappings"


@pytest.mark.parametrize("bad", ["", "newest", "0.4 or so", ">=0.5,<0.4", "0.5,0.6"])
def test_bad_specifiers_are_said(bad):
    with pytest.raises(VersionError):
        parse_range(bad)


def test_names_in_modules_that_went():
    assert lookup("jax.experimental.maps.never_heard_of") is None
    assert lookup_module("jax.experimental.maps.never_heard_of").name == "jax.experimental.maps"
    assert lookup_module("jax.experimental.pallas.load") is None
    assert lookup_module("jax.numpy.sin") is None


def test_keyword_rewrites():
    target = Target.of(None)
    clip = [one for one in keyword_changes("jax.numpy.clip") if one.param in ("a_min", "a_max")]
    assert call_parameters("jax.numpy.clip", clip, target)["call"]["rename"] == {
        "a_min": "min",
        "a_max": "max",
    }
    assert call_parameters("jax.numpy.clip", clip, Target.of(">=0.4.20")) is None
    where = [one for one in keyword_changes("jax.numpy.where") if one.param in ("x", "y")]
    assert call_parameters("jax.numpy.where", where, target)["call"]["positional"] == ["x", "y"]
    assert keyword_changes("jax.numpy.sin") == ()


def test_neighbours():
    wrong = []
    for change in neighbour_changes():
        if change.form in ("name", "module") and (change.removed_in is not None) == exists(change.name):
            wrong.append(change.name)
        if change.form == "keyword" and (function := find(change.name)) is not None:
            if change.param in inspect.signature(function).parameters:
                wrong.append(f"{change.name}({change.param})")
        if change.form == "call" and (function := find(change.name)) is not None:
            made = function.__init__ if inspect.isclass(function) else function
            if inspect.signature(made).parameters[change.param].default is not inspect.Parameter.empty:
                wrong.append(f"{change.name}({change.param})")
        if change.replacement and not exists(change.replacement):
            wrong.append(change.replacement)
    assert not wrong
