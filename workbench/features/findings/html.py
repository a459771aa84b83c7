"""Findings as HTML. Every text of a record may come from a stranger's model, and is escaped."""

from __future__ import annotations

from typing import NamedTuple

from workbench.core.bundle.display import config_in_words
from workbench.core.text import counted, factor, in_digits, in_ms
from workbench.drawing.markup import message_html, note_html, text
from workbench.features.findings.record import FindingRecord, FindingsRecord

_EFFECTS = {"time": "faster", "memory": "less memory", "load": "less load time"}  # by subject
RANKED = "ranked by the gain to expect; each fix is checked and measured before it is kept"
UNSEEN = "which rules could not look, and why"
_SMALL = "each predicted below 3 % of a run, 10 % of the memory or 20 % of the load"


class FindingHtml(NamedTuple):
    """A finding in three parts: the gain to expect, the title with its evidence, and the fix."""

    gain: str
    body: str
    fix: str


def finding_html(finding: FindingRecord) -> FindingHtml:
    """Return the parts of a finding."""
    return FindingHtml(gain_html(finding), body_html(finding), fix_html(finding))


def gain_html(finding: FindingRecord) -> str:
    """Return the predicted gain in large letters, its interval and the confidence below."""
    gain = finding.gain
    interval = gain.ratio_text.removeprefix(gain.factor).strip(" ()")
    lines = (text(interval), f"<b>{text(finding.confidence)}</b>")
    below = "".join(f"<div>{line}</div>" for line in lines if line)
    known = gain.saved is not None or gain.subject not in _EFFECTS
    effect = _EFFECTS.get(gain.subject, gain.subject) if known else "to be measured"
    number = "" if gain.saved is None else " wbp-number"
    return f'<div class="wbp-gain{number}">{text(gain_text(finding))}</div><div>{text(effect)}</div>{below}'


def gain_text(finding: FindingRecord) -> str:
    """Return the predicted gain in a word: a speed-up, seconds, or bytes."""
    gain, about = finding.gain, "" if finding.confidence == "sure" else "≈ "
    if gain.subject in ("accuracy", "correctness"):
        return "!"
    if gain.speed_up is not None:
        hedged = gain.factor.startswith("at least")
        return f"{about}{gain.factor.removeprefix('about ')}" if about and not hedged else gain.factor
    if gain.saved is None:
        return "?"
    if gain.subject == "memory":
        return f"{about}{in_digits(gain.saved / (1 << 20), 3)} MiB"
    return f"{about}{in_ms(gain.saved, 3)}"


def body_html(finding: FindingRecord) -> str:
    """Return the title and the evidence."""
    evidence = "".join(f"<div>{text(line)}</div>" for line in finding.evidence)
    return f'<b class="wbp-finding-title">{text(finding.title)}</b><div class="wbp-evidence">{evidence}</div>'


def fix_html(finding: FindingRecord) -> str:
    """Return the fix, its code if it has one, and the caution."""
    code = f"<div><code>{text(finding.fix.code)}</code></div>" if finding.fix.code else ""
    caution = f'<div class="wbp-caution">⚠ {text(finding.caution)}</div>' if finding.caution else ""
    return f'<div><span class="wbp-fix-mark">Fix:</span> {text(finding.fix.text)}</div>{code}{caution}'


def kept_html(kept: bool) -> str:
    """Return a mark that says whether a fix was kept."""
    state, word = ("good", "✓ Kept") if kept else ("bad", "✗ Not kept")
    return f'<span class="wbp-chip wbp-{state}">{word}</span>'


def head_html(label: str, record: FindingsRecord) -> str:
    """Return how many findings one config has and which rules looked, with what all fixes promise."""
    config = config_in_words(record.config)
    together = "" if record.together is None else f", together {factor(record.together)} faster"
    note = f"{config} · {RANKED}" if record.large else config
    words = record.headline.removesuffix(f" ({record.looked_text})")
    looked = text(record.headline.removeprefix(words))
    return headed_html(f"{label} · {words}", f" {looked}{together}", note)


def headed_html(words: str, rest: str, note: str) -> str:
    """Return words in bold, what follows them as HTML, and a note below."""
    return f'<div class="wbp-findings-head"><b>{text(words)}</b>{rest}{note_html(note)}</div>'


def found_html(record: FindingsRecord) -> str:
    """Return the findings in lines that unfold, then how many rules looked, and the rest."""
    lines = "".join(f"<li>{line_html(finding)}</li>" for finding in record.large)
    large = folded(f"{counted(len(record.large), 'finding')}, each with its evidence and fix", lines)
    return large + note_html(record.looked_text) + rest_html(record)


def rest_html(record: FindingsRecord) -> str:
    """Return the small things, the rules that could not look, and what is fine."""
    small = "".join(f"<li>{line_html(finding)}</li>" for finding in record.small)
    fine = "".join(note_html(f"✓ Fine: {line}") for line in record.fine)
    reasons: dict[str, list[str]] = {}
    for rule in record.not_looked:
        reasons.setdefault(rule.reason, []).append(rule.id)
    unseen = "".join(f"<li>{text(', '.join(ids))}: {text(reason)}</li>" for reason, ids in reasons.items())
    small_things = folded(f"{counted(len(record.small), 'small thing')}, {_SMALL}", small)
    return small_things + folded(UNSEEN, unseen) + fine


def line_html(finding: FindingRecord) -> str:
    """Return a finding in a line or two."""
    evidence = f"({gain_text(finding)}, {finding.confidence}): {' '.join(finding.evidence)}"
    return message_html(finding.title, evidence, finding.fix.text)


def folded(summary: str, items: str) -> str:
    """Return a list that unfolds; nothing if it is empty."""
    return (
        f'<details class="wbp-more"><summary>{summary}</summary><ul>{items}</ul></details>' if items else ""
    )
