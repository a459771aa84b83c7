"""The first answer comes from one look at source and final graph; the passes one by one when asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

from tests.core.models import tiny
from tests.features.explain import models
from tests.features.explain.conftest import LIGHT
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.models import Model
from workbench.features.explain import observe
from workbench.features.explain.explanation import Explained, explain
from workbench.features.explain.result import Explanation

pytestmark = pytest.mark.real


def test_the_first_answer_is_whole_and_says_what_it_lacks(tmp_path: Path) -> None:
    path = tiny.save(models.gelu(), tmp_path)
    first: list[Explained] = []
    explanation = explain(Model(path, "gelu"), Config(), on_first=first.append)
    (early,) = first
    assert explanation.provenance.followed
    assert explanation.provenance.exact
    assert not early.provenance.followed
    assert [fired_pass.name for fired_pass in early.passes.fired] == ["together"]
    assert set(early.passes.names) <= set(explanation.passes.names) | {"Level1_RuleBasedTransformer"}
    assert [(source.node, source.fate) for source in early.provenance.account.sources] == [
        (source.node, source.fate) for source in explanation.provenance.account.sources
    ]
    assert [(node.node, node.provider) for node in early.placement.nodes] == [
        (node.node, node.provider) for node in explanation.placement.nodes
    ]
    assert "passes=True" in str(Explanation(early))
    assert "passes=True" not in str(Explanation(explanation))


@pytest.mark.parametrize("name", ["light_squeezenet", "light_shufflenet"])
def test_one_look_explains_real_models_too(name: str) -> None:
    explanation = explain(Model(LIGHT / f"{name}.onnx", name), Config(), passes=False)
    account = explanation.provenance.account
    assert len(account.sources) == len(explanation.source.nodes)
    assert explanation.provenance.unknown <= 0.005 * len(account.sources)
    assert explanation.provenance.untraced <= 0.005 * len(account.optimized)


def test_a_large_graph_gets_the_first_answer_unless_more_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observe, "LARGE_NODES", 3)
    model = Model(tiny.save(models.gelu(), tmp_path), "gelu")
    assert not explain(model, Config()).provenance.followed
    assert explain(model, Config(), passes=True).provenance.followed


def test_an_unknown_pass_is_refused_by_what_this_ort_has(tmp_path: Path) -> None:
    model = Model(tiny.save(models.gelu(), tmp_path), "gelu")
    with pytest.raises(ConfigError, match="write 'GeluFusionL2'"):
        explain(model, Config(disabled_passes=("GeluFusionL3",), allow_unknown=True), passes=False)
    assert explain(model, Config(disabled_passes=("GeluFusionL2",)), passes=False).load_s > 0


def test_a_graph_that_is_folded_away_is_told_without_empty_brackets(tmp_path: Path) -> None:
    value = numpy_helper.from_array(np.ones(3, np.float32))
    nodes = [helper.make_node("Constant", [], ["y"], "c", value=value)]
    path = tiny.save(tiny.model(nodes, [], [tiny.tensor("y", [3])]), tmp_path)
    explanation = Explanation(explain(Model(path, "constant"), Config()))
    assert "1 source nodes (1 folded) became 0 through " in str(explanation)
