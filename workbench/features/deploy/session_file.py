"""The file of a deployment that makes its session, with the options of the config and nothing else."""

from __future__ import annotations

from dataclasses import replace

from workbench.core.config.plan import SessionPlan
from workbench.core.config.script import BINDING, options_of, plugins_of, run_options_of, session_of
from workbench.core.thread_variables import VARIABLES

_HEAD = '''"""The session of this deployment: the options that were measured, as plain onnxruntime calls."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read when onnxruntime is imported

import onnxruntime as ort

'''
_IMPORT = "\nimport onnxruntime"
_DEFAULT = 'os.environ.setdefault("{}", "{}")  # set it where the server starts to change it\n'
_LIBRARIES = """from pathlib import Path

LIBRARIES = Path(__file__).with_name("libraries")

"""
_RUN = '''

def run(session, feeds):
    """One inference; the result is a list of arrays in the order of the outputs."""
{}
'''
_PLAIN = "    return session.run(None, feeds, run_options)"
_BOUND = f"{BINDING}\n    return binding.copy_outputs_to_cpu()"


def session_file(plan: SessionPlan, *, threads_from_environment: bool = False) -> str:
    """Return Python with `make_session(model)` and `run(session, feeds)`.

    `threads_from_environment` leaves the threads of the plan to ORT's variables, and gives each its default.
    The libraries of the plan are names in the folder `libraries` beside the file.
    """
    defaults = ""
    if threads_from_environment:
        threads = {name: value for name, value in plan.attributes if name in VARIABLES}
        plan = replace(plan, attributes=tuple(item for item in plan.attributes if item[0] not in threads))
        defaults = "".join(_DEFAULT.format(VARIABLES[name], value) for name, value in threads.items())
    libraries = plan.custom_ops or any(library != "auto" for _, library in plan.plugins)
    made = (*plugins_of(plan, "LIBRARIES"), *options_of(plan, "LIBRARIES"), *session_of(plan, "model"))
    return "".join(
        [
            _HEAD.replace(_IMPORT, defaults + _IMPORT),
            _LIBRARIES if libraries else "",
            *(f"{line}\n" for line in run_options_of(plan)),
            "\n\ndef make_session(model):\n",
            '    """Make the session of the file `model`, without the silent fallback of a failed run."""\n',
            *(f"    {line}\n" for line in made),
            "    session.disable_fallback()\n",
            "    return session\n",
            _RUN.format(_BOUND if plan.io_binding else _PLAIN),
        ]
    )
