"""The words of the panels: those of the field, in the sources of everything that stands on a screen."""

from __future__ import annotations

from importlib.resources import files

import pytest

AVOIDED = ("set aside", "beside nothing", "share as…", "1 rounds")
ENDS = (".py", ".js", ".html")


@pytest.mark.parametrize("words", AVOIDED)
def test_no_source_of_a_screen_has_words_that_nobody_knows(words: str) -> None:
    sources = [path for path in walked(files("workbench")) if path.name.endswith(ENDS)]
    assert len(sources) > 100
    found = [str(path) for path in sources if words in path.read_text("utf-8").lower()]
    assert found == []


def walked(folder):  # type: ignore[no-untyped-def]
    """Yield all files below a folder."""
    for path in folder.iterdir():
        yield from walked(path) if path.is_dir() else [path]
