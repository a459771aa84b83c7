"""What to ask next about a comparison, and what to try where a run did not run on its provider."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from workbench.core.config import Config, Provider
from workbench.core.measure.providers import asked_for, short_name
from workbench.features.base.registry import KINDS

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord


def questions_about(record: ComparisonRecord) -> dict[str, str]:
    """Return the questions that further results answer, by their kind, the most wanted first."""
    several = len({run.config.precision for run in record.runs}) > 1
    about = {"any", record.verdict.kind, *(["precisions"] if several else [])}
    asked = sorted(
        (*offer.next_question, offer.name)
        for offer in KINDS.offers
        if offer.next_question and offer.next_question[1] in about
    )
    return {kind: words.format(label=record.verdict.label) for _, _, words, kind in asked}


def other_providers(
    record: ComparisonRecord, working: Collection[str]
) -> Iterator[tuple[str, str, tuple[Provider, ...]]]:
    """Yield the label of each run that did not run on its provider, words, and providers to take instead.

    `working` are the providers beside the CPU that work here, as far as that is known. To leave the provider
    out is worth a comparison only where the config differs from A in something else.
    """
    base = record.runs[0].config
    for run in record.runs:
        if run.failure is None or run.failure.stage != "provider":
            continue
        asked = asked_for(run.config)
        for name in working if run.config.runtime is None else ():  # another environment has others
            if name not in asked:
                yield run.label, f"on {short_name(name)}", (Provider(name),)
        if _settings(base) != _settings(run.config):
            yield run.label, f"without {' or '.join(map(short_name, asked))}", ()


def _settings(config: Config) -> dict[str, object]:
    """Return what changes a run, beside the providers."""
    beside = ("providers", "allow_unknown")
    return {name: value for name, value in config.changed().items() if name not in beside}
