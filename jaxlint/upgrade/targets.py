"""The releases to which a project moves."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jaxlint.config import ConfigError
from jaxlint.jaxapi.history import PACKAGES
from jaxlint.jaxapi.versions import Version, VersionError, parse_range, parse_version

_KNOWN = dict(PACKAGES.values())
_WANTED = re.compile(
    r"\s*(?P<package>[A-Za-z][\w.-]*)?\s*(?P<operator>===?|>=|~=)?\s*(?P<version>\d[\w.]*)?\s*$"
)


@dataclass(frozen=True, slots=True)
class Aim:
    """The target releases of one package: `low` to `newest`, as written."""

    package: str
    low: str
    newest: str

    @property
    def specifier(self) -> str:
        """The specifier for the migration rules."""
        return f"=={self.low}" if self.low == self.newest else f">={self.low},<={self.newest}"

    @property
    def lowest(self) -> Version:
        return parse_version(self.low)

    def __str__(self) -> str:
        return (
            f"{self.package} {self.low}"
            if self.low == self.newest
            else f"{self.package} {self.low} to {self.newest}"
        )


def aims(wanted: Iterable[str]) -> Mapping[str, Aim]:
    """Parses `jax==0.12`, `jax>=0.10`, `0.12` or `jax` to targets. Packages that are not named move to the newest
    known release.

    Raises ConfigError.
    """
    found = {package: Aim(package, newest, newest) for package, newest in _KNOWN.items()}
    for given in wanted:
        match = _WANTED.match(given)
        complete = match is not None and (
            (match["package"] and match["version"])
            or ((match["package"] or match["version"]) and not match["operator"])
        )
        if match is None or not complete:
            raise ConfigError(f"--to: {given!r} is not a release; write it like jax==0.12 or jax>=0.10")
        package = re.sub(r"[-_.]+", "-", match["package"] or "jax").lower()
        package = PACKAGES[package][0] if package in PACKAGES else package
        if package not in _KNOWN:
            close = difflib.get_close_matches(package, _KNOWN, n=1)
            hint = f"did you mean {close[0]}?" if close else f"the packages are {', '.join(sorted(_KNOWN))}"
            raise ConfigError(f"--to: there is no history of {package!r}; {hint}")
        if match["version"]:
            found[package] = _aim(package, match["operator"] or "==", match["version"])
    return found


def _aim(package: str, operator: str, version: str) -> Aim:
    newest = _KNOWN[package]
    try:
        parse_range(version)
        above = parse_version(version) > parse_version(newest)
    except VersionError as error:
        raise ConfigError(f"--to: {error}") from None
    if above:
        raise ConfigError(
            f"--to: {package} {version} is newer than {newest}, the newest release that is known"
        )
    return Aim(package, version, newest if operator in (">=", "~=") else version)
