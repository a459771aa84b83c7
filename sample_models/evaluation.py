"""The held-out inputs and labels of the trained samples; numpy only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sample_models import FOLDER, TRAINED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONTEXT = 64  # letters in the language model's context
MOST_CALIBRATION = 200  # examples at most
_IMAGE = 64  # enlargement of the digits' 8 x 8 pixels: at 64 x 64 a convolution is worth quantizing


@dataclass(frozen=True, eq=False)
class EvaluationSet:
    """Held-out data of a trained sample. The first output's largest score is the prediction."""

    feeds: Mapping[str, NDArray[np.generic]]  # all examples, along the first axis
    labels: NDArray[np.int64]
    metric: str

    def __len__(self) -> int:
        return len(self.labels)

    def batches(self, size: int = 64) -> Iterator[tuple[dict[str, NDArray[Any]], NDArray[np.int64]]]:
        """Yield feeds and labels, `size` examples at a time; the last batch may be smaller."""
        for start in range(0, len(self), size):
            part = slice(start, start + size)
            yield {name: array[part] for name, array in self.feeds.items()}, self.labels[part]

    def score(self, run: Callable[[dict[str, NDArray[Any]]], NDArray[Any]], size: int = 64) -> float:
        """Return the share of right predictions; `run` returns the first output for some feeds."""
        right = count = 0
        for feeds, labels in self.batches(size):
            right += int((run(feeds).argmax(-1) == labels).sum())
            count += labels.size
        return right / count


def read_evaluation_set(name: str) -> EvaluationSet:
    """Read the evaluation set of one trained sample."""
    import numpy as np

    if name == "char-gpt":
        with np.load(TRAINED / "sonnets.npz", allow_pickle=False) as arrays:
            tokens = arrays["tokens"].astype(np.int64)
        return EvaluationSet({"input_ids": tokens[:, :-1]}, tokens[:, 1:], "next-character accuracy")
    with np.load(TRAINED / "digits.npz", allow_pickle=False) as arrays:
        pictures, labels = enlarge(arrays["pictures"]), arrays["labels"].astype(np.int64)
    return EvaluationSet({"pixels": pictures}, labels, "top-1 accuracy")


@dataclass(frozen=True, eq=False)
class CalibrationSet:
    """Training data for the activation ranges of a trained sample, without evaluation data."""

    feeds: Mapping[str, NDArray[np.generic]]  # all examples, along the first axis
    made_by: str


def read_calibration_set(name: str) -> CalibrationSet:
    """Read the calibration set of one trained sample."""
    import numpy as np

    if name == "char-gpt":
        text = np.frombuffer((FOLDER / "sonnets.txt").read_bytes().rpartition(b"\n\n")[0], np.uint8)
        starts = range(0, len(text) - CONTEXT, CONTEXT // 2)[:MOST_CALIBRATION]  # overlapping by half
        windows = np.stack([text[start : start + CONTEXT] for start in starts]).astype(np.int64)
        return CalibrationSet(
            {"input_ids": windows},
            f"{len(windows)} windows of {CONTEXT} letters of the ten sonnets trained on",
        )
    with np.load(TRAINED / "digits-calibration.npz", allow_pickle=False) as arrays:
        pictures = enlarge(arrays["pictures"])
    return CalibrationSet({"pixels": pictures}, f"{len(pictures)} digits of the training part, unshifted")


def enlarge(digits: NDArray[np.generic]) -> NDArray[np.float32]:
    """Enlarge pictures of 8 x 8 grey levels from 0 to 16 to 64 x 64 from 0 to 1, linearly.

    All numbers are small dyadic fractions, so the result is exact on every machine.
    """
    import numpy as np

    places = np.clip((np.arange(_IMAGE) + 0.5) * 8 / _IMAGE - 0.5, 0, 7)
    weights = np.maximum(0, 1 - np.abs(places[:, None] - np.arange(8)[None, :]))
    large: NDArray[np.float64] = weights @ (digits.astype(np.float64) / 16) @ weights.T
    return np.asarray(large[:, None], dtype=np.float32)
