"""Notes on settings that are legal but probably not meant."""

from __future__ import annotations

import os
from collections.abc import Iterator

from workbench.core.config import affinity
from workbench.core.config.catalogue import catalogue
from workbench.core.config.fields import ConfigFields
from workbench.core.config.provider import CPU

XNNPACK, TENSORRT = "XnnpackExecutionProvider", "TensorrtExecutionProvider"


def notes(config: ConfigFields, cores: int) -> tuple[str, ...]:
    """Return a sentence for each doubt, with what to do. `cores`: those that this process may run on."""
    return (*_threads(config, cores), *_graph(config), *_providers(config), *_memory(config))


def _threads(config: ConfigFields, cores: int) -> Iterator[str]:
    parallel = config.execution_mode == "parallel"
    for name, count in (("intra", config.intra_op_threads), ("inter", config.inter_op_threads)):
        if count is not None and count > cores:
            yield (
                f"{count} {name}-op threads share {cores} usable cores; expect it slower. "
                f"Use {cores} or fewer."
            )
    if config.inter_op_threads is not None and not parallel:
        yield "inter_op_threads does nothing in the sequential mode; set execution_mode='parallel' to use it."
    if parallel and config.inter_op_threads == 1:
        yield "The parallel mode with one inter-op thread runs one operator at a time; give it 2 or more."
    if config.spinning and config.intra_op_threads == 1 and not parallel:
        yield "Spinning does nothing with a single intra-op thread: no other thread waits."
    if config.affinity is not None:
        highest = affinity.highest(config.affinity)
        if highest > (os.cpu_count() or highest):
            yield (
                f"affinity names processor {highest}, and this machine has {os.cpu_count()}; "
                "ORT logs an error and leaves that thread unpinned."
            )


def _graph(config: ConfigFields) -> Iterator[str]:
    if config.level == "disabled" and config.disabled_passes:
        yield "disabled_passes does nothing at level 'disabled': no pass runs there anyway."
    if dict(config.session_entries).get("session.disable_quant_qdq") == "1":
        yield "session.disable_quant_qdq=1 leaves a quantized (QDQ) model in float: expect it slower."


def _providers(config: ConfigFields) -> Iterator[str]:
    names = [provider.name for provider in config.providers]
    if CPU in names[:-1]:
        after = ", ".join(names[names.index(CPU) + 1 :])
        yield f"The CPU takes nearly every node, so little or nothing is left for {after}, listed after it."
    if TENSORRT in names and "CUDAExecutionProvider" not in names:
        yield "Nodes that TensorRT does not take go to the CPU; list 'cuda' after it to keep them on the GPU."
    for provider in config.providers:
        if provider.name not in {card.name for card in catalogue().providers}:
            yield (
                f"{provider.name} was not tried with the workbench, which knows none of its options; "
                "ONNX Runtime accepts unknown ones in silence."
            )
        own_threads = provider.option("intra_op_num_threads") if provider.name == XNNPACK else None
        if int(own_threads or 1) > 1 and config.spinning is not False:
            yield "XNNPACK has its own threads and ORT's spin beside them: try spinning=False or 1 thread."


def _memory(config: ConfigFields) -> Iterator[str]:
    if config.memory_pattern and config.execution_mode == "parallel":
        yield "Memory patterns need the sequential mode; in the parallel one ORT does not use them."
    shrinks = dict(config.run_entries).get("memory.enable_memory_arena_shrinkage", "")
    if "cpu" in shrinks and config.cpu_arena is False:
        yield "There is no CPU arena to shrink: cpu_arena is off."
