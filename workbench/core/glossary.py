"""The words that need a sentence: tooltips of answers and tables, and docs/words.md, come from here."""

from __future__ import annotations

import re
from collections.abc import Iterator

WORDS = {
    "arena": "Memory that ONNX Runtime keeps between runs and reuses, rather than asking for it again.",
    "arithmetic intensity": "Operations per byte that a node moves; where it is low, memory is the limit.",
    "baseline": "The config that the others are compared with: A.",
    "block": "Runs of one config that follow each other without a pause, about 10 ms of them.",
    "caller": "A thread or a process that sends requests, one after the other.",
    "calibration": "Examples are run to learn which values occur in each tensor; static int8 needs it.",
    "cold start": "Everything from the start of a process until its first run has ended.",
    "comparison": "Two or more configs measured in turns, with a verdict about each beside A.",
    "config": "All settings of one way to run a model: level, precision, provider, threads and the others.",
    "doubt": "A reason not to trust a measurement fully, with its evidence and a fix.",
    "dynamic int8": "Weights are 8-bit integers; each run finds the range of the other tensors by itself.",
    "excluded": "Measured while other programs used the machine, and therefore not counted.",
    "fallback": "Another provider, mostly the CPU, computes a node that the chosen provider does not take.",
    "fate": "What became of a node of the model: kept, fused, folded into a constant, or eliminated.",
    "file": "In a comparison, the model file that ONNX Runtime loads, with its weights.",
    "finding": "What costs time, memory or accuracy, with its evidence, a fix and a predicted gain.",
    "fusion": "ONNX Runtime replaces several nodes by one that computes the same in fewer steps.",
    "interval": "The range that holds the true value at the stated confidence; more rounds narrow it.",
    "IO binding": "Inputs and outputs stay in fixed buffers, so that no run copies them.",
    "kernel": "The code that computes one kind of node on one provider.",
    "knee": "Of the configs that no other beats in everything, the one nearest to the best of each.",
    "latency": "The time that one run takes, as its caller sees it.",
    "median": "Half of the runs are faster than this, and half are slower.",
    "optimization level": "How far the graph may be rewritten: disabled, basic, extended, layout or all.",
    "p90": "9 of 10 runs are at least as fast as this.",
    "p95": "19 of 20 runs are at least as fast as this.",
    "p99": "99 of 100 runs are at least as fast as this; the slowest 1 in 100 take longer.",
    "partition": "Neighbouring nodes on one provider; tensors between two partitions may be copied.",
    "pass": "One rule by which ONNX Runtime rewrites the graph before it runs.",
    "peak memory": "The most memory that the process held at any time.",
    "precision": "The kind of number that the model computes with, such as float32, float16 or int8.",
    "provenance": "Which nodes of the model a node of the optimized graph computes.",
    "provider": "The part of ONNX Runtime that computes nodes on one kind of hardware, such as CPU or CUDA.",
    "ratio": "A's time over B's: 2 means that B is twice as fast.",
    "roofline": "A picture of the limit: no node is faster than the processor or the memory allows.",
    "round": "One turn of a comparison: each config gets a fresh process and a short measurement.",
    "run": "One pass through the model; also a config of a comparison, with all that was measured of it.",
    "sample": "The time of one run, as it was measured.",
    "self time": "The time of a node alone, without the nodes inside it.",
    "session": "A model that ONNX Runtime has loaded, optimized and made ready to run.",
    "signal to noise": "An output beside its error, in decibels: at 20 dB it is 10 % off, at 40 dB 1 %.",
    "static int8": "Weights and other tensors are 8-bit integers; calibration gives their ranges in advance.",
    "throughput": "How many runs or requests are done in a second.",
    "tie": "No difference that matters: it is within twice the smallest effect of interest (1 %).",
    "time to load": "How long ONNX Runtime reads the file, optimizes the graph and prepares the kernels.",
    "verdict": "What a comparison says: faster, slower, a tie, outputs differ, or unknown.",
    "warm-up": "Runs before the measurement, until their times are steady; they do not count.",
    "worth": "How much faster a run is with a pass than without it.",
}
ALSO = {  # other names on the screen, and the word that they stand for
    "95 % interval": "interval",
    "CI": "interval",
    "execution provider": "provider",
    "high": "interval",
    "intensity": "arithmetic intensity",
    "level": "optimization level",
    "load": "time to load",
    "low": "interval",
    "memory": "peak memory",
    "p50": "median",
    "peak": "peak memory",
    "requests per s": "throughput",
    "runs per s": "throughput",
    "runs/s": "throughput",
    "samples excluded": "excluded",
    "self": "self time",
    "slowest 1 in 100": "p99",
    "speed-up": "ratio",
    "speedup": "ratio",
    "SQNR": "signal to noise",
    "throughput per s": "throughput",
    "tokens per s": "throughput",
}


def meaning(word: str) -> str:
    """Return a word with its sentence: "median: Half of the runs are faster …"."""
    return f"{word}: {WORDS[word]}"


def explained(name: str) -> str:
    """Return what the name of a tile or column means; empty where it begins with none of the words."""
    match = _BEGINS.match(name.replace("_", " "))
    word = None if match is None else _WORD_OF.get(match[1].casefold())  # a letter may match i and be none
    return "" if word is None else meaning(word)


def entries() -> Iterator[tuple[str, str]]:
    """Yield each word with its other names, and its sentence, in the order of the alphabet."""
    for word in sorted(WORDS, key=str.casefold):
        yield ", ".join([word, *(name for name, of in ALSO.items() if of == word)]), WORDS[word]


_WORD_OF = {name.casefold(): word for name, word in ({word: word for word in WORDS} | ALSO).items()}
_LONGEST_FIRST = sorted(_WORD_OF, key=len, reverse=True)
_BEGINS = re.compile(rf"({'|'.join(map(re.escape, _LONGEST_FIRST))})(?:e?s)?(?![\w.])", re.IGNORECASE)
