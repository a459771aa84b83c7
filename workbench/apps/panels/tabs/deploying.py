"""Deploy from the panels: a folder with a server of one of the compared configs, and its check."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import workbench as wb
from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.code import config_code, inputs_source
from workbench.apps.panels.handlers import buttons_of, error_to, follow
from workbench.apps.panels.jobs import Job
from workbench.apps.panels.request import Subject
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.form import Source, call_source
from workbench.core.stored_files import folder_to_write
from workbench.core.text import file_name
from workbench.drawing.markup import note_html

PROVEN = "improved"  # the config that an improvement proved
_KINDS = ("python", "triton")


class Deploying:
    """Which config, what kind of server, which folder; Deploy writes it, and starts a Python server once.

    The server gets the inputs and the calibration that the result was measured with.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        # their widths keep the row one line of a small screen
        self.label = W.Dropdown(options=["A"], layout=W.Layout(width="64px"), tooltip="The config to serve")
        self.kind = W.Dropdown(options=_KINDS, layout=W.Layout(width="88px"), tooltip="What serves it")
        place, hint = W.Layout(width="160px"), "A new folder, beside the notebook"
        self.folder = W.TextField(placeholder="folder", layout=place, tooltip=hint)
        hint = "Start without an execution provider that is missing; else the server refuses to start"
        self.fallback = W.Checkbox(False, description="fallback", indent=False, tooltip=hint)
        self.status = W.HTML()
        hint = "Write a server of this config; a Python one is started once, compared and measured"
        self.buttons = buttons_of(self.status, ("Deploy", hint, self.deploy))
        controls = (self.label, self.kind, self.folder, self.fallback, *self.buttons.values())
        self.row = W.HBox([W.HTML("Serve"), *controls], classes="wbp-actions")
        self.widget = W.VBox([self.row, self.status])
        follow(self.state, self._show, "answer", "model", "job", "made")

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
        for improvement in self.state.held_in_role("improves").values():
            if improvement.comparison is not None:
                configs[PROVEN] = improvement.config
        return configs

    def deploy(self, *, wait: bool = False) -> None:
        """Write the deployment in a job that can be cancelled."""
        config, kind = self.configs[self.label.value], self.kind.value
        subject = self.state.answer.subject or self.bench.request().subject
        folder = folder_to_write(self.folder.value.strip() or "server")
        options = self._options(config, subject)

        def work(job: Job) -> Any:
            job.step("writing the server")
            inputs = subject.inputs()
            made = wb.deploy(subject.model, config, folder, kind, inputs=inputs, cancel=job.cancel, **options)
            return made.check(progress=job.tell, cancel=job.cancel) if kind == "python" else made

        def written(deployment: Any) -> None:
            self.status.value = note_html(deployment) + note_html(code)

        arguments = (Source("model"), Source(config_code(config)), str(folder), kind)
        code = call_source("wb.deploy", arguments, {"inputs": inputs_source(subject), **options})
        code += ".check()" if kind == "python" else ""
        self.status.value = note_html("Deploying…")
        self.bench.jobs.start("Deploy", work, written, error_to(self.status), wait=wait)

    def _options(self, config: Config, subject: Subject) -> dict[str, Any]:
        """Return the keywords of `wb.deploy` that differ from their defaults, without the inputs."""
        options: dict[str, Any] = {"calibration": subject.calibration, "fallback": self.fallback.value}
        if (loaded := self.state.held_in_role("bears load").get("")) is not None:
            with suppress(ConfigError):  # it is about other configs
                options["concurrency"] = int(loaded.best_callers(config))
        return {name: value for name, value in options.items() if value}
