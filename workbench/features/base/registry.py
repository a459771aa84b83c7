"""The features by name: how each is saved, opened, made, exported and offered in the panels.

Modules are imported when their feature is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from workbench.core.bundle.bundle import Bundle
from workbench.core.bundle.kinds import Kinds, Part
from workbench.core.feature import Feature, Offer, Role
from workbench.features import FEATURES

OFFERS_FILE = Path(__file__).with_name("offers.json")


@cache
def written_offers() -> dict[str, Offer]:
    """Return the offers in the file by their names."""
    rows = json.loads(OFFERS_FILE.read_text("utf-8"))
    return {row["name"]: Offer(**{name: _as_declared(item) for name, item in row.items()}) for row in rows}


def _as_declared(item: Any) -> Any:
    return tuple(item) if isinstance(item, list) else item


class Registry(Kinds):
    """Features by name, each imported when it is first asked for."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        super().__init__({name: partial(_kind_of, module) for name, module in modules.items()})

    @contextmanager
    def with_one_more(self, name: str, module: str) -> Iterator[None]:
        """Know one more feature, whose `FEATURE` stands in `module`, until the block ends."""
        self._makers[name] = partial(_kind_of, module)
        try:
            yield
        finally:
            del self._makers[name]
            self._made.pop(name, None)

    def named(self, name: str) -> Feature:
        """Return the kind called `name`; a BundleError lists the known names."""
        return cast(Feature, super().named(name))  # `_kind_of` makes no other

    def of(self, record: object, fix: str) -> Feature:
        """Return the kind of a record."""
        return cast(Feature, super().of(record, fix))

    def __iter__(self) -> Iterator[Feature]:
        return map(self.named, self.names)

    @property
    def offers(self) -> tuple[Offer, ...]:
        """What can be made with a button; only kinds that are not in the file are imported."""
        return tuple(offer for offer in self._known if offer.button)

    @property
    def commands(self) -> tuple[Offer, ...]:
        """What a call makes, with or without a button."""
        return tuple(offer for offer in self._known if offer.public_name)

    @property
    def _known(self) -> Iterator[Offer]:
        return map(self.offer, self.names)

    def offer(self, name: str) -> Offer:
        """Return what the panels show of a kind before they make one."""
        return written_offers().get(name) or self.named(name).offer

    def offered(self, tab: str) -> tuple[Offer, ...]:
        """Return what this tab of the panels offers, the kinds whose own tab it is first."""
        offers = [offer for offer in self.offers if tab in offer.tabs]
        return tuple(sorted(offers, key=lambda offer: offer.tabs[0] != tab))

    def in_role(self, role: Role) -> Offer | None:
        """Return what has this role for the panels; None where no feature has it."""
        return next((offer for offer in self._known if role and offer.role == role), None)

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


def _kind_of(module: str) -> Feature:
    feature: Feature = import_module(module).FEATURE
    return feature


KINDS = Registry(FEATURES)
