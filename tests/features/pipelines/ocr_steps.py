"""What stands between the three models that read a picture: detector, direction, recognition."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

LEAST_PROBABILITY = 0.3
GROWTH = 12  # pixels around the core of a line, which is what the detector marks


def normalized(picture: np.ndarray) -> dict[str, Any]:
    """Return the picture as the detector takes it; its sides are multiples of 32."""
    values = (picture / np.float32(255) - np.float32(0.5)) / np.float32(0.5)
    return {"x": values.transpose(2, 0, 1)[None].astype(np.float32)}


def cut(probabilities: np.ndarray, picture: np.ndarray) -> dict[str, Any]:
    """Return each line of text, once for the direction and once for the recognition."""
    marked = probabilities[0, 0] > LEAST_PROBABILITY
    rows = np.flatnonzero(marked.any(1))
    groups = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    lines = []
    for group in groups:
        columns = np.flatnonzero(marked[group].any(0))
        top, bottom = max(group[0] - GROWTH, 0), group[-1] + GROWTH
        lines.append(picture[top:bottom, max(columns[0] - GROWTH, 0) : columns[-1] + GROWTH])
    return {"x": _scaled(lines, 192), "lines": _scaled(lines, 320)}


def upright(directions: np.ndarray, lines: np.ndarray) -> dict[str, Any]:
    """Turn the lines that stand on their head."""
    upside_down = directions[:, 1] > 0.9
    turned = np.where(upside_down[:, None, None, None], lines[..., ::-1, ::-1], lines)
    return {"x": np.ascontiguousarray(turned)}


def places(scores: np.ndarray) -> np.ndarray:
    """Return the places of the letters of the first line in the alphabet, without repeats and blanks."""
    best = scores[0].argmax(-1)
    fresh = np.append(True, np.diff(best) != 0)
    return best[fresh & (best > 0)]


def _scaled(lines: list[np.ndarray], width: int) -> np.ndarray:
    pictures = [np.asarray(Image.fromarray(line).resize((width, 48)), np.float32) for line in lines]
    return ((np.stack(pictures) / 255 - 0.5) / 0.5).transpose(0, 3, 1, 2).astype(np.float32)
