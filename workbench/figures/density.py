"""The density of samples, as a curve."""

from __future__ import annotations

from collections.abc import Sequence

POINTS = 120
LEAST_SAMPLES = 8  # fewer are dots and no shape
NARROWEST = 0.002  # of the median: the curve of equal samples is a peak that can be seen
TAIL = 0.01  # share of the samples at each end that the curve may leave out
BANDWIDTH = 0.9  # Silverman's rule of thumb, "Density Estimation" (1986), equation 3.31


def density(samples: Sequence[float], *, log: bool = False) -> tuple[tuple[float, float], ...]:
    """Return places and heights, at most 1, of a Gaussian kernel density; empty for few samples."""
    import numpy as np

    values = np.asarray(samples, dtype=np.float64)
    if len(values) < LEAST_SAMPLES or not np.isfinite(values).all() or (log and values.min() <= 0):
        return ()
    with np.errstate(all="ignore"):  # a stranger's bundle may hold 1e308
        scaled = np.log(values) if log else values
        first, low, middle, high, last = np.quantile(scaled, [TAIL, 0.25, 0.5, 0.75, 1 - TAIL])
        spread = min(scaled.std(), (high - low) / 1.34) or scaled.std()
        least = NARROWEST if log else NARROWEST * abs(middle)
        width = max(BANDWIDTH * spread * len(scaled) ** -0.2, least)
        places = np.linspace(first - 3 * width, last + 3 * width, POINTS)
        heights = np.exp(-0.5 * ((places[:, None] - scaled[None, :]) / width) ** 2).sum(axis=1)
        heights /= heights.max()
        places = np.exp(places) if log else places
    if not (np.isfinite(places).all() and np.isfinite(heights).all()):
        return ()
    return tuple(zip(places.tolist(), heights.tolist(), strict=True))
