"""`wb.why_slower`: why a config is slower, or no faster, than another."""

from __future__ import annotations

import threading
from typing import Any

from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.measure.limits import Limits, ShowProgress
from workbench.core.models import Inputs, Model, load
from workbench.core.prepare.real_data import inputs_from
from workbench.core.prepare.replayed import replayed
from workbench.core.prepare.runnable import make_runnable
from workbench.features.base.examining import check_same, inputs_again
from workbench.features.base.result import origin_of
from workbench.features.compare.call import compare
from workbench.features.compare.result import Comparison
from workbench.features.explain import explanation
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.gather import facts_of_inputs
from workbench.features.findings.weights import scan_weights
from workbench.features.profile.difference.changes import Difference, difference
from workbench.features.profile.profiled_config import profiled_config, sharing_of
from workbench.features.profile.running import Execution, profile_execution
from workbench.features.why_slower.reasons import why_slower as reasons_of
from workbench.features.why_slower.result import WhySlower


def why_slower(
    subject: Comparison | Model | Any,
    config: Config | None = None,
    *,
    baseline: Config | None = None,
    label: str | None = None,
    model: Model | Any = None,
    inputs: Inputs | Any = None,
    calibration: Any = None,
    seed: int = 0,
    budget_s: float | None = None,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
) -> WhySlower:
    """Why a config is slower, or no faster, than another: the findings that hold for it alone.

    `subject` is a comparison (its first candidate, unless `label` names another) or a model with a `config`,
    which is then compared with `baseline` (by default the same config in float; the defaults of ONNX Runtime
    on the same providers where the config prepares nothing). Both are profiled and asked the rules of
    `wb.findings`; what these do not explain, the difference of the profiles does. A comparison from a bundle
    needs the `model` too.
    """
    calibration = replayed(calibration)
    if isinstance(subject, Comparison):
        if config is not None or baseline is not None:
            raise ConfigError(
                "a comparison has its configs, and another one was given",
                "leave it out, or give the model in place of the comparison",
            )
        comparison, source = subject, subject._model if model is None else model
        if source is None:
            raise ConfigError("this comparison does not have its model at hand", "give it: model=…")
        loaded = load(source)
        check_same(loaded, subject.record)
        if inputs is None:
            inputs = subject._inputs or inputs_again(loaded, subject.record)
        calibration = calibration if calibration is not None else subject._calibration
    else:
        loaded = load(subject)
        if config is None:
            raise ConfigError("there is no config to explain", "give it: wb.why_slower(model, wb.Config(…))")
        comparison = _against_float(
            loaded, config, baseline, inputs=inputs, calibration=calibration, seed=seed, budget_s=budget_s,
            progress=progress, cancel=cancel, worker_limits=worker_limits,
        )  # fmt: skip
    runs = _pair_of(comparison, label or comparison.verdict.label)
    inputs = inputs if inputs is not None else comparison._inputs
    fed = inputs_from(loaded, inputs, seed=seed)
    loaded = loaded.with_inputs(fed)

    def evidence(run: Run) -> Evidence:
        runnable = make_runnable(loaded, run.config, fed.feeds, calibration=calibration, cancel=cancel)
        profile = profile_execution(Execution.of(runnable, limits=worker_limits or Limits()), cancel=cancel)
        return Evidence(
            model_name=loaded.name,
            config=run.config,
            machine=comparison.record.machine,
            structure=runnable.model.structure,
            profile=profile,
            profiled=profiled_config(profile),
            weights=scan_weights(runnable.model, cancel=cancel),
            sharing=sharing_of(profile),
            log=run.log,
            run=run,
            label=run.label,
            pacing_s=comparison.record.protocol.pacing_s,
            **facts_of_inputs(loaded, fed),
        )

    base, slower = (evidence(run) for run in runs)

    def compare_profiles() -> Difference:
        explained = [
            explanation.explain(loaded, run.config, calibration=calibration, cancel=cancel) for run in runs
        ]
        assert base.profile is not None
        assert slower.profile is not None
        return difference(base.profile, slower.profile, *explained)

    verdict = next(verdict for verdict in comparison.verdicts if verdict.label == runs[1].label)
    record = reasons_of(base, slower, f"verdict: {verdict.kind}", compare_profiles)
    return WhySlower(record, origin_of(loaded, runs[1].config, fed, cancel=cancel))


def _against_float(model: Model, config: Config, baseline: Config | None, **how: Any) -> Comparison:
    """Compare a config with its baseline: the same in float, or the defaults where it prepares nothing."""
    plain = baseline or config.replace(rewrites=(), precision=None, fusion=None, saved_graph=None)
    if plain == config:
        plain = Config(providers=config.providers, free_dimensions=config.free_dimensions)
    if plain == config:
        raise ConfigError(
            "this config has nothing but defaults, so its baseline would be the same", "give one: baseline=…"
        )
    return compare(model, plain, config, **how, keep=False)


def _pair_of(comparison: Comparison, label: str) -> tuple[Run, Run]:
    """Return the baseline and the candidate of this label, both measured."""
    runs = {run.label: run for run in comparison.runs}
    first = comparison.runs[0]
    if label not in runs or label == first.label:
        raise ConfigError(
            f"{label!r} is no candidate of this comparison", f"give one of {', '.join(list(runs)[1:])}"
        )
    for run in (first, runs[label]):
        if run.failure is not None:
            raise ConfigError(f"{run.label} could not be measured: {run.failure.problem}", run.failure.fix)
    return first, runs[label]
