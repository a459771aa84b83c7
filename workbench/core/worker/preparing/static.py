"""Job: quantize weights and activations to integers, with ranges measured by the job `calibrate`."""

from __future__ import annotations

from typing import Any

import onnx

from workbench.core.worker.preparing import files, retries
from workbench.core.worker.preparing.conversions import quantize_calibrated


def run(source: str, target: str, ranges: str, **asked: Any) -> dict[str, Any]:
    """Quantize as asked, or with the changes that avoid a known failure; check that ORT loads the file."""
    model = onnx.load(source, load_external_data=False)
    settings = asked
    changes = [*retries.known_beforehand(model, asked)]
    if changes:
        settings = changes[-1].settings
    first: Exception | None = None
    while True:
        try:
            quantize_calibrated(source, target, **settings, ranges=ranges)
            files.on_cpu(target)
            break
        except OSError:  # a full disk, say: no other settings help
            raise
        except Exception as error:  # noqa: BLE001 - ORT's tools raise bare exceptions of any kind
            first = first or error
            change = retries.after(error, model, settings, asked)
            if change is None or len(changes) >= retries.MOST_RETRIES:
                raise retries.refused(first, changes) from first
            settings = change.settings
            changes.append(change)
    settled = {name: settings[name] for name in asked if settings[name] != asked[name]}
    reasons = [change.reason for change in changes if change.setting in settled]
    bodies = retries.in_bodies(model)
    return files.answer(source, target, [], changes=reasons, settled=settled, bodies=bodies)
