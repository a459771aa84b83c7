"""Memory of fixes that did not help a model under a config, on this processor and version of ORT."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from workbench.config import Config
from workbench.errors import BundleError, StorageError
from workbench.home import data_folder
from workbench.records.atomic import write_atomically
from workbench.records.findings import FindingRecord, FindingsRecord
from workbench.records.machine import ONNXRUNTIME, installed

FILE = "fixes-tried.json"
MOST = 500  # fixes, the oldest forgotten first
MOST_BYTES = 500_000
MOST_LETTERS = 300  # of a reason


def remember(model_sha256: str, cpu: str, config: Config, finding: FindingRecord, reason: str) -> None:
    """Remember that this fix did not help here, and what was measured."""
    try:
        known = _known()
        key = _key(model_sha256, cpu, config, finding)
        known.pop(key, None)
        entries = [*known.items(), (key, reason[:MOST_LETTERS])][-MOST:]
        write_atomically(Path(data_folder() / FILE), json.dumps(dict(entries), indent=1).encode("utf-8"))
    except (OSError, StorageError, BundleError):
        return  # a home that cannot be written must not cost a measurement


def with_tried(record: FindingsRecord, model_sha256: str, cpu: str) -> tuple[FindingsRecord, frozenset[str]]:
    """Return the findings, those that were tried here with what was measured, and the ids of those."""
    known = _known()
    reasons = {
        finding.id: known.get(_key(model_sha256, cpu, record.config, finding)) for finding in record.findings
    }
    marked = tuple(_marked(finding, reasons[finding.id]) for finding in record.findings)
    tried = frozenset(rule for rule, reason in reasons.items() if reason is not None)
    return replace(record, findings=marked), tried


def _marked(finding: FindingRecord, reason: str | None) -> FindingRecord:
    if reason is None:
        return finding
    text = f"tried here and not kept: {reason}"
    return replace(finding, caution=f"{text}; {finding.caution}" if finding.caution else text)


def _known() -> dict[str, str]:
    """Return the reasons by key; none if the file cannot be read, since a fix can be tried again."""
    try:
        file = data_folder() / FILE
        read = json.loads(file.read_bytes()) if file.stat().st_size <= MOST_BYTES else None
    except (OSError, StorageError, ValueError, RecursionError):
        return {}
    if not isinstance(read, dict):
        return {}
    return {key: reason for key, reason in read.items() if isinstance(reason, str)}


def _key(model_sha256: str, cpu: str, config: Config, finding: FindingRecord) -> str:
    fixed = None if finding.fix.config is None else finding.fix.config.to_dict()
    parts = [model_sha256, cpu, installed(*ONNXRUNTIME), config.to_dict(), finding.id, fixed]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:40]
