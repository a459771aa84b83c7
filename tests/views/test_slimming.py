"""The JavaScript that travels is the one that was written, without what only people read."""

from __future__ import annotations

import pytest

from workbench.views.base import MOST_MODULE_BYTES, PARTS, module
from workbench.views.slimming import slim


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("const a = 1; // one\nlet b = 2;\n", "const a=1;let b=2;"),
        ('say("a  //  b");', 'say("a  //  b");'),
        ("say(`a  ${ b + `c  ${ d }` }  //`) ;", "say(`a  ${ b + `c  ${ d }` }  //`);"),
        ("x = y.replace(/a  \\/ b/g, '  ')", "x=y.replace(/a  \\/ b/g,'  ')"),
        ("a = b + +c - -d;", "a=b+ +c- -d;"),
        ("return typeof x in y", "return typeof x in y"),
        ("a / b / c", "a/b/c"),
        ("if (a)\n  b();\nelse\n  c();", "if(a)b();else c();"),
        ("f(() => {\n  a();\n});", "f(()=>{a()});"),
    ],
)
def test_only_comments_and_spaces_go(written: str, sent: str) -> None:
    assert slim(written) == sent


@pytest.mark.parametrize("name", sorted(PARTS))
def test_a_module_is_small(name: str) -> None:
    assert len(module(name).encode()) < MOST_MODULE_BYTES
