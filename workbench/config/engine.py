"""`wb.Engine`: the config of another engine, for a comparison with ONNX Runtime."""

from __future__ import annotations

from typing import Any

from workbench.config import engines
from workbench.config.config import Config
from workbench.config.parts import check_fields, part_types
from workbench.errors import ConfigError
from workbench.text import did_you_mean, listed, quoted


def Engine(name: str, *, threads: int | None = None, **options: Any) -> Config:
    """Return the config of another engine: "pytorch", "openvino" or "tensorrt", with its own options.

    >>> import workbench as wb
    >>> wb.Engine("openvino", threads=2)
    Config(intra_op_threads=2, engine=OpenVino())
    """
    types = part_types(engines.PyTorch.FIELD)
    if name not in types:
        raise ConfigError(
            f"{quoted(name)} is no engine.", f"{did_you_mean(name, types)}Engines: {listed(types, None)}."
        )
    check_fields(types[name], options)
    part: Any = types[name](**options)
    return Config(engine=part, intra_op_threads=threads)
