"""Findings that ONNX Runtime's own warnings make: they are in the log of each run, where nobody looks."""

from __future__ import annotations

import re

from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix, Gain
from workbench.features.findings.rule import config_fix, rule

_SMALL = Gain("time", 0.0, 0.0, 0.0, 0.0)  # a warning without a known cost is a small thing
_AFFINITY = re.compile(r"pthread_setaffinity_np failed")
_SHAPES = re.compile(
    r"Expected shape from model of|Falling back to lenient merge|Error merging shape info|"
    r"does not match actual shape of"
)
FALLBACK = re.compile(r"not assigned to the preferred execution providers|nodes? (?:was|were) not assigned")
_COPIES = re.compile(r"Memcpy nodes? (?:is|are) added to the graph")
FOLDING = re.compile(r"[Cc]ould not find a CPU kernel and hence can't constant fold")
UNUSED = re.compile(r"Removing initializer '")
INPUTS = re.compile(r"appears in graph inputs")
_KNOWN = (_AFFINITY, _SHAPES, FALLBACK, _COPIES, FOLDING, UNUSED, INPUTS)
MOST_MESSAGES = 3
_MOST_LETTERS = 200


@rule(
    "ort-could-not-pin-threads",
    needs=("log",),
    recognised="ORT's log: pthread_setaffinity_np failed",
    advice="set the number of threads, which stops the pinning",
    source="containers forbid the cores that ORT counts; microsoft/onnxruntime #10166, #8313",
)
def ort_could_not_pin_threads(evidence: Evidence) -> FindingRecords:
    """ORT could not pin its threads to the cores that it counted."""
    messages = _messages(evidence, _AFFINITY)
    if not messages or evidence.config.intra_op_threads is not None:
        return
    text = f"set the number of threads: intra_op_threads={evidence.cores}"
    yield finding(
        "ORT could not pin its threads: it counts cores that this process may not use",
        *messages,
        forecast=Forecast.unknown("time", "sure"),
        fix=config_fix(evidence, text, intra_op_threads=evidence.cores),
    )


@rule(
    "ort-met-other-shapes",
    needs=("log",),
    recognised="ORT's log: a declared shape contradicts the inferred or the actual one",
    advice="export again, or remove the wrong declarations from the file (value_info, outputs)",
    source="ORT goes on with the actual shape; memory planning and compiled providers may not",
)
def ort_met_other_shapes(evidence: Evidence) -> FindingRecords:
    """The model declares shapes that are not those of its tensors."""
    messages = _messages(evidence, _SHAPES)
    if not messages:
        return
    yield finding(
        "The model declares shapes that its tensors do not have",
        *messages,
        forecast=Forecast.unknown("correctness", "sure"),
        fix=Fix("export", "export again with the true shapes, or with symbolic dimensions where sizes vary"),
    )


@rule(
    "ort-left-nodes-on-the-cpu",
    needs=("log",),
    recognised="ORT's log: nodes were not assigned to the preferred execution providers, or Memcpy was added",
    advice="look at the placement: which operators fell to the CPU, and why",
    source="ORT puts small shape computations there on purpose; anything else costs copies",
)
def ort_left_nodes_on_the_cpu(evidence: Evidence) -> FindingRecords:
    """ORT says that nodes did not get the provider that was asked for."""
    messages = (*_messages(evidence, FALLBACK), *_messages(evidence, _COPIES))
    if not messages:
        return
    yield finding(
        "Some nodes run on the CPU in place of the provider that was asked for",
        *messages[:MOST_MESSAGES],
        forecast=Forecast.unknown("time", "maybe"),
        fix=Fix("note", "look at the reasons in the placement", code="wb.explain(model, config).placement"),
    )


@rule(
    "ort-could-not-fold",
    needs=("log",),
    recognised="ORT's log: could not find a CPU kernel and hence can't constant fold",
    advice="fold the constants before: precision None, rewrites or the exporter's do_constant_folding",
    source="constants in float16 or bfloat16 have no CPU kernel for many operators",
)
def ort_could_not_fold(evidence: Evidence) -> FindingRecords:
    """ORT computes constants in every run, since the CPU has no kernel to fold them with."""
    messages = _messages(evidence, FOLDING)
    if not messages:
        return
    code = "torch.onnx.export(…, do_constant_folding=True)"
    yield finding(
        f"{len(_matching(evidence, FOLDING))} constant nodes could not be folded",
        *messages,
        forecast=Forecast("likely", _SMALL),
        fix=Fix("export", "fold constants before the export", code=code),
    )


@rule(
    "ort-warned",
    needs=("log",),
    recognised="ORT's log: any other warning or error",
    advice="read it: ORT says what it does otherwise than asked",
    source="the log of the session",
)
def ort_warned(evidence: Evidence) -> FindingRecords:
    """ORT warned of something that no other rule covers."""
    lines = [line for line in _warnings(evidence) if not any(pattern.search(line) for pattern in _KNOWN)]
    if not lines:
        return
    yield finding(
        f"ORT warned {len(lines)} time{'s' * (len(lines) > 1)}",
        *_distinct(lines),
        forecast=Forecast("maybe", _SMALL),
        fix=Fix("note", "read the log of the run", code="result.runs[0].log"),
    )


def _warnings(evidence: Evidence) -> list[str]:
    return [line.message for line in evidence.log or () if line.is_problem]


def _matching(evidence: Evidence, pattern: re.Pattern[str]) -> list[str]:
    return [line for line in _warnings(evidence) if pattern.search(line)]


def _messages(evidence: Evidence, pattern: re.Pattern[str]) -> tuple[str, ...]:
    return _distinct(_matching(evidence, pattern))


def _distinct(lines: list[str]) -> tuple[str, ...]:
    """Return the first distinct lines, shortened."""
    return tuple(dict.fromkeys(line[:_MOST_LETTERS] for line in lines))[:MOST_MESSAGES]
