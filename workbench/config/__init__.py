"""What can be turned: the config, its parts, the catalogue of options, and config to code."""

from workbench.config.catalogue import catalogue as catalogue
from workbench.config.config import Config as Config
from workbench.config.config import Engine as Engine
from workbench.config.engines import OpenVino as OpenVino
from workbench.config.engines import PyTorch as PyTorch
from workbench.config.engines import TensorRt as TensorRt
from workbench.config.fields import KNOBS as KNOBS
from workbench.config.fusion import TransformerFusion as TransformerFusion
from workbench.config.knob import Knob as Knob
from workbench.config.option import Option as Option
from workbench.config.parts import Part as Part
from workbench.config.parts import part_types as part_types
from workbench.config.passes import pass_help as pass_help
from workbench.config.passes import shipped_passes as shipped_passes
from workbench.config.precision import BFloat16 as BFloat16
from workbench.config.precision import Float16 as Float16
from workbench.config.precision import Precision as Precision
from workbench.config.precision import PreparedModel as PreparedModel
from workbench.config.provider import Provider as Provider
from workbench.config.quantization import DynamicInt8 as DynamicInt8
from workbench.config.quantization import StaticInt8 as StaticInt8
from workbench.config.quantization import WeightOnly as WeightOnly
