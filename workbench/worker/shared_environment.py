"""What all sessions of a process can share: one thread pool, one memory arena."""

from __future__ import annotations

from typing import Any

import onnxruntime as ort

from workbench.worker.offered import member

_FIX = "update onnxruntime, or let each session have its own threads and arena"


def share(plan: dict[str, Any]) -> None:
    """Make the shared thread pool and arena of a plan; ORT wants both before the first session."""
    shared = plan.get("shared", ())
    if "threads" in shared:
        make_pool = member(ort, "set_global_thread_pool_sizes", _FIX)
        sizes = (plan["attributes"].get(f"{pool}_op_num_threads", 0) for pool in ("intra", "inter"))
        make_pool(*sizes)
    if "arena" in shared:
        arena = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
        member(ort, "create_and_register_allocator", _FIX)(arena, None)


def use_shared(options: ort.SessionOptions, plan: dict[str, Any]) -> None:
    """Let a session use what `share` made."""
    shared = plan.get("shared", ())
    if "threads" in shared:
        options.use_per_session_threads = False
    if "arena" in shared:
        options.add_session_config_entry("session.use_env_allocators", "1")
