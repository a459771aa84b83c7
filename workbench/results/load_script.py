"""One config of a load test as a plain onnxruntime script with its sessions and callers."""

from __future__ import annotations

import os
from dataclasses import replace
from textwrap import indent

from workbench.config import script_steps, script_text
from workbench.config.foreign import check_trusted
from workbench.config.plan import SessionPlan
from workbench.config.script import script, session_of
from workbench.records.load_test import LoadRun

_ARENA = """ort.create_and_register_allocator(
    ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT), None
)"""
_CALLERS = '''def load_test(feeds, callers={callers}, seconds=3.0):
    """Let callers send requests back to back; return the seconds that each answer took."""
    latencies, end = [], time.perf_counter() + seconds

    def caller(session):
        while (start := time.perf_counter()) < end:
            session.run(None, feeds, run_options)
            latencies.append(time.perf_counter() - start)

    threads = [
        threading.Thread(target=caller, args=(sessions[number % len(sessions)],)) for number in range(callers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return latencies'''


def load_script(run: LoadRun, model: str | os.PathLike[str], callers: int) -> str:
    """Return the script: the session of the config as often as asked for, and the loop of the callers."""
    config, file, before = (
        run.config,
        os.fspath(model),
        ["import threading\nimport time\n\nimport onnxruntime as ort"],
    )
    check_trusted(config)
    if config.changes_model:
        steps = script_steps.steps(config, model, config.runtime_only.plan())
        file, before = steps.file, ["import threading\nimport time", *script_text.lines(steps)]
    plan = _with_shared(config.session_config.plan(), run)
    at = 2 if config.changes_model else 1
    before[at:at] = _shared_lines(plan, run)  # behind the imports: ORT wants them before the first session
    sessions = ["sessions = [session]"]
    if run.sessions > 1:
        again = indent("\n".join(list(session_of(plan, repr(file)))[:-1]), "    ")  # without its print
        sessions += [f"for _ in range({run.sessions - 1}):", again, "    sessions.append(session)"]
    text = script(plan, file, config.runtime, before)
    return "\n".join([text, *sessions, "", "", _CALLERS.format(callers=callers)]) + "\n"


def _with_shared(plan: SessionPlan, run: LoadRun) -> SessionPlan:
    """Return the plan of sessions that use what their process shares."""
    attributes, entries = plan.attributes, plan.entries
    if "threads" in run.shared:
        attributes = (*attributes, ("use_per_session_threads", False))
    if "arena" in run.shared:
        entries = (*entries, ("session.use_env_allocators", "1"))
    return replace(plan, attributes=attributes, entries=entries)


def _shared_lines(plan: SessionPlan, run: LoadRun) -> list[str]:
    lines = []
    if "threads" in run.shared:
        sizes = dict(plan.attributes)
        intra, inter = (sizes.get(f"{pool}_op_num_threads", 0) for pool in ("intra", "inter"))
        lines.append(f"ort.set_global_thread_pool_sizes({intra}, {inter})")
    if "arena" in run.shared:
        lines.append(_ARENA)
    return lines
