"""Made graphs for the views: a transformer of any length whose mask feeds every layer."""

from __future__ import annotations

from collections.abc import Callable

from workbench.core.config import Config
from workbench.core.models.graph import Graph, Node, TensorInfo
from workbench.features.explain.explanation import Explained, conclude
from workbench.features.explain.observe import Observation, Snapshot

CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
PER_LAYER = 22  # nodes of one layer
FLOAT = 1


def transformer(nodes: int, *, fused: bool = False) -> Graph:
    """Origin so many nodes; `fused`: each pair of bias and Relu as one node, as an optimizer leaves it."""
    made: list[Node] = []
    infos: dict[str, TensorInfo] = {
        "x": TensorInfo(FLOAT, (1, 128, 768)),
        "mask": TensorInfo(FLOAT, (1, 128)),
    }

    def add(scope: str, op_type: str, *inputs: str, name: str = "", output: str = "") -> str:
        key = f"/model/{scope}/{name or op_type}"
        target = output or f"{key}_output_0"
        made.append(Node(key, key, "", op_type, "", inputs, (target,), inputs, ""))
        infos[target] = TensorInfo(FLOAT, (1, 128, 768))
        return target

    mask = add("mask", "Cast", add("mask", "Unsqueeze", "mask"))
    rope = add("rope", "Cos", "x")
    last = add("embeddings", "LayerNormalization", "x")
    for layer in range(max(1, nodes // PER_LAYER)):
        last = _layer(add, f"encoder/layer.{layer}", last, mask, rope, fused=fused)
    last = add("pooler", "Tanh", last)
    return Graph(tuple(made), ("x", "mask"), (last,), {}, infos)


def _layer(add: Callable[..., str], scope: str, last: str, mask: str, rope: str, *, fused: bool) -> str:
    parts = []
    for part in ("query", "key", "value"):
        product = add(f"{scope}/attention/{part}", "MatMul", last)
        biased = add(f"{scope}/attention/{part}", "Add", product)
        parts.append(add(f"{scope}/attention", "Mul", biased, rope, name=f"Mul_{part}"))
    scores = add(f"{scope}/attention", "MatMul", *parts[:2])
    masked = add(f"{scope}/attention", "Add", scores, mask, name="Add_mask")
    weights = add(f"{scope}/attention", "Softmax", masked)
    value = add(f"{scope}/attention", "MatMul", weights, parts[2], name="MatMul_1")
    residual = add(
        f"{scope}/attention/output", "Add", add(f"{scope}/attention/output", "MatMul", value), last
    )
    inner = add(f"{scope}/attention/output", "LayerNormalization", residual)
    wide = add(f"{scope}/intermediate", "MatMul", inner)
    if fused:
        active = add(
            f"{scope}/intermediate", "BiasRelu", wide, output=f"/model/{scope}/intermediate/Relu_output_0"
        )
    else:
        active = add(f"{scope}/intermediate", "Relu", add(f"{scope}/intermediate", "Add", wide))
    narrow = add(f"{scope}/output", "Add", add(f"{scope}/output", "MatMul", active), inner)
    return add(f"{scope}/output", "LayerNormalization", narrow)


def explained(nodes: int, *, on_cpu: tuple[str, ...] = (), model_name: str = "transformer") -> Explained:
    """As if ORT had optimized that transformer; operators named in `on_cpu` fell to the CPU."""
    source, final = transformer(nodes), transformer(nodes, fused=True)
    return explained_of(source, final, on_cpu=on_cpu, model_name=model_name)


def explained_of(
    source: Graph, final: Graph, *, on_cpu: tuple[str, ...] = (), model_name: str = "made",
    provider: str = CUDA,
) -> Explained:  # fmt: skip
    """What `wb.explain` would conclude had ORT turned the one graph into the other in one pass."""
    of = {CPU: [n for n in source.nodes if n.op_type in on_cpu], provider: []}
    of[provider if on_cpu else CPU] += [node for node in source.nodes if node.op_type not in on_cpu]
    providers = (provider, CPU) if on_cpu else (CPU,)
    observation = Observation(
        source=source,
        chain=(Snapshot("BiasReluFusion", 2, final),),
        final_saved=True,
        followed=True,
        exact=True,
        problem=None,
        applied=(),
        providers=providers,
        assignment=tuple(
            (name, tuple((n.name, n.domain, n.op_type) for n in of[name])) for name in providers
        ),
        left=(),
        warnings=(),
        load_s=0.1,
        level=99,
    )
    return conclude(model_name, Config(), observation)
