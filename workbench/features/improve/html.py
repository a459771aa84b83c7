"""An improvement as HTML: what was tried and kept, and what was found."""

from __future__ import annotations

from workbench.core.bundle.display import config_in_words
from workbench.core.text import counted
from workbench.drawing.markup import note_html, text
from workbench.features.findings.html import folded, found_html, headed_html, kept_html
from workbench.features.improve.record import ImprovementRecord, Trial


def steps_html(label: str, record: ImprovementRecord) -> str:
    """Return what happened to a config that was improved: each fix, what was not tried, why it ended."""
    steps = "".join(trial_html(trial) for trial in record.trials if trial.way == "fix")
    skipped = "".join(f"<li>{text(line)}</li>" for line in record.skipped)
    left = folded(f"{counted(len(record.skipped), 'finding')} not tried, with the reason", skipped)
    config = "" if record.comparison is None else f"<div>{text(config_in_words(record.config))}</div>"
    head = headed_html(f"{label}, improved · {record.headline}", config, record.ended)
    findings = "" if record.findings is None else found_html(record.findings)
    return f'{head}<div class="wbp-steps">{steps}</div>{left}{findings}'


def trial_html(trial: Trial) -> str:
    """Return one fix that was tried: measured in large letters, predicted below, kept or not and why."""
    number = " wbp-number" if trial.kept else ""
    predicted = f"predicted {trial.predicted_text or 'not known'}"
    return (
        '<div class="wbp-finding"><div class="wbp-finding-gain">'
        f'<div class="wbp-gain{number}">{text(trial.measured_text)}</div><div>{text(predicted)}</div></div>'
        f'<div class="wbp-finding-body"><b class="wbp-finding-title">{text(trial.title)}</b> '
        f"{kept_html(trial.kept)}{note_html(trial.reason)}</div></div>"
    )
