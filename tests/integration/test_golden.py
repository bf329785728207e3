"""Findings in real packages are those on record, word by word. See `tests/helpers/golden.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.golden import PACKAGES, package_findings, record_of


@pytest.mark.parametrize("package", PACKAGES)
def test_findings_in_a_package_are_those_on_record(package: str, tmp_path: Path) -> None:
    record = record_of(package)
    if not record.exists():
        pytest.skip(f"{record.name} is not on record: another release is installed with this Python")
    assert package_findings(package, tmp_path) == record.read_text(encoding="utf-8").splitlines()
