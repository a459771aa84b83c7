"""The recorded comparisons open here, whatever machine they were made on."""

import pytest

import workbench as wb
from sample_models import FOLDER
from workbench.models.samples import sample_names

RECORDED = FOLDER / "recorded"
BUNDLES = sorted(path.name for path in RECORDED.glob("*.ortbench"))


def test_the_list_of_recordings_is_complete():
    listed = (RECORDED / "README.md").read_text(encoding="utf-8")
    assert BUNDLES
    assert all(f"`{name}`" in listed for name in BUNDLES)


@pytest.mark.parametrize("name", BUNDLES)
def test_a_recording_opens_and_is_of_a_sample(name):
    comparison = wb.open(RECORDED / name)
    assert comparison.record.model.name in sample_names()
    assert all(run.latency.samples_s for run in comparison.runs)


def test_the_quiet_recording_has_an_answer_and_the_busy_one_says_why_not():
    quiet, busy = (wb.open(RECORDED / f"digits-conv-{name}.ortbench") for name in ("cpu", "busy"))
    assert quiet.verdict.kind == "faster"
    assert quiet.verdict.low > 1.5
    assert busy.verdict.kind == "unknown"
    assert "other load" in {doubt.kind for doubt in busy.doubts}
