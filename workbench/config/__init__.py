"""What can be turned: the config, its parts, the catalogue of options, and config to code."""

from workbench.config.catalogue import catalogue
from workbench.config.config import Config
from workbench.config.engine import Engine
from workbench.config.engines import OpenVino, PyTorch, TensorRt
from workbench.config.fusion import TransformerFusion
from workbench.config.knob import Knob
from workbench.config.knobs import KNOBS
from workbench.config.option import Option
from workbench.config.parts import Part, part_types
from workbench.config.passes import nearest_pass, pass_help, shipped_passes
from workbench.config.precision import (
    BFloat16,
    DynamicInt8,
    Float16,
    Precision,
    PreparedModel,
    StaticInt8,
    WeightOnly,
)
from workbench.config.provider import Provider

__all__ = [
    "KNOBS",
    "BFloat16",
    "Config",
    "DynamicInt8",
    "Engine",
    "Float16",
    "Knob",
    "OpenVino",
    "Option",
    "Part",
    "Precision",
    "PreparedModel",
    "Provider",
    "PyTorch",
    "StaticInt8",
    "TensorRt",
    "TransformerFusion",
    "WeightOnly",
    "catalogue",
    "nearest_pass",
    "part_types",
    "pass_help",
    "shipped_passes",
]
