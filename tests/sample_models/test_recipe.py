"""A recipe draws tensors like the one it was made from, always the same ones."""

import hashlib
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sample_models.recipe import Recipe, recipe_for

DRAWN = (  # digests of the bytes, as they came out when the skeletons were made
    ("normal", "float32", "bbbd4a53aac49fda7cdf094c55261cd91b904d2e86cdf2eebe3137ea3b2b53ea"),
    ("uniform", "float32", "80581ca63a0b1110c06eed63f3e1c63231c9920aca83385c80d32ba7863ae92b"),
    ("normal", "float16", "9465dacfea1aad4b22e3f9e1f756826e062dc3a17f9972b7e5200e87843ca52f"),
    ("normal", "float64", "949972a312880184b76374f37be1c9c418e3d8d70dfce1ed1584c8795bacb4d1"),
)
RECIPES = st.builds(
    Recipe,
    kind=st.sampled_from(["normal", "uniform", "constant"]),
    dtype=st.sampled_from(["float16", "float32", "float64"]),
    shape=st.lists(st.integers(0, 9), max_size=4).map(tuple),
    centre=st.floats(-2, 2),
    scale=st.floats(0.001, 2),
    seed=st.integers(0, 2**32 - 1),
)


@given(RECIPES, st.integers(1, 5))
def test_the_chunks_of_any_length_make_the_same_tensor(recipe, length):
    parts = [chunk.copy() for chunk in recipe.chunks(values=4 * length)]
    joined = np.concatenate(parts) if parts else np.empty(0, recipe.dtype)
    np.testing.assert_array_equal(joined, recipe.array().ravel())
    assert joined.nbytes == recipe.bytes
    assert recipe.array().shape == recipe.shape
    assert recipe.size == prod(recipe.shape)


@pytest.mark.parametrize("kind", ["normal", "uniform"])
@pytest.mark.parametrize(("centre", "scale"), [(0.0, 0.02), (1.0, 0.05), (-3.0, 2.0)])
def test_a_drawn_tensor_gives_its_recipe_back(kind, centre, scale):
    recipe = Recipe(kind, "float32", (200, 300), centre, scale, 5)
    recovered = recipe_for(recipe.array(), seed=5)
    assert recovered.kind == kind
    assert recovered.centre == pytest.approx(centre, abs=scale / 50)
    assert recovered.scale == pytest.approx(scale, rel=0.01)


def test_equal_values_become_a_constant():
    recipe = recipe_for(np.full((30, 40), 0.25, np.float32), seed=1)
    assert recipe == Recipe("constant", "float32", (30, 40), 0.25, 0.0, 1)
    assert (recipe.array() == 0.25).all()


def test_two_seeds_draw_independent_tensors():
    first, other = (Recipe("normal", "float32", (10_000,), 0, 1, seed).array() for seed in (1, 2))
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.05
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 0.05


@pytest.mark.parametrize(("kind", "dtype", "digest"), DRAWN)
def test_draws_are_the_same_on_every_machine(kind, dtype, digest):
    drawn = Recipe(kind, dtype, (333, 777), 0.1, 0.02, 12345).array()
    assert hashlib.sha256(drawn.tobytes()).hexdigest() == digest
