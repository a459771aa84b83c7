"""Findings as HTML. Every text of a record may come from a stranger's model, and is escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.apps.panels.markup import note_html, text
from workbench.core.bundle.display import config_in_words
from workbench.core.text import bounded, counted, factor, in_digits, in_ms
from workbench.features.findings.record import ALL_FINE, FindingRecord, FindingsRecord
from workbench.features.improve.record import ImprovementRecord, Trial

if TYPE_CHECKING:
    from workbench.features.findings.fix_result import FixResult

_EFFECTS = {
    "time": "faster",
    "memory": "less memory",
    "load": "less load time",
    "accuracy": "accuracy",
    "correctness": "correctness",
}
RANKED = "ranked by the gain to expect; each fix is checked and measured before it is kept"
UNSEEN = "which rules could not look, and why"
_SMALL = "each predicted below 3 % of a run, 10 % of the memory or 20 % of the load"


def gain_html(finding: FindingRecord, run_s: float | None) -> str:
    """Return the predicted gain in large letters, its interval and the confidence below."""
    interval = interval_text(finding, run_s)
    below = "".join(f"<div>{line}</div>" for line in (interval, f"<b>{text(finding.confidence)}</b>") if line)
    subject = finding.gain.subject
    known = finding.gain.saved is not None or subject in ("accuracy", "correctness")
    effect = _EFFECTS[subject] if known else "to be measured"
    number = "" if finding.gain.saved is None else " wbp-number"
    return f'<div class="wbp-gain{number}">{text(gain_text(finding))}</div><div>{text(effect)}</div>{below}'


def gain_text(finding: FindingRecord) -> str:
    """Return the predicted gain in a word: a speed-up, seconds, or bytes."""
    gain, about = finding.gain, "" if finding.confidence == "sure" else "≈ "
    if gain.subject in ("accuracy", "correctness"):
        return "!"
    if gain.speed_up is not None:
        return f"{about}{gain.factor.removeprefix('about ')}" if about else gain.factor
    if gain.saved is None:
        return "?"
    if gain.subject == "memory":
        return f"{about}{in_digits(gain.saved / (1 << 20), 3)} MiB"
    return f"{about}{in_ms(gain.saved, 3)}"


def interval_text(finding: FindingRecord, run_s: float | None) -> str:
    """Return the interval of a predicted speed-up; empty where it is not known."""
    low, high = finding.gain.low, finding.gain.high
    if finding.gain.speed_up is None or low is None or high is None or not run_s or max(low, high) >= run_s:
        return ""
    return f"{1 / (1 - low / run_s):.2f} to {1 / (1 - high / run_s):.2f}"


def body_html(finding: FindingRecord) -> str:
    """Return the title and the evidence."""
    evidence = "".join(f"<div>{text(line)}</div>" for line in finding.evidence)
    return f'<b class="wbp-finding-title">{text(finding.title)}</b><div class="wbp-evidence">{evidence}</div>'


def fix_html(finding: FindingRecord) -> str:
    """Return the fix, its code if it has one, and the caution."""
    code = f"<div><code>{text(finding.fix.code)}</code></div>" if finding.fix.code else ""
    caution = f'<div class="wbp-caution">⚠ {text(finding.caution)}</div>' if finding.caution else ""
    return f'<div><span class="wbp-fix-mark">Fix:</span> {text(finding.fix.text)}</div>{code}{caution}'


def outcome_html(result: FixResult) -> str:
    """Return whether a fix that was tried is worth keeping, and why."""
    state, word = ("good", "✓ Kept") if result.kept else ("bad", "✗ Not kept")
    if not result.kept and result.comparison.verdict.kind == "unknown":
        state, word = "quiet", "Not settled yet"
    prediction = f'<div class="wbp-note">{text(result.prediction)}</div>' if result.prediction else ""
    mark = f'<span class="wbp-chip wbp-{state}">{word}</span>'
    return f'<div role="status">{mark} {text(result.reason)}{prediction}</div>'


def head_html(label: str, record: FindingsRecord) -> str:
    """Return the number of one config's findings, or that there are none and which rules looked."""
    config = config_in_words(record.config)
    words, rest, note = ALL_FINE, f": {record.looked_text}", config
    if record.large:
        together = "" if record.together is None else f", together {factor(record.together)} faster"
        words, rest, note = counted(len(record.large), "finding"), together, f"{config} · {RANKED}"
    return (
        f'<div class="wbp-findings-head"><b>{text(label)} · {text(words)}</b>{text(rest)}'
        f'<div class="wbp-note">{text(note)}</div></div>'
    )


def rest_html(record: FindingsRecord) -> str:
    """Return the small things, the rules that could not look, and what is fine."""
    small = "".join(f"<li>{small_html(finding)}</li>" for finding in record.small)
    fine = "".join(note_html(f"✓ Fine: {line}") for line in record.fine)
    reasons: dict[str, list[str]] = {}
    for rule in record.not_looked:
        reasons.setdefault(rule.reason, []).append(rule.id)
    unseen = "".join(f"<li>{text(', '.join(ids))}: {text(reason)}</li>" for reason, ids in reasons.items())
    looked = text(record.looked_text) if record.large else UNSEEN  # without a finding the head says it
    small_things = folded(f"{counted(len(record.small), 'small thing')}, {_SMALL}", small)
    return small_things + (folded(looked, unseen) or (note_html(looked) if record.large else "")) + fine


def small_html(finding: FindingRecord) -> str:
    """Return a finding below the bar in a line or two."""
    evidence = " ".join(text(line) for line in finding.evidence)
    gain = f"{text(gain_text(finding))}, {text(finding.confidence)}"
    return f"<b>{text(finding.title)}</b> ({gain}): {evidence} <i>Fix:</i> {text(finding.fix.text)}"


def steps_html(label: str, record: ImprovementRecord) -> str:
    """Return what happened to a config that was improved: each fix, what was not tried, why it ended."""
    steps = "".join(trial_html(trial) for trial in record.trials if trial.way == "fix")
    skipped = "".join(f"<li>{text(line)}</li>" for line in record.skipped)
    left = folded(f"{counted(len(record.skipped), 'finding')} not tried, with the reason", skipped)
    config = "" if record.comparison is None else f"<div>{text(config_in_words(record.config))}</div>"
    return (
        f'<div class="wbp-findings-head"><b>{text(label)}, improved · {text(record.headline)}</b>{config}'
        f'<div class="wbp-note">{text(record.ended)}</div></div><div class="wbp-steps">{steps}</div>{left}'
    )


def trial_html(trial: Trial) -> str:
    """Return one fix that was tried: measured in large letters, predicted below, kept or not and why."""
    state, word = ("good", "✓ kept") if trial.kept else ("bad", "✗ not kept")
    measured = bounded(trial.low, trial.high) or "not measured"
    if trial.ratio is not None:
        known = trial.low is not None
        measured = factor(trial.ratio, trial.low, trial.high) if known else "not settled"
    number = " wbp-number" if trial.low is not None else ""
    predicted = f"predicted {trial.predicted_text or 'not known'}"
    return (
        '<div class="wbp-finding"><div class="wbp-finding-gain">'
        f'<div class="wbp-gain{number}">{measured}</div><div>{predicted}</div></div>'
        f'<div class="wbp-finding-body"><b class="wbp-finding-title">{text(trial.title)}</b> '
        f'<span class="wbp-chip wbp-{state}">{word}</span><div class="wbp-note">{text(trial.reason)}</div>'
        "</div></div>"
    )


def folded(summary: str, items: str) -> str:
    """Return a list that unfolds; nothing if it is empty."""
    return (
        f'<details class="wbp-more"><summary>{summary}</summary><ul>{items}</ul></details>' if items else ""
    )
