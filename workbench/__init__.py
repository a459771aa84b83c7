"""A tuning bench for ONNX Runtime: turn a knob, see what ORT did, get a verdict that can be trusted.

>>> import workbench as wb
>>> faster = wb.Config().replace(level="all", intra_op_threads=1)
>>> faster.level
'all'

The public names stand in `__init__.pyi`, each with its module. They are imported at their first use, so that
`import workbench` costs next to nothing and the kernel never loads onnxruntime.
"""

from __future__ import annotations

from workbench._version import __version__ as __version__

APPS = "workbench.apps"  # of which the public names are modules


def _homes() -> dict[str, str]:
    """The module of each public name, read from the stub beside this file."""
    import ast
    from pathlib import Path

    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8"))
    imports = (node for node in stub.body if isinstance(node, ast.ImportFrom))
    homes = {alias.name: str(node.module) for node in imports for alias in node.names}
    del homes["__version__"]
    return homes


def __getattr__(name: str) -> object:
    if name == "__all__":
        value: object = sorted(_homes())
    else:
        from importlib import import_module

        # Python and its tools look for names with an underscore in any module.
        home = None if name.startswith("_") else _homes().get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = import_module(f"{home}.{name}") if home == APPS else getattr(import_module(home), name)
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*_homes(), "__version__"})
