"""The picture for places without a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import workbench as wb
from tests.factories import results as examples
from tests.factories.comparisons import comparison, drawn_run, failed, ordinary, run, with_sample
from tests.factories.records import write_bundle
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.drawing.latency import latency_figure
from workbench.drawing.latency_scene import latency_scene
from workbench.drawing.still import main
from workbench.drawing.strips import latency_data

SVG = "{http://www.w3.org/2000/svg}"


def latency_svg(record: ComparisonRecord) -> str:
    return latency_scene(record).to_svg()


def written(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def medians(svg: str) -> list[str]:
    return [text for text in written(svg) if re.fullmatch(r"[\d.]+ ms", text)]


def samples(svg: str) -> int:
    return sum(element.get("rx") is not None for element in ElementTree.fromstring(svg).iter(f"{SVG}rect"))


def test_the_verdict_every_sample_and_the_medians() -> None:
    svg = latency_svg(ordinary())
    assert "B is 1.83× faster (95 % CI 1.79 to 1.88)" in written(svg)
    assert medians(svg) == ["1.99 ms", "1.10 ms"]
    assert samples(svg) == sum(row.drawn for row in latency_data(ordinary()).rows)


def test_a_failed_run_has_words_and_no_sample() -> None:
    svg = latency_svg(comparison(drawn_run("A", 0.002), failed("B", "no such kernel")))
    assert "failed at load: no such kernel" in written(svg)
    assert len(medians(svg)) == 1


def test_too_few_samples_have_words_and_no_median() -> None:
    svg = latency_svg(comparison(drawn_run("A", 0.002), run("B", [[[0.001, 0.002]]])))
    assert "no median: not enough samples: 2 of 5" in written(svg)
    assert len(medians(svg)) == 1


def test_samples_beyond_the_99th_percentile_are_counted_at_the_edge() -> None:
    record = comparison(drawn_run("A", 0.002), with_sample(drawn_run("B", 0.002), 0.5))
    beyond = f"{latency_data(record).rows[1].beyond} more, up to 500 ms"
    assert beyond in written(latency_svg(record))
    figure = latency_figure(record)
    assert beyond in [mark.text for mark in figure.layout.annotations]
    p99_ms = max(row.estimates[2].value for row in latency_data(record).rows) * 1e3
    assert figure.layout.xaxis.range[1] == pytest.approx(p99_ms, rel=0.005)


def test_from_a_bundle_on_the_command_line(tmp_path: Path) -> None:
    bundle = write_bundle(ordinary(), tmp_path / "tiny.ortbench")
    target = tmp_path / "picture.svg"
    command = [sys.executable, "-m", "workbench.drawing.still", str(bundle), "-o", str(target)]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (said.stdout, said.stderr) == ("", "")
    assert target.read_text() == latency_svg(ordinary())
    assert main([str(bundle), "-o", str(tmp_path / "picture.png")]) == 0
    assert (tmp_path / "picture.png").read_bytes() == latency_scene(ordinary()).to_png()


def test_a_bundle_that_is_none_is_refused_with_a_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.ortbench"
    broken.write_bytes(b"nothing")
    assert main([str(broken), "-o", str(tmp_path / "picture.svg")]) == 2
    assert "Fix: " in capsys.readouterr().err
    assert not (tmp_path / "picture.svg").exists()


def test_a_result_of_another_kind_is_no_damaged_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    levels = wb.Levels(examples.levels()).save(tmp_path / "levels.ortbench")
    assert main([str(levels), "-o", str(tmp_path / "picture.svg")]) == 2
    assert "Fix: wb.open(path) opens every kind" in capsys.readouterr().err


def test_a_picture_of_another_format_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = write_bundle(ordinary(), tmp_path / "tiny.ortbench")
    with pytest.raises(SystemExit):
        main([str(bundle), "-o", str(tmp_path / "picture.jpg")])
    assert "neither a .png nor a .svg file" in capsys.readouterr().err
    assert not (tmp_path / "picture.jpg").exists()


def test_plotly_and_onnxruntime_are_not_needed() -> None:
    heavy = "{'plotly', 'pandas', 'onnxruntime'}"
    code = f"import sys, workbench.drawing.still; print(sorted({heavy} & {{*sys.modules}}))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
