"""The one list of result kinds: how each is saved, opened, made, exported and offered in the panels.

A kind is one module with a `KIND` and a line of `MODULES`. Modules are imported when their kind is asked for.
`python -m workbench.features.base.registry` writes offers.json anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from typing import Any, Literal, TypeAlias, cast

from workbench.core.bundle.bundle import Bundle
from workbench.core.bundle.kinds import Kind, Kinds, Part
from workbench.features.base.form import Field, Source, source_of
from workbench.features.base.offers import FILE as OFFERS
from workbench.features.base.offers import Offer, written_offers

Scope = Literal["run", "config", "runs", "candidate"]
Need = Literal["comparison", "precision"]
Argument = Literal["inputs", "data", "calibration", "seed", "budget_s", "progress", "keep", "on_step"]
Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]  # positional ones, keywords

MODULES = {  # of each kind, in the order of sections and buttons
    "comparison": "workbench.features.compare.result",
    "measurement": "workbench.features.measure.result",
    "sweep": "workbench.features.grid.sweep_result",
    "matrix": "workbench.features.grid.matrix_result",
    "model files": "workbench.features.explain.model_files",
    "explanation": "workbench.features.explain.result",
    "profile": "workbench.features.profile.result",
    "levels": "workbench.features.variants.levels_result",
    "ablation": "workbench.features.variants.ablation_result",
    "versions": "workbench.features.variants.versions_result",
    "accuracy": "workbench.features.accuracy.result",
    "why slower": "workbench.features.findings.slower.result",
    "layer errors": "workbench.features.accuracy.layers_result",
    "sensitivity": "workbench.features.accuracy.sensitivity_result",
    "memory": "workbench.features.memory.result",
    "cold start": "workbench.features.cold_start.result",
    "memory settings": "workbench.features.variants.memory_settings_result",
    "roofline": "workbench.features.profile.roofline.result",
    "thread scaling": "workbench.features.variants.thread_scaling_result",
    "load test": "workbench.features.load.result",
    "decoding": "workbench.features.decode.result",
    "peaks": "workbench.features.profile.roofline.peaks_result",
    "findings": "workbench.features.findings.result",
    "improvement": "workbench.features.findings.improvement_result",
    "deployment": "workbench.features.deploy.result",
    "study": "workbench.features.tune.result",
}


def function_at(place: str) -> Callable[..., Any]:
    """Return the function of a text "module:function"."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def plain_call(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of a function that takes a model, its configs, and keywords."""
    return (model, *configs), options


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultKind(Kind):
    """One kind of result. The fields of `Kind` say how its record is saved and checked.

    `scope` says what one result is about: "run" (each of the compared configs has one), "config" (the config
    that the panels show), "candidate" (the first candidate of a comparison) or "runs" (all configs at once).
    """

    result: type[Any]  # a Result, made of the record when a bundle is opened
    scope: Scope = "config"
    entry: str = ""  # "module:function" of the public function that makes it
    takes: tuple[Argument, ...] = ()  # what that function takes besides model, config and cancel
    form: tuple[Field, ...] = ()  # what the panels ask for
    call: Callable[[Any, tuple[Any, ...], dict[str, Any]], Arguments] = plain_call
    needs: tuple[Need, ...] = ()  # what must be there before it can be made
    examine: Callable[[Any], object] | None = None  # ExaminedRun → record, for `comparison.examine`
    heading: str = ""  # of its section in the page of a comparison; empty: the page has its own section
    button: str = ""  # the label of its button; empty: the panels do not offer it
    hint: str = ""  # the tooltip of the button
    step: str = ""  # what the job says while it runs
    tabs: tuple[str, ...] = ()  # the tabs that offer it, its own first
    key: str | None = None  # the column of its table that names nodes, for the linked selection
    code: str = ""  # how a comparison gets it, where `making_code` cannot know

    @property
    def offer(self) -> Offer:
        """What the panels show of it before they make one."""
        return Offer(
            self.name, self.button, self.hint, self.tabs, self.scope, self.key, has_form=bool(self.form)
        )

    @property
    def function(self) -> Callable[..., Any]:
        """The public function that makes it."""
        return function_at(self.entry)

    def make(self, model: Any, configs: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Call the public function."""
        arguments, keywords = self.call(model, tuple(configs), dict(options))
        return self.function(*arguments, **keywords)

    def call_code(self, configs: Sequence[str], options: Mapping[str, Any]) -> str:
        """Return the call of the public function; `configs` are names of variables."""
        arguments, keywords = self.call(Source("model"), tuple(map(Source, configs)), dict(options))
        texts = [*map(source_of, arguments), *(f"{key}={source_of(item)}" for key, item in keywords.items())]
        return f"wb.{self.entry.partition(':')[2]}({', '.join(texts)})"

    def making_code(self, configs: Sequence[str], label: str, options: Mapping[str, Any]) -> str:
        """Return Python that adds one to `result`; `label` is the source of a text."""
        if self.code:
            return self.code
        if self.examine is not None:
            return f'result.examine("{self.name}")'
        if "comparison" in self.needs:
            made = f"wb.{self.entry.partition(':')[2]}(result)"
        else:
            made = self.call_code(configs, options)
        return f"result.add({made})" if self.scope == "runs" else f"result.add({made}, {label})"


class Registry(Kinds):
    """Result kinds by name, each imported when it is first asked for."""

    def __init__(self, modules: dict[str, str]) -> None:
        super().__init__({name: partial(_kind_of, module) for name, module in modules.items()})

    def register(self, name: str, module: str) -> None:
        """Add a kind whose `KIND` stands in `module`."""
        self._makers[name] = partial(_kind_of, module)

    def named(self, name: str) -> ResultKind:
        """Return the kind called `name`; a BundleError lists the known names."""
        return cast(ResultKind, super().named(name))  # `_kind_of` makes no other

    def of(self, record: object, fix: str) -> ResultKind:
        """Return the kind of a record."""
        return cast(ResultKind, super().of(record, fix))

    def __iter__(self) -> Iterator[ResultKind]:
        return map(self.named, self.names)

    @property
    def offers(self) -> tuple[Offer, ...]:
        """What can be made with a button; only kinds that are not in the file are imported."""
        known = written_offers()
        offers = (known[name] if name in known else self.named(name).offer for name in self.names)
        return tuple(offer for offer in offers if offer.button)

    def offered(self, tab: str) -> tuple[Offer, ...]:
        """Return what this tab of the panels offers, the kinds whose own tab it is first."""
        offers = [offer for offer in self.offers if tab in offer.tabs]
        return tuple(sorted(offers, key=lambda offer: offer.tabs[0] != tab))

    @property
    def examinable(self) -> tuple[str, ...]:
        """The names of the kinds that `comparison.examine` makes."""
        return tuple(kind.name for kind in self if kind.examine is not None)

    def result(self, bundle: Bundle) -> Any:
        """Return the result that a bundle holds."""
        cls = self.named(bundle.kind).result
        result = cls.reopened(bundle.record, bundle.about, structure=bundle.structure, parts=bundle.parts)
        result.foreign_paths = bundle.foreign
        return result

    def result_of_part(self, part: Part) -> Any:
        """Return a part of a comparison as a result of its own."""
        return self.named(part.kind).result.of_part(part)


def _kind_of(module: str) -> ResultKind:
    kind: ResultKind = import_module(module).KIND
    return kind


KINDS = Registry(MODULES)


def main() -> None:
    """Write what the panels offer."""
    OFFERS.write_text(json.dumps([asdict(kind.offer) for kind in KINDS], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
