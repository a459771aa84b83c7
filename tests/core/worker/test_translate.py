"""Each of ORT's usual refusals gets a fix of its own."""

from __future__ import annotations

import pytest

from workbench.core.worker.translate import translated


@pytest.mark.parametrize(
    ("message", "fix"),
    [
        ("[ONNXRuntimeError] : 7 : INVALID_PROTOBUF : Load model failed:Protobuf parsing failed.", "damaged"),
        (
            "[ONNXRuntimeError] : 1 : FAIL : Fatal error: my:Op(-1) is not a registered function/op",
            "operator",
        ),
        (
            "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for Add(1)",
            "no kernel",
        ),
        (
            "ORT only *guarantees* support for models stamped with released opset versions. "
            "Opset 28 is under development",
            "older than the model",
        ),
        ("Unsupported model IR version: 99, max supported IR version: 13", "older than the model"),
        ("External data path escapes model directory", "external data"),
        ("[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Got invalid dimensions for input: x", "inputs"),
        (
            "indices element out of data bounds, idx=9 must be within the inclusive range [-4,3]",
            "index input",
        ),
        ("This is an invalid model. Error: two nodes with same node name (same).", "name of its own"),
        ("std::bad_alloc", "memory"),
        ("something that nobody has seen before", "wb.doctor()"),
    ],
)
def test_fix(message: str, fix: str) -> None:
    error = translated("Fail", message, "load")
    assert fix in error.fix
    assert "during load" in error.problem
    assert "[ONNXRuntimeError]" not in error.problem


def test_what_a_terminal_obeys_is_shown_instead() -> None:
    problem = translated("Fail", "node \x1b[2J\u202e\n\tsecond line", "run").problem
    assert problem.endswith("node \\x1b[2J\\u202e\n\tsecond line")


def test_an_empty_message_names_the_exception() -> None:
    assert "MemoryError" in translated("MemoryError", "", "run").problem
