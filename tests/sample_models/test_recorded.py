"""The recorded results open here, whatever machine they were made on; a stand-in claims nothing of a GPU."""

import pytest

import workbench as wb
from sample_models import FOLDER
from workbench.core.models.samples import sample_names

RECORDED = FOLDER / "recorded"
BUNDLES = sorted(path.name for path in RECORDED.glob("*.ortbench"))


def test_the_list_of_recordings_is_complete():
    listed = (RECORDED / "README.md").read_text(encoding="utf-8")
    assert BUNDLES
    assert all(f"`{name}`" in listed for name in BUNDLES)


STAND_INS = [name for name in BUNDLES if name.startswith("stand-in-")]
MOST_BYTES = 600_000  # of all together: they are in the wheel


@pytest.mark.parametrize("name", STAND_INS)
def test_a_stand_in_opens_is_drawn_and_ran_on_the_cpu(name):
    result = wb.open(RECORDED / name)
    assert str(result)
    assert len(result.to_frame())
    assert result.still() is not None
    record = getattr(result, "record", None)
    runs = getattr(getattr(record, "comparison", None) or record, "runs", ())
    for provider in {provider for run in runs for provider in run.providers}:
        assert not any(word in provider.casefold() for word in ("cuda", "tensorrt"))


def test_recordings_stay_small():
    assert sum((RECORDED / name).stat().st_size for name in BUNDLES) < MOST_BYTES


@pytest.mark.parametrize("name", sorted(set(BUNDLES) - set(STAND_INS)))
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
