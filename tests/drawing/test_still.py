"""The picture for places without a browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.factories.comparisons import HOSTILE, comparison, drawn_run, failed, ordinary, run
from tests.factories.records import write_bundle
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.drawing.chart_scene import chart_scene
from workbench.drawing.still import latency_chart, main

SVG = "{http://www.w3.org/2000/svg}"


def latency_svg(record: ComparisonRecord) -> str:
    return chart_scene(latency_chart(record)).to_svg()


def written(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def bars(svg: str) -> list[float]:
    return [float(element.get("width", "")) for element in ElementTree.fromstring(svg).iter(f"{SVG}rect")]


def test_verdict_bars_and_figures() -> None:
    svg = latency_svg(ordinary())
    assert "B is 1.83× faster (95 % CI 1.79 to 1.88)" in written(svg)
    assert any(text.startswith("1.994 ms (") for text in written(svg))
    first, second = bars(svg)
    assert second / first == pytest.approx(1.102 / 1.994, rel=0.01)


def test_a_failed_run_has_words_and_no_bar() -> None:
    svg = latency_svg(comparison(drawn_run("A", 0.002), failed("B", "no such kernel")))
    assert "failed at load: no such kernel" in written(svg)
    assert len(bars(svg)) == 1


def test_nothing_clean_says_so() -> None:
    svg = latency_svg(comparison(drawn_run("A", 0.002), drawn_run("B", 0.002, aside=range(40))))
    assert "B the same config as A; all samples were disturbed by other work" in " ".join(written(svg))


def test_too_few_samples_have_words_and_no_bar() -> None:
    svg = latency_svg(comparison(drawn_run("A", 0.002), run("B", [[[0.001, 0.002]]])))
    assert "no median: not enough samples: 2 of 5" in written(svg)
    assert len(bars(svg)) == 1


def test_all_failed() -> None:
    assert bars(latency_svg(comparison(failed("A"), failed("B")))) == []


def test_a_strangers_text_stays_text() -> None:
    svg = latency_svg(comparison(drawn_run("A", 0.002), failed("B", HOSTILE), model=HOSTILE))
    tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
    assert tags == {"svg", "title", "text", "rect", "path"}
    assert any("</script><img" in text for text in written(svg))
    assert chart_scene(
        latency_chart(comparison(drawn_run("A", 0.002), failed("B", HOSTILE), model=HOSTILE))
    ).to_png()


def test_from_a_bundle_on_the_command_line(tmp_path: Path) -> None:
    bundle = write_bundle(ordinary(), tmp_path / "tiny.ortbench")
    target = tmp_path / "picture.svg"
    command = [sys.executable, "-m", "workbench.drawing.still", str(bundle), "-o", str(target)]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (said.stdout, said.stderr) == ("", "")
    assert target.read_text() == latency_svg(ordinary())
    assert main([str(bundle), "-o", str(tmp_path / "picture.png")]) == 0
    assert (tmp_path / "picture.png").read_bytes() == chart_scene(latency_chart(ordinary())).to_png()


def test_a_bundle_that_is_none_is_refused_with_a_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.ortbench"
    broken.write_bytes(b"nothing")
    assert main([str(broken), "-o", str(tmp_path / "picture.svg")]) == 2
    assert "Fix: " in capsys.readouterr().err
    assert not (tmp_path / "picture.svg").exists()


def test_plotly_and_onnxruntime_are_not_needed() -> None:
    heavy = "{'plotly', 'pandas', 'onnxruntime'}"
    code = f"import sys, workbench.drawing.still; print(sorted({heavy} & {{*sys.modules}}))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
