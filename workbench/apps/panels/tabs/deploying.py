"""Deploy from the panels: a folder with a server of one of the compared configs, and its check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.code import config_code, inputs_lines
from workbench.apps.panels.files import file_name
from workbench.apps.panels.handlers import buttons_of, error_to, follow
from workbench.apps.panels.jobs import Job
from workbench.apps.panels.request import Subject
from workbench.core.config import Config
from workbench.core.config.literals import literal, text_literal
from workbench.core.errors import ConfigError
from workbench.core.stored_files import folder_to_write
from workbench.drawing.markup import note_html

PROVEN = "improved"  # the config that an improvement proved
_KINDS = ("python", "triton")


class Deploying:
    """Which config, what kind of server, which folder; Deploy writes it, and starts a Python server once.

    The server gets the inputs and the calibration that the result was measured with.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.label = W.Dropdown(options=["A"], layout=W.Layout(width="64px"), tooltip="The config to serve")
        self.kind = W.Dropdown(options=_KINDS, layout=W.Layout(width="88px"), tooltip="What serves it")
        place = W.Layout(width="160px")  # the row stays one line of a small screen
        self.folder = W.TextField(
            placeholder="folder", tooltip="A new folder, beside the notebook", layout=place
        )
        self.fallback = W.Checkbox(
            value=False,
            description="fallback",
            indent=False,
            tooltip="Start without an execution provider that is missing; else the server refuses to start",
        )
        self.status = W.HTML()
        hint = "Write a server of this config; a Python one is started once, compared and measured"
        self.buttons = buttons_of(self.status, ("Deploy", hint, self.deploy))
        controls = (self.label, self.kind, self.folder, self.fallback, *self.buttons.values())
        self.row = W.HBox([W.HTML("Serve"), *controls], classes="wbp-actions")
        self.widget = W.VBox([self.row, self.status])
        follow(self.state, self._show, "result", "model", "job", "parts_made")

    def _show(self) -> None:
        labels = [*self.configs]
        ready = self.state.model is not None and self.state.job is None
        self.buttons["Deploy"].disabled = not ready or not labels
        if not labels:
            return
        if list(self.label.options) != labels:
            self.label.options = labels
            self.label.value = labels[-1]
        if not self.folder.value:
            named = self.state.model if self.state.result is None else self.state.result.record.model
            self.folder.value = f"{file_name(named.name)}-server"

    @property
    def configs(self) -> dict[str, Config]:
        """The configs that can be served: those that ran, and last the one that an improvement proved."""
        runs = () if self.state.result is None else self.state.result.runs
        configs = {run.label: run.config for run in runs if run.failure is None}
        for improvement in self.state.held_parts("improvement").values():
            if improvement.record.comparison is not None:
                configs[PROVEN] = improvement.config
        return configs

    def deploy(self, *, wait: bool = False) -> None:
        """Write the deployment in a job that can be cancelled."""
        config, kind = self.configs[self.label.value], self.kind.value
        subject = self.state.result_subject or self.bench.request().subject
        folder = folder_to_write(self.folder.value.strip() or "server")
        options = self._options(config, subject)

        def work(job: Job) -> Any:
            from workbench.features.deploy.result import deploy

            job.step("writing the server")
            inputs = subject.inputs()
            made = deploy(subject.model, config, folder, kind, inputs=inputs, cancel=job.cancel, **options)
            return made.check(progress=job.tell, cancel=job.cancel) if kind == "python" else made

        def written(deployment: Any) -> None:
            self.status.value = note_html(deployment) + note_html(code)

        code = deploy_code(subject, config, folder, kind, options)
        self.status.value = note_html("Deploying…")
        self.bench.write("Deploy", work, written, error_to(self.status), wait=wait)

    def _options(self, config: Config, subject: Subject) -> dict[str, Any]:
        """Return the keywords of `wb.deploy` that differ from their defaults, without the inputs."""
        callers, options = self._concurrency(config), dict[str, Any]()
        if subject.calibration:
            options["calibration"] = subject.calibration
        if self.fallback.value:
            options["fallback"] = True
        if callers != 1:
            options["concurrency"] = callers
        return options

    def _concurrency(self, config: Config) -> int:
        """Return the callers that a load test of this config found best; 1 where there is none."""
        loaded = self.state.whole_part("load test")
        try:
            return 1 if loaded is None else int(loaded.best_callers(config))
        except ConfigError:  # it is about other configs
            return 1


def deploy_code(subject: Subject, config: Config, folder: Path, kind: str, options: Mapping[str, Any]) -> str:
    """Return the call that writes the deployment, and checks it if it is a Python server."""
    arguments = ["model", config_code(config), text_literal(str(folder)), text_literal(kind)]
    arguments += [f"inputs={line.removeprefix('inputs = ')}" for line in inputs_lines(subject)]
    arguments += [f"{name}={literal(value)}" for name, value in options.items()]
    return f"wb.deploy({', '.join(arguments)}){'.check()' if kind == 'python' else ''}"
