"""The packages that are installed in an environment, asked of its own interpreter."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from workbench.core.bundle.machine import ORT_PACKAGES
from workbench.core.plugin_packages import printed_by, silent

_SCRIPT = """
import json, sys
from importlib.metadata import PackageNotFoundError, version
versions = {}
for name in json.loads(sys.argv[1]):
    try:
        versions[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps({"python": list(sys.version_info[:2]), "versions": versions}))
"""


@dataclass(frozen=True, slots=True)
class Packages:
    """The Python and the versions of the packages that were asked for and are installed."""

    python: str  # "3.12"
    versions: Mapping[str, str]

    @property
    def onnxruntime(self) -> str | None:
        """The name of the build of ONNX Runtime; None if there is none."""
        return next((name for name in ORT_PACKAGES if name in self.versions), None)


def packages_of(python: str, names: tuple[str, ...]) -> Packages:
    """Return which of the packages the environment of an interpreter has."""
    if python == sys.executable:
        return Packages(f"{sys.version_info.major}.{sys.version_info.minor}", versions_of(names))
    facts = printed_by(python, _SCRIPT, json.dumps(names))
    try:
        major, minor = facts["python"]
        return Packages(f"{major}.{minor}", dict(facts["versions"]))
    except (ValueError, KeyError, TypeError) as error:
        raise silent(python, error) from error


def versions_of(names: tuple[str, ...]) -> dict[str, str]:
    versions = {}
    for name in names:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
