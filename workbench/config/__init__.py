"""What can be turned: the config, its parts, the catalogue of options, and config to code."""

from workbench.config.catalogue import Catalogue, ProviderCard, catalogue
from workbench.config.config import Config
from workbench.config.difference import Change, ConfigDifference
from workbench.config.knobs import KNOBS, Knob
from workbench.config.option import Option
from workbench.config.passes import GraphPass, PassList, nearest_pass, shipped_passes
from workbench.config.plan import SessionPlan
from workbench.config.provider import Provider

__all__ = [
    "KNOBS",
    "Catalogue",
    "Change",
    "Config",
    "ConfigDifference",
    "GraphPass",
    "Knob",
    "Option",
    "PassList",
    "Provider",
    "ProviderCard",
    "SessionPlan",
    "catalogue",
    "nearest_pass",
    "shipped_passes",
]
