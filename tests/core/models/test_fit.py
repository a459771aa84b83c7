"""A config that does not fit the model or this ONNX Runtime is refused, whatever the names in the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import ModelProto

from tests.core.models import tiny
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.models import Model, load
from workbench.core.models.fit import check_fit, symbolic_dims


def opened(dims: list[str], folder: Path) -> Model:
    """A model whose first input has these symbolic dims."""
    proto = ModelProto()
    proto.CopyFrom(tiny.mlp())
    shape = proto.graph.input[0].type.tensor_type.shape
    del shape.dim[:]
    for name in dims:
        shape.dim.add().dim_param = name
    return Model(tiny.save(proto, folder), "m\x1b[2J" * 50_000)


def refused(model: Model, config: Config) -> ConfigError:
    with pytest.raises(ConfigError) as error:
        check_fit(model, config)
    return error.value


def test_a_dim_that_is_there_fits(tmp_path: Path) -> None:
    model = opened(["batch", "seq"], tmp_path)
    assert symbolic_dims(model) == {"batch", "seq"}
    check_fit(model, Config(free_dimensions={"batch": 1}))
    check_fit(load(tiny.mlp()), Config())


def test_a_near_miss_is_named(tmp_path: Path) -> None:
    error = refused(opened(["batch", "seq"], tmp_path), Config(free_dimensions={"bach": 1}))
    assert "'bach'" in error.problem
    assert error.fix == "Did you mean 'batch'? Its symbolic dims are: 'batch' and 'seq'"


def test_a_model_without_symbolic_dims_says_so(tmp_path: Path) -> None:
    assert refused(opened([], tmp_path), Config(free_dimensions={"bach": 1})).fix.endswith("are: none")


def test_names_of_any_length_stay_short_and_harmless(tmp_path: Path) -> None:
    dims = [f"\x1b]0;batch\u202e{number}" + "b" * 100_000 for number in range(20)]
    error = refused(opened(dims, tmp_path), Config(free_dimensions={"batch": 1}))
    assert error.problem.isprintable()
    assert error.fix.isprintable()
    assert len(str(error)) < 2_500
    assert "12 more" in error.fix
