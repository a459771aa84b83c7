"""Everything that can be turned, as one frozen value; every default leaves the choice to ORT."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from workbench.core.config import (
    difference,
    engine_script,
    notes,
    rules,
    runtime,
    script,
    script_inputs,
    script_steps,
    script_text,
    user_session,
)
from workbench.core.config.fields import BY_FIELD, ConfigFields, check_fields
from workbench.core.config.foreign import check_trusted
from workbench.core.config.parts import check_fields as check_part_fields
from workbench.core.config.parts import part_types
from workbench.core.config.plan import SessionPlan, session_plan
from workbench.core.config.script_inputs import draw_code, inputs_of_model
from workbench.core.cpu import usable_cores
from workbench.core.errors import ConfigError
from workbench.core.text import did_you_mean, listed, quoted


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Config(ConfigFields):
    """The settings of a session. Hashable, comparable, never illegal: a bad value or combination raises here.

    Wider values are accepted than are held: dicts for pairs, names for providers
    (`Config(providers=["cuda"], free_dimensions={"batch": 1})`). `fields.KNOBS` says what each field does.
    Nothing is looked up on the machine: whether an interpreter (`runtime`) exists is checked when it is used.

    >>> import workbench as wb
    >>> wb.Config(level="all", intra_op_threads=2).replace(level=None)
    Config(intra_op_threads=2)
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            value = BY_FIELD[field.name].canonical(getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        for name, value in rules.checked(self).items():
            object.__setattr__(self, name, value)

    def replace(self, **changes: Any) -> Config:
        """Return the config with some fields changed; refuse an unknown name with the nearest known one."""
        check_fields(changes)
        return replace(self, **changes)

    def diff(self, other: Config) -> difference.ConfigDifference:
        """Return what differs from this config to `other`; its `str()` is a sentence with this one as A."""
        return difference.between(self, other)

    def notes(self, cores: int | None = None) -> tuple[str, ...]:
        """Return a sentence for each setting that is legal but probably not meant.

        `cores`: those that the process may use.
        """
        return notes.notes(self, cores or usable_cores())

    def plan(self) -> SessionPlan:
        """Return the calls of ORT that make this session."""
        return session_plan(self)

    @property
    def interpreter(self) -> str:
        """The Python of the environment that `runtime` names, else of this one."""
        return runtime.interpreter(self.runtime)

    @property
    def runtime_only(self) -> Config:
        """The config without what changes the model file."""
        if not self.changes_model:
            return self
        return self.replace(rewrites=(), fusion=None, precision=None, saved_graph=None, free_dimensions=())

    @property
    def session_config(self) -> Config:
        """The config of the session that loads the prepared file; a saved graph is not optimized again."""
        config = self.runtime_only
        if self.saved_graph in (
            None,
            "compiled",
        ):  # ORT has yet to optimize the other parts
            return config
        return config.replace(level="disabled", disabled_passes=())

    @classmethod
    def from_session(cls, session_or_options: Any, providers: Iterable[Any] | None = None) -> Config:
        """Return the config of a session that your own code made, or of its `SessionOptions` and providers.

        ONNX Runtime gives back attributes, entries and provider options. It does not give back disabled
        passes, free dimensions, custom operators and initializers added in code: set them with `replace`.
        """
        return cls(**user_session.fields_of(session_or_options, providers))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Config:
        """Return the config that `to_dict` wrote; refuse anything else, as a stranger's bundle may hold."""
        if not isinstance(data, Mapping):
            raise ConfigError(
                f"A config cannot be {quoted(data)}.", "It is an object of fields and their values."
            )
        check_fields(data)
        return cls(**{name: BY_FIELD[name].from_json(value) for name, value in data.items()})

    @classmethod
    def from_assignments(cls, texts: Iterable[str], base: Config | None = None) -> Config:
        """Return the config of a command line's texts: `level=all`, `providers.cuda.device_id=1`."""
        start = base or cls()
        return start.replace(**_assigned(start, texts))

    def to_python(
        self,
        model: str | os.PathLike[str],
        folder: str | os.PathLike[str] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        sample: str | None = None,
        inputs: script_inputs.Described | None = None,
    ) -> str:
        """Return a plain onnxruntime script that prepares the model and makes this session of it.

        `model` is a path, or what `wb.load` returned. For another engine the script is one of that engine;
        `sample` names the sample whose architecture PyTorch builds, by default the model's name.

        What it prepares is written into `folder`, by default one named after the model in the folder where
        the script runs; nothing is written beside the model.
        Static int8 reads its calibration examples from `calibration.npz`: an array for each input, all
        examples along the first axis. Without that file it draws random ones by seeds. Run as a program, a
        script that prepares a file, or knows its inputs, warms up and times a call. Its inputs have the sizes
        and kinds of `inputs` (`wb.Inputs`, or those of a result), by default those of an opened model; of a
        path alone they are random, where axes of these names have these `sizes`.
        """
        check_trusted(self)
        described = inputs or inputs_of_model(model, dict(self.free_dimensions), sizes)
        draw, steps = draw_code(described, sizes), None
        if self.changes_model:
            on_ort = self.replace(engine=None)
            steps = script_steps.steps(on_ort, model, on_ort.runtime_only.plan(), folder, draw)
        if self.engine is not None:
            file, before = (model, ()) if steps is None else (steps.file, steps.lines())
            threads, name = self.intra_op_threads, sample
            if name is None and hasattr(model, "inputs"):  # a path has a name as well: that of the file
                name = getattr(model, "name", None)
            return engine_script.engine_script(
                self.engine, threads, file, self.runtime, before=before, sample=name
            )
        if steps is None and described is None:
            return script.script(self.plan(), model, self.runtime)
        if steps is None:
            imports = f"{script_text.TIME}\n\nimport numpy as np\nimport onnxruntime as ort"
            text = script.script(self.plan(), model, self.runtime, (imports, draw))
        else:
            steps.imports.append(script_text.TIME)
            steps.add_draw()
            plan = self.session_config.plan()
            text = script.script(plan, steps.file, self.runtime, steps.lines())
        return text + script_text.TIMING

    def _repr_html_(self) -> str:
        return difference.to_html(self)


def Engine(name: str, *, threads: int | None = None, **options: Any) -> Config:
    """Return the config of another engine ("pytorch", "openvino", "tensorrt", "genai") with its options.

    >>> import workbench as wb
    >>> wb.Engine("openvino", threads=2)
    Config(intra_op_threads=2, engine=OpenVino())
    """
    types = part_types("engine")
    if name not in types:
        raise ConfigError(
            f"{quoted(name)} is no engine.", f"{did_you_mean(name, types)}Engines: {listed(types, None)}."
        )
    check_part_fields(types[name], options)
    part: Any = types[name](**options)
    return Config(engine=part, intra_op_threads=threads)


def _assigned(base: ConfigFields, texts: Iterable[str]) -> dict[str, Any]:
    """Return the fields that the texts assign; their order does not matter, each name is given once."""
    values: dict[str, Any] = {}
    inside: dict[str, dict[str, str]] = {}  # field → name in it → text
    for text in texts:
        path, equals, value = text.partition("=")
        field, _, name = path.strip().partition(".")
        if not equals:
            raise ConfigError(f"{quoted(text)} assigns nothing.", "Write name=value, such as level=all.")
        check_fields([field])
        if name in inside.get(field, ()) or (not name and field in values):
            raise ConfigError(f"{quoted(path.strip())} is given twice.", "Give it once.")
        if name:
            inside.setdefault(field, {})[name] = value.strip()
        else:
            values[field] = BY_FIELD[field].parse(value.strip())
    for field, named in inside.items():
        values[field] = BY_FIELD[field].parse_inside(values.get(field, getattr(base, field)), named)
    return values
