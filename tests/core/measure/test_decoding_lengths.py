"""Lengths that were left out fit the model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.core.models import decoders
from workbench.core.models.decoding import check_length, decoding_names
from workbench.features.decode.call import usual_lengths


@pytest.mark.parametrize("most", [None, 2, 20, 64, 130, 2048])
@pytest.mark.parametrize(("prompt", "tokens"), [(None, None), (1, None), ([1], None), (None, 1)])
def test_lengths_that_were_left_out_fit_the_model(
    most: int | None, prompt: int | list[int] | None, tokens: int | None
) -> None:
    names = replace(decoding_names(decoders.decoder()), most_tokens=most)
    asked, made = usual_lengths(names, prompt, tokens)
    count = asked if isinstance(asked, int) else len(asked)
    check_length(names, count, made)
    assert prompt is None or asked == prompt
    assert tokens is None or made == tokens
    if most is None and prompt is None and tokens is None:
        assert (asked, made) == (128, 64)
