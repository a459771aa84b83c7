"""The command line without measuring: what it asks of the package, and what it prints."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.models import tiny
from tests.factories import records
from tests.factories import results as examples
from tests.factories.comparisons import comparison, ordinary
from workbench.apps.cli import main, parser
from workbench.apps.cli.showing import table
from workbench.apps.cli.text import columns, in_full


@pytest.fixture(scope="module")
def result() -> wb.Comparison:
    """Return a comparison made by hand, with a doubt."""
    baseline, candidate = ordinary().runs
    record = comparison(baseline, replace(candidate, config=wb.Config(level="disabled")))
    return wb.Comparison(replace(record, doubts=records.comparison().doubts))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, result: wb.Comparison) -> dict[str, Any]:
    """What `compare` was called with."""
    calls: dict[str, Any] = {}

    @wraps(wb.compare)  # the command's options follow from its signature
    def compare(model: Any, *configs: wb.Config, **options: Any) -> wb.Comparison:
        calls.update(options, model=model, configs=configs)
        return result

    monkeypatch.setattr("workbench.features.compare.call.compare", compare)
    return calls


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Fix: " in captured.err
    return captured.err


def test_settings_become_configs(asked: dict[str, Any], model: str) -> None:
    configs = "--a level=basic --b level=all --b intra_op_threads=2 --c intra_op_threads=1"
    options = "--budget 3 --smallest-effect 2% --pacing 0.01 --seed 7 --no-history"
    assert main(["compare", model, *configs.split(), *options.split()]) == 0
    assert asked["configs"] == (
        wb.Config(level="basic"),
        wb.Config(level="all", intra_op_threads=2),
        wb.Config(intra_op_threads=1),
    )
    names = ("budget_s", "smallest_effect", "pacing_s", "seed", "keep", "progress")
    assert [asked[name] for name in names] == [3.0, 0.02, 0.01, 7, False, False]


def test_defaults_are_the_packages_own(asked: dict[str, Any], model: str) -> None:
    assert main(["compare", model, "--b", "level=disabled"]) == 0
    assert asked["configs"][0] == wb.Config()
    names = ("smallest_effect", "seed", "keep")
    assert [asked[name] for name in names] == [0.01, 0, True]
    assert not {"budget_s", "pacing_s", "inputs"} & {*asked}, "the call has its defaults"


def test_the_text_has_verdict_table_outputs_and_doubts(
    asked: dict[str, Any], model: str, result: wb.Comparison, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked == {}
    assert main(["compare", model, "--b", "level=disabled"]) == 0
    text = capsys.readouterr().out
    assert text == in_full(result.record) + "\n"
    assert result.verdict.kind in text.splitlines()[0]
    assert "level=disabled" in text
    assert "agrees" in text
    for doubt in result.doubts:
        assert doubt.evidence in text
        assert doubt.fix in text


def test_json_has_every_sample(
    asked: dict[str, Any], model: str, result: wb.Comparison, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked == {}
    assert main(["compare", model, "--b", "level=disabled", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["id"] == result.record.id
    assert printed["verdicts"][0]["kind"] == result.verdict.kind
    assert printed["runs"][1]["config"] == {"level": "disabled"} | printed["runs"][1]["config"]
    blocks = [block for process in printed["runs"][0]["processes"] for block in process["blocks"]]
    expected = [block for process in result.runs[0].processes for block in process.blocks]
    assert [block["samples_s"] for block in blocks] == [list(block.samples_s) for block in expected]


def test_saving_and_showing(
    asked: dict[str, Any], model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked == {}
    bundle = tmp_path / "one.ortbench"
    assert main(["compare", model, "--b", "level=disabled", "-o", str(bundle)]) == 0
    first = capsys.readouterr()
    assert str(bundle) in first.err
    assert main(["show", str(bundle)]) == 0
    assert capsys.readouterr().out == first.out


@pytest.mark.usefixtures("own_home")
def test_the_history_lists_shows_and_deletes(
    result: wb.Comparison, capsys: pytest.CaptureFixture[str]
) -> None:
    wb.history().add(result.record)
    assert main(["history", "--most", str(10**30)]) == 0
    assert result.record.id in capsys.readouterr().out
    assert main(["show", result.record.id]) == 0
    assert capsys.readouterr().out == in_full(result.record) + "\n"
    assert main(["history", "--delete", result.record.id]) == 0
    capsys.readouterr()
    assert main(["history", "--model", result.record.model.sha256]) == 0
    assert "nothing of a model" in capsys.readouterr().out
    assert main(["history"]) == 0
    assert "nothing yet" in capsys.readouterr().out


@pytest.mark.usefixtures("own_home")
def test_a_name_that_no_file_can_have_is_looked_up_in_the_history(capsys: pytest.CaptureFixture[str]) -> None:
    assert "The history has no record" in refused(capsys, "show", "x" * 300)


def test_samples_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["samples"]) == 0
    text = capsys.readouterr().out
    for name in wb.samples()["name"]:
        assert name in text


def test_errors_name_the_fault_and_the_fix(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = refused(capsys, "compare", model)
    assert "nothing to compare" in alone
    assert f"workbench compare {shlex.quote(model)} --b" in alone, "an example with the model that was named"
    assert "no model was given" in refused(capsys, "compare")
    assert "levl" in refused(capsys, "compare", model, "--b", "levl=all")
    assert "absent.onnx" in refused(capsys, "compare", "absent.onnx", "--b", "level=all")
    assert "batch" in refused(capsys, "compare", model, "--b", "level=all", "--dim", "batch")
    assert "absent.ortbench" in refused(capsys, "show", str(tmp_path / "absent.ortbench"))
    assert "no-such-id" in refused(capsys, "show", "no-such-id")
    given = tmp_path / "given.npz"
    np.savez(given, x=np.zeros((1, 8), np.float32))
    both = ["compare", model, "--b", "level=all", "--npz", str(given), "--dim", "n=1"]
    assert "--npz and --dim" in refused(capsys, *both)


@pytest.mark.parametrize("command", ["compare", "load-test", "decode"])
@pytest.mark.parametrize("gap", ["--c level=all", "--b level=all --d level=basic"])
def test_a_candidate_keeps_its_letter(
    model: str, command: str, gap: str, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(capsys, command, model, *gap.split())
    assert f"--{gap.split()[-2][2:]} was given without --" in message


@pytest.mark.parametrize("seed", ["-1", str(2**63)])
def test_a_seed_that_nothing_takes_is_refused(
    model: str, seed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"seed={seed}" in refused(capsys, "compare", model, "--b", "level=all", "--seed", seed)


@pytest.mark.parametrize("name", ["seed", "source", "self", "model"])
def test_an_axis_may_have_any_name(
    asked: dict[str, Any], model: str, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"'{name}'" in refused(capsys, "compare", model, "--b", "level=all", "--dim", f"{name}=8")
    proto = tiny.mlp()
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
    named = str(tiny.save(proto, tmp_path))
    assert main(["compare", named, "--b", "level=all", "--dim", f"{name}=3"]) == 0
    assert asked["inputs"].feeds[0]["x"].shape[0] == 3


@pytest.mark.real
def test_compare_more_goes_on_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tiny.save(tiny.mlp(), tmp_path))
    first, second = (str(tmp_path / name) for name in ("first.ortbench", "second.ortbench"))
    quick = ["--budget", "2", "--no-history", "--quiet"]
    assert main(["compare", model, "--b", "level=all", "-o", first, *quick]) == 0
    assert main(["compare", model, "--more", first, "-o", second, *quick]) == 0
    assert len(wb.open(second).runs[0].processes) > len(wb.open(first).runs[0].processes)
    capsys.readouterr()
    assert main(["compare", "--more", first, *quick]) == 2
    assert "does not hold its model" in capsys.readouterr().err
    assert main(["compare", model, "--more", first, "--b", "level=all", *quick]) == 2
    assert "leave out its settings" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ignored", "name"),
    [
        (["other.onnx"], "further model files"),
        (["--dim", "batch=2"], "--dim"),
        (["--clock", "cpu"], "--clock"),
        (["--seed", "3"], "--seed"),
        (["--smallest-effect", "2%"], "--smallest-effect"),
        (["--pacing", "0.1"], "--pacing"),
        (["--ignore-outputs"], "--ignore-outputs"),
    ],
)
def test_what_a_comparison_that_goes_on_would_ignore_is_refused(
    ignored: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "digits-conv", *ignored, "--more", "first.ortbench"]) == 2
    assert f"{name} cannot be changed with --more" in capsys.readouterr().err


@pytest.mark.parametrize("line", [["--more", "first.ortbench"], ["--b", "level=all"]], ids=" ".join)
def test_sizes_of_inputs_need_a_model(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *line, "--dim", "batch=2"]) == 2
    assert "--dim is for a model, and none was given" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["measure"], ["compare", "m", "--seed", "x"]])
def test_unusable_arguments_exit_as_programs_do(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert "Fix: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "problem", "fix"),
    [
        ("compar digits-conv", "'compar' is no command", "Did you mean 'compare'?"),
        ("measure digits-conv --budgt 1", "measure: takes no '--budgt' here", "Did you mean '--budget'?"),
        ("compare m --clock gpu", "compare: 'gpu' is no --clock", "Did you mean 'cpu'?"),
        ("compare a.onnx --b level=all b.onnx", "compare: takes no 'b.onnx' here", "before the options"),
        ("check m --against m --max-slower -1", "--max-slower: '-1' is no share", "check --help"),
        ("measure m --csv --json", "--json: not allowed with argument --csv", "measure --help"),
        ("accuracy m --max-accuracy-drop 0", "--max-accuracy-drop judges candidates", "--b level=all"),
        ("decode m --prompt 8 --prompt 16", "--prompt was given twice", "give it once"),
        ("measure digits-conv --dim batch=1 --dim batch=2", "'batch' is given twice", "sweep"),
        ("schema measurment", "'measurment' is no kind of result", "Did you mean 'measurement'?"),
        ("show a b", "show: takes no 'b' here", "`workbench show --help` lists what it takes"),
        ("history --most -1", "--most -1 is no number", "1 or more"),
        ("why-slower nowhere.ortbench", "'nowhere.ortbench' cannot be opened", "Correct the path"),
        ("matrix m --fail-if slower", "--fail-if judges candidates", "--b level=all"),
    ],
)
def test_a_wrong_argument_is_named_with_its_fix(
    line: str, problem: str, fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    message = capsys.readouterr().err
    assert problem in message
    assert fix in message.partition("Fix: ")[2]
    assert ("side by side" in message) == (fix == "before the options")


def test_every_option_says_what_it_is() -> None:
    (group,) = (action for action in parser()._actions if isinstance(action.choices, dict))
    for name, command in group.choices.items():
        command.complete()
        silent = [action.dest for action in command._actions if action.help in (None, "", "may be repeated")]
        assert not silent, name


def test_a_text_that_names_no_model_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert "No model was named" in refused(capsys, "measure", "")


def test_published_files_say_why_they_do_not_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = examples.every_kind()["published files"].save(tmp_path / "published.ortbench")
    message = refused(capsys, "compare", "--more", str(saved))
    assert "of the kind 'published files', and only a comparison goes on" in message
    assert "ask again: workbench published" in message


def test_json_of_every_result_has_the_same_head(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("comparison", "measurement", "published files", "sweep"):
        saved = examples.every_kind()[kind].save(tmp_path / f"{kind}.ortbench")
        assert main(["show", str(saved), "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["kind"] == kind
        assert {"id", "created_utc", "model", "text", "rows"} <= answer.keys()


def test_columns_stand_under_each_other() -> None:
    assert list(columns([("a", "bb", "c", "d"), ("aa", "b", "cc", "dd")], texts=2)) == [
        " a  bb  c   d",
        "aa   b  cc  dd",
    ]


def test_what_is_absent_is_a_dash_in_columns_of_any_type() -> None:
    frame = pd.DataFrame({"a": [None, "x"], "b": [1.23456, None], "c": pd.array([None, 1 << 30], "Int64")})
    assert [line.split() for line in table(frame).splitlines()] == [
        ["a", "b", "c"],
        ["-", "1.23", "-"],
        ["x", "-", "1073741824"],
    ]


def test_a_load_test_takes_callers_sessions_and_rates(
    monkeypatch: pytest.MonkeyPatch, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.factories import results as examples

    calls: dict[str, Any] = {}

    @wraps(wb.load_test)
    def load_test(model: Any, *configs: wb.Config, **options: Any) -> wb.LoadTest:
        calls.update(options, model=model, configs=configs)
        return wb.LoadTest(examples.load_test(), examples.about())

    monkeypatch.setattr("workbench.features.load.call.load_test", load_test)
    path = tmp_path / "load.ortbench"
    options = f"--a level=all --callers 1,4 --sessions 1 --sessions 4+threads --rate 5,7.5 --csv -o {path}"
    assert main(["load-test", model, *options.split()]) == 0
    assert calls["configs"] == (wb.Config(level="all"),)
    assert (calls["callers"], calls["sessions"], calls["rate_hz"]) == ([1, 4], ["1", "4+threads"], [5.0, 7.5])
    assert capsys.readouterr().out.startswith("label,config,callers_are,sessions,shared,callers,rate_hz,")
    assert isinstance(wb.open(path), wb.LoadTest)
    assert main(["load-test", model]) == 0
    assert calls["configs"] == (wb.Config(),)
    assert "does not reach 900 requests/s" in capsys.readouterr().out


def test_a_deployment_whose_outputs_differ_is_saved_too(
    monkeypatch: pytest.MonkeyPatch, model: str, tmp_path: Path
) -> None:
    from tests.factories import results as examples

    record = examples.deployment()
    assert record.check is not None
    differs = replace(record.check.agreement[0], agrees=False)
    checked = wb.Deployment(
        replace(record, check=replace(record.check, agreement=(differs,))), examples.about()
    )
    monkeypatch.setattr("workbench.features.deploy.result.deploy", wraps(wb.deploy)(lambda *_, **__: checked))
    path = tmp_path / "check.ortbench"
    assert main(["deploy", model, str(tmp_path / "out"), "-o", str(path)]) == 1
    assert wb.open(path).record == checked.record


def test_no_text_of_a_csv_is_computed_by_a_spreadsheet(
    monkeypatch: pytest.MonkeyPatch, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.factories import results as examples

    record = examples.matrix()
    first, second, _ = record.places
    record = replace(record, places=(replace(first, model="=1+1"), second))
    made = wraps(wb.matrix)(lambda *_, **__: wb.Matrix(record, examples.about()))
    monkeypatch.setattr("workbench.features.grid.calls.matrix", made)
    assert main(["matrix", model, "--csv"]) == 0
    assert "\n'=1+1," in capsys.readouterr().out


def test_decoding_takes_a_prompt_and_tokens(
    monkeypatch: pytest.MonkeyPatch, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.factories import results as examples

    calls: dict[str, Any] = {}

    @wraps(wb.decode)
    def decode(model: Any, *configs: wb.Config, **options: Any) -> wb.Decoding:
        calls.update(options, model=model, configs=configs)
        return wb.Decoding(examples.decoding(), examples.about())

    monkeypatch.setattr("workbench.features.decode.call.decode", decode)
    assert main(["decode", model, "--b", "io_binding=true", "--prompt", "5", "--tokens", "3"]) == 0
    assert not {"batch", "prompt_lengths"} & {*calls}, "the call has its defaults"
    assert calls["configs"] == (wb.Config(), wb.Config(io_binding=True))
    assert (calls["prompt"], calls["tokens"], calls["budget_s"], calls.get("inputs")) == (5, 3, 60.0, None)
    assert "tokens/s" in capsys.readouterr().out
    calls.clear()
    assert main(["decode", model, "--csv", "--batch", "1,4", "--prompt-lengths", "8,16"]) == 0
    assert (calls["batch"], calls["prompt_lengths"], calls.get("prompt")) == ([1, 4], [8, 16], None)
    assert capsys.readouterr().out.startswith("label,config,cache,prompt,batch,first_token_s,")


def test_versions_are_compared_in_environments(
    monkeypatch: pytest.MonkeyPatch, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.factories import results as examples

    calls: dict[str, Any] = {}

    def compare_versions(
        model: Any, environments: Sequence[str | os.PathLike[str] | None], config: wb.Config, **options: Any
    ) -> wb.Versions:
        calls.update(options, model=model, environments=environments, config=config)
        return wb.Versions(examples.versions())

    monkeypatch.setattr("workbench.features.variants.versions.compare_versions", compare_versions)
    arguments = ["--environments", "/old", "--environments", "/new", "--a", "level=basic"]
    assert main(["compare-versions", model, *arguments]) == 0
    assert (calls["environments"], calls["config"]) == (["/old", "/new"], wb.Config(level="basic"))
    assert "ONNX Runtime 1.17.3, ort117" in capsys.readouterr().out
