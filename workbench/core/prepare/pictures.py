"""A folder of images or .npy files as calibration data, with the pre-processing used in training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.errors import InputError
from workbench.core.models.declared import TensorType, declared_inputs
from workbench.core.models.model import Model
from workbench.core.models.values import dtype_of
from workbench.core.prepare.example import checked
from workbench.core.stored_files import expanded
from workbench.core.text import path_text, shorten

IMAGES = frozenset((".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"))
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_MOST_PIXELS = 100_000_000  # of one decoded image


@dataclass(frozen=True, slots=True)
class Pictures:
    """A folder of images (or of .npy arrays), with the conversion of a file to an input.

    An image is read as RGB (grey for a model with one channel), scaled to `size / crop` on the shorter side
    and cropped to the central `size` by `size`. The values of 0 to 255 are multiplied by `scale`; `mean` is
    subtracted and the result divided by `std`, per channel. The defaults suit ImageNet models. `size`
    follows from a fixed input of the model. Arrays in .npy files are fed unchanged.

    >>> import workbench as wb
    >>> wb.Pictures("photos", mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5)).crop
    0.875
    """

    folder: str | Path
    mean: tuple[float, ...] = IMAGENET_MEAN
    std: tuple[float, ...] = IMAGENET_STD
    scale: float = 1 / 255
    size: int | tuple[int, int] | None = None  # height and width
    crop: float = 0.875

    def __post_init__(self) -> None:
        if not 0 < self.crop <= 1:
            raise InputError(f"crop={self.crop:g} is no share", "give a number above 0 and up to 1")
        if any(not part > 0 for part in self.std):
            raise InputError(f"std={self.std} holds a value that is not above 0", "give the trained values")

    def in_words(self) -> str:
        """Return the pre-processing in words, for the record."""
        return (
            f"scaled by {self.scale:.4g}, mean {', '.join(f'{part:g}' for part in self.mean)}, "
            f"std {', '.join(f'{part:g}' for part in self.std)}, middle {self.crop:.1%} of the shorter side"
        )


def read_folder(pictures: Pictures, model: Model) -> tuple[str, str, Iterator[dict[str, Any]]]:
    """Return the name of the folder, the origin of its examples, and the feeds in the order of file names."""
    folder = expanded(pictures.folder)
    if not folder.is_dir():
        raise InputError(f"{path_text(folder)} is no folder", "give a folder of images or of .npy files")
    try:
        files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in {*IMAGES, ".npy", ".npz"})
    except OSError as error:
        raise InputError(
            f"{path_text(folder)} cannot be read: {error.strerror}", "check its rights"
        ) from error
    if not files:
        raise InputError(
            f"{path_text(folder)} holds no images and no .npy files",
            f"put files there that end in {', '.join(sorted(IMAGES))}, .npy or .npz",
        )
    given = f"{len(files)} files in {folder.name} (folder)"
    images = any(path.suffix.lower() in IMAGES for path in files)
    words = words_for(pictures, model) if images else "arrays as they are"
    return given, words, _feeds(files, pictures, model)


def words_for(pictures: Pictures, model: Model) -> str:
    """Return the pre-processing for a model in words, for the record."""
    if _is_scaled(_picture_input(model)[1]):
        return pictures.in_words()
    return f"values of 0 to 255, middle {pictures.crop:.1%} of the shorter side"


def _is_scaled(element: Any) -> bool:
    """Return whether an input of this type takes scaled values: whole numbers are pixels as they are."""
    return np.dtype(element).kind not in "biu"


def picture_array(image: Any, pictures: Pictures, model: Model) -> dict[str, Any]:
    """Return the feed of an opened image (PIL)."""
    name, element, dims = _picture_input(model)
    channels_last = dims[-1] in (1, 3) and dims[1] not in (1, 3)
    channels = dims[-1] if channels_last else dims[1]
    height, width = _size(pictures, dims[1:3] if channels_last else dims[2:4])
    image = image.convert("L" if channels == 1 else "RGB")
    image = _cut(image, height, width, pictures.crop)
    pixels = np.asarray(image, np.float32).reshape(height, width, -1)
    if _is_scaled(element):
        mean, std = (np.array(_per_channel(part, pixels.shape[2])) for part in (pictures.mean, pictures.std))
        pixels = (pixels * pictures.scale - mean) / std
    made = pixels if channels_last else pixels.transpose(2, 0, 1)
    return {name: np.ascontiguousarray(made[None]).astype(element)}


def _feeds(files: list[Path], pictures: Pictures, model: Model) -> Iterator[dict[str, Any]]:
    from workbench.core.models.inputs import read_npz

    for path in files:
        if path.suffix.lower() == ".npz":
            feed = read_npz(path)
        elif path.suffix.lower() == ".npy":
            feed = _array_feed(path, model)
        else:
            feed = _image_feed(path, pictures, model)
        yield checked(feed, model, path_text(path))


def _image_feed(path: Path, pictures: Pictures, model: Model) -> dict[str, Any]:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise InputError(
                    f"{path_text(path)} has {image.width:,} by {image.height:,} pixels",
                    f"give pictures of at most {_MOST_PIXELS:,} pixels",
                )
            return picture_array(image, pictures, model)
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError, ValueError, SyntaxError) as error:
        raise InputError(
            f"{path_text(path)} is no image that can be read: {shorten(str(error), 200)}",
            "remove it from the folder, or save it again",
        ) from error


def _array_feed(path: Path, model: Model) -> dict[str, Any]:
    inputs = declared_inputs(model.structure)
    if len(inputs) != 1:
        raise InputError(
            f"{path_text(path)} holds one array, and the model has {len(inputs)} inputs",
            "save .npz files with an array for every input",
        )
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(
            f"{path_text(path)} cannot be read: {shorten(str(error), 200)}", "save it again"
        ) from error
    rank = len(inputs[0].dims)
    return {inputs[0].name: array[None] if array.ndim == rank - 1 else array}


def _picture_input(model: Model) -> tuple[str, Any, list[int | None]]:
    inputs = declared_inputs(model.structure)
    kind = inputs[0].type if len(inputs) == 1 else None
    if not isinstance(kind, TensorType) or len(kind.dims or ()) != 4:
        raise InputError(
            "images fit a model with one input of four dimensions, and this model has another",
            "give .npz files with an array for every input, or an iterable of feeds",
        )
    dims = [dim if dim and isinstance(dim, int) else None for dim in inputs[0].dims]
    return inputs[0].name, dtype_of(kind.element, f"The input {shorten(inputs[0].name)!r}"), dims


def _size(pictures: Pictures, dims: list[int | None]) -> tuple[int, int]:
    asked = pictures.size
    if asked is not None:
        return asked if isinstance(asked, tuple) else (asked, asked)
    if dims[0] is None or dims[1] is None:
        raise InputError(
            "the model does not fix how large its pictures are", "say it: wb.Pictures(folder, size=224)"
        )
    return dims[0], dims[1]


def _cut(image: Any, height: int, width: int, crop: float) -> Any:
    """Scale the shorter side to `size / crop`; return the central crop."""
    from PIL import Image

    factor = max(height / image.height, width / image.width) / crop
    size = (max(width, round(image.width * factor)), max(height, round(image.height * factor)))
    image = image.resize(size, Image.Resampling.BILINEAR)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))


def _per_channel(values: tuple[float, ...], channels: int) -> tuple[float, ...]:
    if len(values) == channels:
        return values
    if channels == 1:
        return (sum(values) / len(values),)
    raise InputError(
        f"{len(values)} values are given for {channels} channels", "give one value of mean and std a channel"
    )
