"""The file of a deployment that makes its session, with the options of the config and nothing else."""

from __future__ import annotations

from workbench.core.config.plan import SessionPlan
from workbench.core.config.script import options_of, session_of

_HEAD = '''"""The session of this deployment: the options that were measured, as plain onnxruntime calls."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read when onnxruntime is imported

import onnxruntime as ort

'''
_LIBRARIES = """from pathlib import Path

LIBRARIES = Path(__file__).with_name("libraries")

"""
_PLAIN = '''

def run(session, feeds):
    """One inference; the result is a list of arrays in the order of the outputs."""
    return session.run(None, feeds, RUN_OPTIONS)
'''
_BOUND = '''

def run(session, feeds):
    """One inference with bound inputs and outputs; the result is a list of arrays."""
    on_gpu = {"CUDAExecutionProvider", "TensorrtExecutionProvider"} & set(session.get_providers())
    binding = session.io_binding()
    for name, array in feeds.items():
        binding.bind_cpu_input(name, array)
    for output in session.get_outputs():
        binding.bind_output(output.name, "cuda" if on_gpu else "cpu")
    session.run_with_iobinding(binding, RUN_OPTIONS)
    return binding.copy_outputs_to_cpu()
'''


def session_file(plan: SessionPlan) -> str:
    """Return Python with `make_session(model)` and `run(session, feeds)`.

    The libraries of the plan are names in the folder `libraries` beside the file.
    """
    libraries = plan.custom_ops or any(library != "auto" for _, library in plan.plugins)
    options = options_of(plan, "LIBRARIES")
    made = [line for line in session_of(plan, "model") if not line.startswith("print(")]
    run_options = [f"RUN_OPTIONS.add_run_config_entry({key!r}, {text!r})\n" for key, text in plan.run_entries]
    return "".join(
        [
            _HEAD,
            _LIBRARIES if libraries else "",
            "RUN_OPTIONS = ort.RunOptions()\n",
            *run_options,
            "\n\ndef make_session(model):\n",
            '    """Make the session of the file `model`, without the silent fallback of a failed run."""\n',
            *(f"    {line}\n" for line in (*options, *made)),
            "    session.disable_fallback()\n",
            "    return session\n",
            _BOUND if plan.io_binding else _PLAIN,
        ]
    )
