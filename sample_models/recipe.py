"""The recipe of a weight tensor, from which any machine draws a similar tensor, identical to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from sample_models import quantiles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["normal", "uniform", "constant"]

DTYPES = ("float16", "float32", "float64")
CHUNK_VALUES = 1 << 16  # a chunk's bits, indices and values fit a core's cache together
UNIFORM_SPREAD = 3**-0.5  # standard deviation of the uniform distribution over -1 to 1
MOST_UNIFORM_RANGE = 1.9  # half range over deviation: √3 if uniform, above 3 if normal


@dataclass(frozen=True, slots=True)
class Recipe:
    """The distribution of a tensor: `centre` is its mean, `scale` its deviation, `seed` its random stream."""

    kind: Kind
    dtype: str
    shape: tuple[int, ...]
    centre: float
    scale: float
    seed: int

    @property
    def size(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def bytes(self) -> int:
        return self.size * (int(self.dtype.removeprefix("float")) // 8)

    def chunks(self, values: int = CHUNK_VALUES) -> Iterator[NDArray[np.generic]]:
        """Yield the tensor's values in row-major order, little-endian, in chunks.

        The next chunk overwrites the array: copy values to keep.
        """
        import numpy as np

        levels = _levels(self.kind, self.dtype, self.centre, self.scale)
        if self.kind == "constant":
            full = np.full(min(values, self.size), levels[0], dtype=levels.dtype)
            for start in range(0, self.size, values):
                yield full[: self.size - start]
            return
        bits = np.random.Philox(key=np.array([self.seed, 0], dtype=np.uint64))
        indices = np.empty(values, dtype=np.intp)
        drawn = np.empty(values, dtype=levels.dtype)
        for start in range(0, self.size, values):
            count = min(values, self.size - start)
            words = bits.random_raw((count + 3) // 4).astype("<u8", copy=False)
            indices[:count] = words.view("<u2")[:count]
            # The indices are 16 bits wide, so "wrap" never wraps and only skips the check of bounds.
            np.take(levels, indices[:count], out=drawn[:count], mode="wrap")
            yield drawn[:count]

    def array(self) -> NDArray[np.generic]:
        """Return the whole tensor, for tests and small tensors."""
        import numpy as np

        parts = [chunk.copy() for chunk in self.chunks()]
        return np.concatenate(parts).reshape(self.shape) if parts else np.empty(self.shape, self.dtype)


def recipe_for(array: NDArray[np.generic], seed: int) -> Recipe:
    """Return the recipe of tensors with the kind, mean and standard deviation of `array`.

    Six significant digits are kept: more would be noise of a single draw.
    """
    import numpy as np

    values = array.astype(np.float64, copy=False).ravel()
    low, high = float(values.min()), float(values.max())
    if low == high:
        return Recipe("constant", array.dtype.name, array.shape, low, 0.0, seed)
    centre, scale = float(values.mean()), float(values.std())
    if abs(centre) < 4 * scale / values.size**0.5:
        centre = 0.0  # within the error of the mean: the distribution was centred
    flat = (high - low) / 2 < MOST_UNIFORM_RANGE * scale
    kind: Kind = "uniform" if flat else "normal"
    return Recipe(kind, array.dtype.name, array.shape, float(f"{centre:.6g}"), float(f"{scale:.6g}"), seed)


@lru_cache(maxsize=16)
def _levels(kind: Kind, dtype: str, centre: float, scale: float) -> NDArray[np.generic]:
    """Return the possible values of a tensor, one per quantile."""
    import numpy as np

    little = np.dtype(dtype).newbyteorder("<")
    if kind == "constant":
        return np.array([centre], dtype=little)
    table = quantiles.normal() if kind == "normal" else quantiles.uniform() / UNIFORM_SPREAD
    return (table * scale + centre).astype(little)
