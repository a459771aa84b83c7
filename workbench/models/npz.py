"""A feed from a NumPy archive: bounded before unpacking, never unpickled."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.models.values import MAX_BYTES
from workbench.text import bytes_text, path_text, shorten

_FORM = "Give a file that numpy.savez wrote, with one array for every input"


def read_npz(path: Path) -> dict[str, Any]:
    """Read every array of the archive by name."""
    label = path_text(path)
    try:
        with zipfile.ZipFile(path.expanduser()) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
        if total > MAX_BYTES:
            raise InputError(
                f"{label} unpacks to {bytes_text(total)}, above the bound of {bytes_text(MAX_BYTES)}",
                "Give fewer or smaller arrays",
            )
        with np.load(path.expanduser(), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except zipfile.BadZipFile as error:
        raise InputError(f"{label} is no .npz archive: {shorten(str(error))}", _FORM) from error
    except ValueError as error:
        fix = "Save strings as a unicode array (dtype 'U'), and nothing as Python objects"
        raise InputError(
            f"{label} holds an array that cannot be read: {shorten(str(error), 200)}", fix
        ) from error
    except OSError as error:
        raise InputError(f"{label} cannot be read: {error.strerror or error}", "Check the path") from error
    except Exception as error:
        raise InputError(f"{label} is damaged: {shorten(str(error), 200)}", _FORM) from error
