"""The page of the commands is written from their parsers."""

from __future__ import annotations

import pytest

from docs.reference import commands
from workbench.features.base.registry import KINDS

SECTIONS = dict(section.split("\n\n", 1) for section in commands().split("\n\n## ")[1:])


@pytest.mark.parametrize("command", [offer.command_name for offer in KINDS.commands])
def test_each_command_of_a_feature_has_its_options(command: str) -> None:
    assert "`-o --output FILE`" in SECTIONS[command]


def test_a_command_says_what_it_does_and_takes() -> None:
    section = SECTIONS["threads"]
    assert section.startswith("measure latency")
    assert "`--most-threads N`" in section
