"""Each name that lessons use is documented, and its example runs."""

from __future__ import annotations

import doctest
import inspect

import pytest

from workbench.apps import course


@pytest.mark.parametrize("name", course.__all__)
def test_a_name_is_documented_and_its_example_runs(name: str) -> None:
    value = getattr(course, name)
    assert inspect.getdoc(value)
    tests = [test for test in doctest.DocTestFinder(recurse=False).find(value, name) if test.examples]
    for test in tests:
        assert doctest.DocTestRunner().run(test).failed == 0


def test_the_module_has_an_example_too() -> None:
    assert doctest.testmod(course).failed == 0
