"""Functions of the pipelines in the tests, as a user has them in a module."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

SCALE = 1.0


def prepared(pixels: np.ndarray) -> dict[str, Any]:
    return {"pixels": (pixels * SCALE).astype(np.float32)}


def slow(logits: np.ndarray) -> np.ndarray:
    end = time.perf_counter() + 0.004
    while time.perf_counter() < end:
        pass
    return logits


def best(slow: np.ndarray) -> int:
    return int(slow.argmax())


def broken(pixels: np.ndarray) -> np.ndarray:
    raise ValueError(f"a planted failure of {pixels.dtype}")


def two(pixels: np.ndarray) -> dict[str, Any]:
    return {"left": pixels, "right": pixels}


def read(file: np.ndarray) -> dict[str, Any]:
    return {"pixels": file}


def filed(logits: np.ndarray) -> dict[str, Any]:
    return {"file": logits}


def flat(pixels: np.ndarray) -> np.ndarray:
    return pixels.reshape(-1)


def nothing(logits: np.ndarray) -> None:
    del logits


def centred(pixels: np.ndarray) -> dict[str, Any]:
    return {"pixels": (pixels - 0.5).astype(np.float32)}


def token_ids(text: np.ndarray, letters: np.ndarray) -> dict[str, Any]:
    """Return the places of the characters of a text in an alphabet, as a tokenizer does."""
    alphabet = "".join(letters.tolist())
    return {"input_ids": np.array([[alphabet.index(letter) for letter in str(text)]], np.int64)}


def next_letter(scores: np.ndarray, letters: np.ndarray) -> str:
    return str(letters[scores[0, -1].argmax()])
