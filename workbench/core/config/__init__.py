"""What can be turned: the config, its parts, the catalogue of options, and config to code."""

from workbench.core.config.catalogue import catalogue as catalogue
from workbench.core.config.config import Config as Config
from workbench.core.config.config import Engine as Engine
from workbench.core.config.engines import GenAi as GenAi
from workbench.core.config.engines import OpenVino as OpenVino
from workbench.core.config.engines import PyTorch as PyTorch
from workbench.core.config.engines import TensorRt as TensorRt
from workbench.core.config.fields import KNOBS as KNOBS
from workbench.core.config.fusion import TransformerFusion as TransformerFusion
from workbench.core.config.knob import Knob as Knob
from workbench.core.config.option import Option as Option
from workbench.core.config.parts import ConfigPart as ConfigPart
from workbench.core.config.parts import part_types as part_types
from workbench.core.config.passes import pass_help as pass_help
from workbench.core.config.passes import shipped_passes as shipped_passes
from workbench.core.config.precision import Float16 as Float16
from workbench.core.config.precision import Precision as Precision
from workbench.core.config.precision import PreparedModel as PreparedModel
from workbench.core.config.provider import Provider as Provider
from workbench.core.config.quantization import DynamicInt8 as DynamicInt8
from workbench.core.config.quantization import StaticInt8 as StaticInt8
from workbench.core.config.quantization import WeightOnly as WeightOnly
