"""Download of a model from the Hugging Face hub, through huggingface_hub and its cache."""

from __future__ import annotations

import os
import threading
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.core.background import check_cancel, in_background
from workbench.core.errors import DownloadError, WorkbenchError
from workbench.core.models.external import beside_locations
from workbench.core.models.structure import read_structure
from workbench.core.models.transfer import Progress, Watch
from workbench.core.text import bytes_text, shorten

_SLOW_S = 600.0  # the hub reports pieces of 10 MB: a slow line takes minutes per piece
HUB_ANSWER_S = 60.0  # a hub that has not answered with a file's size by then counts as dead
_FORM = "Write hf://org/repo/path/to/model.onnx, or with @revision at its end"


def fetch(
    address: str,
    progress: Progress | None,
    max_bytes: int,
    timeout_s: float,
    cancel: threading.Event | None = None,
) -> Path:
    """Download the file and weights of hf://org/repo/path@revision into the hub's cache."""
    repo, path, revision = parse(address)
    watch = Watch(shorten(address), timeout_s, progress, _SLOW_S)

    def fetch_all(stop: threading.Event) -> Path:
        file, left = _fetch_file(address, repo, path, revision, watch, stop, max_bytes)
        own_name = PurePosixPath(path).name
        for location in beside_locations(read_structure(file), own_name, shorten(address)):
            beside = str(PurePosixPath(path).parent / location)
            _, left = _fetch_file(address, repo, beside, revision, watch, stop, left)
        return file

    with in_background(fetch_all, "download", cancel) as task:
        file = task.result(watch.check)
    watch.report()
    return file


def parse(address: str) -> tuple[str, str, str | None]:
    """Split an address into org/repo, the path in the repository, and the revision or None."""
    rest, at, revision = address.removeprefix("hf://").rpartition("@")
    if not at:
        rest, revision = revision, ""
    parts = rest.split("/", 2)
    if len(parts) < 3 or not all(parts) or ".." in parts[2].split("/"):
        raise DownloadError(f"{shorten(address)!r} names no file in a repository of the hub", _FORM)
    return f"{parts[0]}/{parts[1]}", parts[2], revision or None


def _fetch_file(
    address: str,
    repo: str,
    path: str,
    revision: str | None,
    watch: Watch,
    stop: threading.Event,
    left: int,
) -> tuple[Path, int]:
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    endpoint = os.environ.get("HF_ENDPOINT") or None  # set even after the hub's import
    label = shorten(f"hf://{repo}/{path}")
    offline = False
    watch.begin(HUB_ANSWER_S)
    try:
        size = get_hf_file_metadata(
            hf_hub_url(repo, path, revision=revision, endpoint=endpoint), endpoint=endpoint
        ).size
    except HFValidationError as error:
        raise DownloadError(f"{shorten(address)!r}: {shorten(str(error), 200)}", _FORM) from error
    except HfHubHTTPError as error:
        raise _refused(label, error) from error
    except Exception:  # noqa: BLE001 - which HTTP library fails, and so its errors, changes with the hub's version
        size, offline = None, True  # use the cache; asking again would only wait through retries
    if size is not None and size > left:
        raise DownloadError(
            f"{label} has {bytes_text(size)}, above the bound of {bytes_text(left)}",
            "If that is right, allow it with load(..., max_bytes=...)",
        )
    try:
        watch.begin()
        file = Path(
            hf_hub_download(
                repo,
                path,
                revision=revision,
                endpoint=endpoint,
                local_files_only=offline,
                tqdm_class=_bar(watch, stop),
            )
        )
    except LocalEntryNotFoundError as error:
        raise DownloadError(
            f"{label} is not in the cache, and the hub cannot be reached",
            "Check the connection (and HF_ENDPOINT, if it is set), or load a local file",
        ) from error
    except HfHubHTTPError as error:
        raise _refused(label, error) from error
    except WorkbenchError:  # stopped by the user
        raise
    except Exception as error:
        raise DownloadError(f"{label} cannot be fetched: {shorten(str(error), 200)}", "Try again") from error
    finally:
        watch.end()
    return file, left - file.stat().st_size


def _refused(label: str, error: Exception) -> DownloadError:
    status = getattr(getattr(error, "response", None), "status_code", None)
    fix = "Check the organisation, the repository, the path and the revision"
    if status in (401, 403):
        fix += "; a private or gated one needs a token (`hf auth login`)"
    return DownloadError(f"{label}: the hub refuses it ({status}): {shorten(str(error), 200)}", fix)


def _bar(watch: Watch, stop: threading.Event) -> type:
    """Return the tqdm class for the hub's reports: it draws nothing and obeys `stop`."""
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            self._done = int(kwargs.get("initial") or 0)
            self._all = kwargs.get("total")
            super().__init__(*args, **{**kwargs, "disable": True})

        def update(self, n: float | None = 1) -> bool | None:
            check_cancel(stop)
            self._done += int(n or 0)
            watch.note(int(n or 0), self._done, None if self._all is None else int(self._all))
            return None

    return Bar
