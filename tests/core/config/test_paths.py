"""Every option of the catalogue whose value names a library or a file is known as one."""

from __future__ import annotations

import re

from workbench.core.config import catalogue
from workbench.core.config.foreign import is_path

SPEAKS_OF_FILES = re.compile(
    r"path|file|folder|director|_dir\b|\blib|plugin|packag|cache|csv|json|dump|write|serializ", re.IGNORECASE
)
KNOWN = {
    "session.collect_node_memory_stats_to_file": "path",
    "session.optimized_model_filepath": "path",
    "session.optimized_model_external_initializers_file_name": "path",
    "session.resource_cuda_partitioning_settings": "path",
    "session.node_partition_config_file": "path",
    "ep.context_file_path": "path",
    "trt_extra_plugin_lib_paths": "library",
    "trt_engine_decryption_lib_path": "library",
    "trt_engine_cache_path": "path",
    "trt_engine_cache_prefix": "path",
    "backend_path": "library",
    "op_packages": "library",
    "qnn_saver_path": "library",
    "profiling_file_path": "path",
    "cache_dir": "path",
    "load_config": "path",
    "qnn.lora_config": "path",
}
NO_PATH = frozenset(  # texts that speak of files or libraries and hold no name of one; read one by one
    {"trt_tactic_sources", "trt_profile_min_shapes", "trt_profile_max_shapes", "trt_profile_opt_shapes"}
    | {"nv_profile_min_shapes", "nv_profile_max_shapes", "nv_profile_opt_shapes"}
)


def test_the_known_ones_are_among_them() -> None:
    opens = {option.name: option.opens for option in catalogue().all_options}
    assert KNOWN.items() <= opens.items()


def test_every_text_of_the_catalogue_that_can_hold_a_path_is_one_of_them() -> None:
    for option in catalogue().all_options:
        opens = option.opens is not None
        assert is_path(option.owner, option.name) == opens, option.label
        if option.type in ("bool", "int", "float", "enum", "address"):
            assert not opens, option.label
        elif option.type == "path" or (
            SPEAKS_OF_FILES.search(f"{option.name} {option.help}") and option.name not in NO_PATH
        ):
            assert opens, option.label


def test_what_the_catalogue_does_not_know_can_be_a_path() -> None:
    assert is_path("StrangeExecutionProvider", "library")
    assert is_path("session", "session.newer")
