"""ONNX Runtime GenAI as an engine of wb.decode: a folder made here, the same tokens, and what it refuses."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import workbench as wb
from tests.core.models import tiny
from tests.core.models.decoders import GENAI_CONFIG, grouped

pytestmark = pytest.mark.real
PROMPT = [3, 1, 4, 1, 5]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "genai_config.json").write_text(json.dumps(GENAI_CONFIG))
    return tiny.save(grouped(), tmp_path, "model.onnx")


@pytest.mark.slow
def test_it_decodes_the_tokens_of_a_session(model: Path, genai_python: str, tmp_path: Path) -> None:
    engine = wb.Engine("genai", threads=1).replace(runtime=genai_python)
    result = wb.decode(
        model, wb.Config(intra_op_threads=1), engine, prompt=PROMPT, tokens=8, budget_s=1, progress=False
    )
    session, genai = result.record.runs
    assert genai.failure is None, genai.failure
    assert genai.picked == session.picked
    assert (genai.providers, genai.io, genai.cache_bytes) == (("ONNX Runtime GenAI",), None, None)
    assert all(row.agrees for row in result.record.agreement)
    assert len(result.record.verdicts) == 2
    opened = wb.open(result.save(tmp_path / "genai.ortbench")).record
    assert [run.passes for run in opened.runs] == [run.passes for run in result.record.runs]
    print(result)

    script = tmp_path / "script.py"
    script.write_text(result.to_python(model, "B") + f"\n\nprint(decode({PROMPT}, 3))\n")
    done = subprocess.run([genai_python, script], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith(str([*PROMPT, *session.picked[:3]]))


@pytest.mark.slow
def test_it_says_what_it_cannot_do(model: Path, genai_python: str) -> None:
    engine = wb.Engine("genai").replace(runtime=genai_python)

    def failure(**options: int) -> str:
        result = wb.decode(
            model, wb.Config(), engine, prompt=4, tokens=2, budget_s=1, progress=False, **options
        )
        assert result.record.runs[1].failure is not None
        return result.record.runs[1].failure.problem

    assert "for one prompt alone" in failure(batch=2)
    model.with_name("genai_config.json").write_text("[]")
    assert "no genai_config.json that names a decoder" in failure()


def test_an_engine_that_is_not_installed_says_what_to_install(model: Path) -> None:
    result = wb.decode(model, wb.Config(), wb.Engine("genai"), prompt=4, tokens=2, budget_s=1, progress=False)
    failure = result.record.runs[1].failure
    assert failure is not None
    assert "no module for its engine" in failure.problem
    assert "onnxruntime-genai" in failure.fix
    assert result.record.runs[0].passes
