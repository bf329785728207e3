"""The JSON forms of results and costs have the keys of the records that they come from."""

from __future__ import annotations

import dataclasses

import pytest

from jaxlint_runtime import model
from jaxlint_runtime.protocol import report_forms

PAIRS = [
    (report_forms.IntervalJson, model.Interval),
    (report_forms.CostJson, model.Cost),
    (report_forms.NumericsJson, model.Numerics),
    (report_forms.ResultJson, model.Result),
]


@pytest.mark.parametrize(("form", "record"), PAIRS, ids=lambda one: one.__name__)
def test_a_form_has_the_keys_of_its_record(form: type, record: type) -> None:
    written_later = {"gain"}
    fields = {field.name for field in dataclasses.fields(record)}
    assert set(form.__annotations__) - written_later == fields
