"""Plugin execution providers: found, measured, explained, deployed, shared; and refused with a reason."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest
from numpy.random import mtrand

import workbench as wb
from tests.core.models import tiny
from tests.core.worker.harness import interpreter
from workbench.core.errors import StorageError
from workbench.core.plugin_packages import plugin_packages
from workbench.drawing.palette import style_of_provider
from workbench.features.doctor import survey

HAS_WHEEL = (sys.platform, platform.machine()) == ("linux", "x86_64")
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(
        (sys.platform, platform.machine()) != ("linux", "x86_64"),
        reason="its wheel is for x86-64 Linux alone",
    ),
]
PLUGIN = wb.Config(providers=[wb.Provider("cpu_ep", library="auto"), "cpu"])


def write_package(folder: Path, words: str) -> None:
    """Write a package of a plugin without a library."""
    (folder / "some_ep").mkdir()
    (folder / "some_ep" / "__init__.py").write_text(f"def get_library_path():\n    {words}\n")
    info = folder / "some_ep-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: some-ep\nVersion: 1\nSummary: for Intel NPUs, not intelligent ones\n"
    )
    (info / "RECORD").write_text("some_ep/__init__.py,,\n")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save(tiny.mlp(), tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def result(model: Path) -> wb.Comparison:
    return wb.compare(model, wb.Config(), PLUGIN, budget_s=2, progress=False, keep=False)


def test_an_installed_plugin_takes_part_in_a_comparison(result: wb.Comparison) -> None:
    run = result.runs[1]
    assert run.failure is None
    assert run.providers == ("cpu_ep", "CPUExecutionProvider")
    assert dict(run.nodes_on)["cpu_ep"] == 3
    assert "knows none of its options" in str(result)


def test_a_policy_chooses_the_device_and_the_run_says_which(model: Path) -> None:
    chosen = wb.Config(device_policy="prefer_cpu")
    plugin = chosen.replace(providers=[wb.Provider("cpu_ep", library="auto")])
    compared = wb.compare(model, wb.Config(), chosen, plugin, budget_s=2, progress=False, keep=False)
    assert [run.failure for run in compared.runs] == [None] * 3
    assert [run.providers[0] for run in compared.runs[1:]] == ["CPUExecutionProvider", "cpu_ep"]
    assert "cpu_ep" in str(wb.explain(model, plugin, keep=False))
    assert "OrtExecutionProviderDevicePolicy.PREFER_CPU" in plugin.to_python(model)
    with pytest.raises(wb.WorkbenchError, match="lets ORT choose"):
        chosen.replace(providers=["cpu"])


@pytest.mark.slow
def test_its_nodes_are_placed_coloured_and_profiled(model: Path, tmp_path: Path) -> None:
    explained = wb.explain(model, PLUGIN, keep=False)
    assert set(explained.placement.to_frame()["provider"]) == {"cpu_ep"}
    assert "cpu_ep" in str(explained)
    page = explained.export_html(tmp_path / "explained.html").read_text("utf-8")
    assert style_of_provider("cpu_ep").color in page
    assert style_of_provider("cpu_ep") != style_of_provider("cpu")
    assert len(wb.profile(model, PLUGIN, budget_s=0.2, keep=False).to_frame())


@pytest.mark.slow
@pytest.mark.parametrize("library", ["auto", "its file"])
def test_script_and_deployment_register_it(model: Path, library: str, tmp_path: Path) -> None:
    (package,) = (each for each in plugin_packages() if each.module == "nxrt_ep_cpu")
    if library != "auto":
        library = package.library()
    config = PLUGIN.replace(providers=[wb.Provider("cpu_ep", library=library), "cpu"])
    script = tmp_path / "script.py"
    script.write_text(config.to_python(model), "utf-8")
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert "providers in effect: ['cpu_ep', 'CPUExecutionProvider']" in ran.stdout
    deployed = wb.deploy(model, config, tmp_path / "server")
    required = (tmp_path / "server" / "requirements.txt").read_text("utf-8")
    assert (package.requirement in required) == (library == "auto")
    assert "outputs equal" in str(deployed.check((1,), rounds=3, block_s=0.2, progress=False))


@pytest.mark.slow
def test_a_script_that_saves_its_graph_registers_a_plugin_once(model: Path) -> None:
    for form in ("onnx", "compiled"):
        text = PLUGIN.replace(saved_graph=form).to_python(model)
        assert text.count("ort.register_execution_provider_library('nxrt_ep_cpu'") == 1
        compile(text, "script.py", "exec")
    assert PLUGIN.to_python(model).count("ort.register_execution_provider_library('nxrt_ep_cpu'") == 1


def test_a_script_of_another_environment_registers_that_environments_packages(
    model: Path, tmp_path: Path
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    write_package(packages, "OTHER_EP = 'register_execution_provider_library'")
    python = interpreter(tmp_path, f'PYTHONPATH="{packages}" exec "$PYTHON" "$@"')
    assert "import some_ep  # some-ep==1" in PLUGIN.replace(runtime=python).to_python(model)
    assert "some_ep" not in PLUGIN.to_python(model)


def test_a_full_disk_is_a_plugins_reason_in_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> tuple[str, ...]:
        raise StorageError("the disk is full", "free some space")

    monkeypatch.setattr("workbench.features.doctor.plugin_devices", full)
    problems = {plugin.problem for plugin in wb.doctor().survey.plugins}
    assert problems == {"the disk is full"}


def test_where_it_is_not_installed_its_bundle_opens_and_shows_it(
    result: wb.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = result.save(tmp_path / "with-plugin.ortbench")
    monkeypatch.setitem(sys.modules, "nxrt_ep_cpu", None)  # importing it fails
    monkeypatch.setattr(metadata, "distributions", lambda **_: ())
    assert plugin_packages() == ()
    with pytest.warns(UserWarning, match="until you trust them"):
        reopened = wb.open(file)
    assert dict(reopened.runs[1].nodes_on)["cpu_ep"] == 3
    assert "cpu_ep" in str(reopened)
    assert "cpu_ep" in reopened.export_html(tmp_path / "page.html").read_text("utf-8")


def test_a_strangers_library_is_shown_and_not_registered(result: wb.Comparison, tmp_path: Path) -> None:
    file = result.save(tmp_path / "with-plugin.ortbench")
    with pytest.warns(UserWarning, match="until you trust them"):
        reopened = wb.open(file)
    assert [(path.option, path.value) for path in reopened.foreign_paths] == [("library", "auto")]
    assert "cpu_ep" in str(reopened.runs[1].config)
    with pytest.raises(wb.WorkbenchError, match="which no run uses"):
        wb.measure("digits-conv", reopened.runs[1].config, keep=False, progress=False)


@pytest.mark.parametrize(
    ("name", "library", "reason"),
    [
        ("cpu_ep", "/nowhere/plugin.so", "cannot open shared object file"),
        ("another", "auto", "nxrt-ep-cpu==0.1.0.dev6 offers cpu_ep"),
    ],
)
def test_a_library_that_does_not_offer_it_is_refused(
    model: Path, name: str, library: str, reason: str
) -> None:
    config = PLUGIN.replace(providers=[wb.Provider(name, library=library)])
    compared = wb.compare(model, wb.Config(), config, budget_s=0.2, progress=False, keep=False)
    failure = compared.runs[1].failure
    assert failure is not None
    assert reason in failure.problem
    assert "workbench doctor" in failure.fix


def test_a_package_that_is_broken_does_not_hide_another(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_ep").mkdir()
    source = "def get_library_path():\n    raise OSError('execution_provider_library is lost')\n"
    (tmp_path / "broken_ep" / "__init__.py").write_text(source)
    info = tmp_path / "broken_ep-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken_ep\nVersion: 1\n")
    (info / "RECORD").write_text("broken_ep/__init__.py,,\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    absent = PLUGIN.replace(providers=[wb.Provider("another", library="auto")])
    compared = wb.compare(model, PLUGIN, absent, budget_s=0.2, progress=False, keep=False)
    assert compared.runs[0].failure is None
    assert "broken_ep==1 cannot be used: execution_provider_library is lost" in str(compared.runs[1].failure)


def test_a_library_that_is_no_plugin_is_refused_and_a_broken_one_ends_its_worker(
    model: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "plugin.so"
    (package,) = (each for each in plugin_packages() if each.module == "nxrt_ep_cpu")
    broken.write_bytes(Path(package.library()).read_bytes()[:4096])
    for file, reason in ((mtrand.__file__, "CreateEpFactories"), (broken, "worker process ended")):
        config = PLUGIN.replace(providers=[wb.Provider("cpu_ep", library=str(file))])
        compared = wb.compare(model, wb.Config(), config, budget_s=0.2, progress=False, keep=False)
        assert compared.verdict.kind == "unknown"
        assert reason in str(compared.runs[1].failure)


def test_the_doctor_says_what_each_installed_plugin_offers() -> None:
    report = wb.doctor()
    (plugin,) = (each for each in report.survey.plugins if each.package.startswith("nxrt-ep-cpu"))
    assert plugin.devices[0].startswith("cpu_ep: CPU of")
    assert plugin.package in str(report)
    nowhere = replace(plugin, devices=(), vendors=("Intel",))
    absent = replace(report, survey=replace(report.survey, plugins=(nowhere,)))
    assert "registered; it has no device here; its package names Intel" in str(absent)
    assert survey(report.machine).plugins == report.survey.plugins


def test_the_default_space_of_a_search_tries_it(model: Path) -> None:
    (axis,) = (axis for axis in wb.default_space(model).axes if axis.name == "providers")
    assert PLUGIN in axis.options


def test_what_if_says_how_to_see_it_run(model: Path) -> None:
    explained = wb.explain(model, keep=False)
    with pytest.raises(wb.WorkbenchError, match=r'Provider\("cpu_ep", library="auto"\)'):
        explained.what_if("cpu_ep")


def test_the_vendors_that_a_package_names_are_read_from_its_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_package(tmp_path, "'for register_execution_provider_library'")
    monkeypatch.syspath_prepend(str(tmp_path))
    vendors = {package.requirement: package.vendors for package in plugin_packages()}
    assert vendors["some-ep==1"] == ("Intel",)


def test_outputs_of_a_plugin_that_rounds_differ_by_a_number(model: Path) -> None:
    library = os.environ.get("WORKBENCH_GGML")
    if library is None:
        assert not os.environ.get("CI"), "continuous integration names the library"
        pytest.skip("WORKBENCH_GGML names no library")
    config = PLUGIN.replace(providers=[wb.Provider("ggml", library=library), "cpu"])
    compared = wb.compare(model, wb.Config(), config, budget_s=0.2, progress=False, keep=False)
    assert compared.verdict.kind == "outputs differ"
    assert "error" in compared.verdict.reason
