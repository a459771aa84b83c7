"""Files that were prepared elsewhere: use one in place of the model's own; refuse to quantize twice."""

from __future__ import annotations

from workbench.core.bundle.preparation import StepRecord
from workbench.core.config import Precision, PreparedModel
from workbench.core.errors import ModelError, PrepareError
from workbench.core.models.declared import TensorType, declared_inputs, declared_outputs
from workbench.core.models.fit import is_quantized
from workbench.core.models.model import Model
from workbench.core.text import listed, shorten


def check_precision(model: Model, precision: Precision | None) -> None:
    """Refuse to quantize an already quantized model."""
    if precision is None or isinstance(precision, PreparedModel) or not is_quantized(model):
        return
    form = model.description.quantized or "integer operators"
    raise PrepareError(
        f"{shorten(model.name)} is quantized already: {form}; {precision.LABEL} cannot be applied again",
        "leave precision out and it is measured as it is; or load the float model that it was made from, and "
        "compare both with precision=wb.PreparedModel('this file')",
    )


def prepared_file(source: Model, precision: PreparedModel) -> tuple[Model, StepRecord]:
    """Return the prepared file, after checking its inputs and outputs against the model."""
    from workbench.core.models import load

    assert precision.model  # checked by the config
    try:
        loaded = load(precision.model)
    except ModelError as error:
        raise PrepareError(f"prepared file: {error.problem}", error.fix) from error
    if precision.compare_outputs:
        _check_same("input", source, loaded, {})
        _check_same("output", source, loaded, dict(precision.renamed_outputs))
    usual = {**source.usual_dims, **loaded.usual_dims}
    model = Model(loaded.path, source.name, usual_dims=usual)
    form = loaded.description.quantized
    return model, StepRecord(
        name=PreparedModel.LABEL,
        did=f"took {shorten(loaded.name)} as it is" + (f": {form}" if form else ", which is not quantized"),
        parameters=(("model", loaded.name),),
        statistics=(),
        duration_s=0.0,
        cached=False,
        before_bytes=source.file_bytes,
        after_bytes=loaded.file_bytes,
        notes=("it was prepared elsewhere, and how is not known",)
        + (() if precision.compare_outputs else ("it is another net: its outputs are not compared",)),
    )


def _check_same(what: str, source: Model, other: Model, renamed: dict[str, str]) -> None:
    """Compare ports by name and rank; ORT checks the sizes. `renamed`: names of the file by the model's."""
    declared = declared_inputs if what == "input" else declared_outputs
    ours, theirs = ({value.name: value for value in declared(model.structure)} for model in (source, other))
    if unknown := sorted(set(renamed) - set(ours)):
        raise PrepareError(
            f"{shorten(source.name)} has no output {listed(unknown)} that could be renamed",
            f"its outputs are {listed(sorted(ours))}",
        )
    ours = {renamed.get(name, name): value for name, value in ours.items()}
    if set(ours) != set(theirs):
        raise PrepareError(
            f"{shorten(other.name)} has the {what}s {listed(sorted(theirs))}, and {shorten(source.name)} "
            f"{listed(sorted(ours))}",
            "give a file of the same model: both are fed and compared by these names; name renamed outputs, "
            "outputs={'old': 'new'}; or compare the time alone of two different nets, outputs='ignore'",
        )
    for name, value in ours.items():
        pair = (value.type, theirs[name].type)
        ranks = [len(kind.dims) for kind in pair if isinstance(kind, TensorType) and kind.dims is not None]
        if len(set(ranks)) > 1:
            raise PrepareError(
                f"the {what} {shorten(name)!r} has {ranks[1]} axes in {shorten(other.name)}, and {ranks[0]} "
                f"in {shorten(source.name)}",
                "give a file of the same model",
            )
