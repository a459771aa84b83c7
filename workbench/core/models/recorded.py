"""The model of a comparison that was made elsewhere or earlier, as far as it is on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.core.errors import WorkbenchError
from workbench.core.models.samples import sample_names

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord, InputsRecord


def is_file_of(record: ComparisonRecord, model: Any) -> bool:
    """Return whether a model is the one that was compared: the same content, whatever its name."""
    if model.file_bytes != record.model.graph_bytes + record.model.external_bytes:
        return False
    try:
        return bool(model.sha256 == record.model.sha256)
    except WorkbenchError:  # the file went away
        return False


def find_model(record: ComparisonRecord, recent: Iterable[str]) -> tuple[Any, str] | None:
    """Return the compared model with the source that opens it: the sample of its name, or a recent file.

    Nothing is downloaded. None: it is not here.
    """
    from workbench.core.models import load  # and onnx with it

    name = record.model.name
    files = (source for source in recent if Path(source).stem == name and Path(source).is_file())
    for source in (*([name] if name in sample_names() else []), *files):
        try:
            model = load(source)
        except WorkbenchError:
            continue
        if is_file_of(record, model):
            model.describe()
            return model, source
    return None


def sizes_of(model: Any, inputs: InputsRecord) -> tuple[tuple[str, int], ...]:
    """Return the sizes of free axes in recorded inputs; none where the default random inputs are these."""
    try:
        if model.inputs(seed=inputs.seed or 0).shapes == inputs.shapes:
            return ()
    except WorkbenchError:
        return ()
    from workbench.core.models.usual import sizes_in  # and onnx with it

    return tuple(sizes_in(model.structure, inputs.shapes).items())
