"""Models from the web, against a server of our own."""

from __future__ import annotations

import hashlib
import socket
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import workbench as wb
from tests.core.models import tiny
from tests.core.models.hostile import ENDLESS, endless
from tests.core.models.server import Page, Site, site
from workbench.core.errors import Cancelled, DownloadError, ModelError
from workbench.core.models import load
from workbench.core.models.hub import parse

MODEL = tiny.mlp().SerializeToString()
SHA = hashlib.sha256(MODEL).hexdigest()


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with site() as served:
        served.pages["/m/tiny.onnx"] = Page(MODEL)
        yield served


def kept(home: Path) -> list[str]:
    """Every file below the cache's folder of downloads."""
    return [path.name for path in (home / "cache" / "downloads").rglob("*") if path.is_file()]


def test_a_model_comes_and_progress_is_told(web: Site) -> None:
    reports: list[tuple[int, int | None]] = []
    model = load(
        f"{web.address}/m/tiny.onnx?token=secret", progress=lambda done, total: reports.append((done, total))
    )
    assert model.name == "tiny"
    assert model.sha256 == SHA
    assert reports[-1] == (len(MODEL), len(MODEL))


def test_a_pinned_one_is_fetched_once(web: Site) -> None:
    address = f"{web.address}/m/tiny.onnx#sha256={SHA}"
    load(address)
    del web.pages["/m/tiny.onnx"]
    assert load(address).sha256 == SHA
    assert web.asked == ["GET /m/tiny.onnx"]


def test_an_unpinned_one_is_fetched_anew(web: Site) -> None:
    load(f"{web.address}/m/tiny.onnx")
    web.pages["/m/tiny.onnx"] = Page(tiny.conv_net().SerializeToString())
    assert load(f"{web.address}/m/tiny.onnx").describe().family == "vision"


def test_weights_beside_it_come_too(web: Site, tmp_path: Path) -> None:
    web.pages["/x/tiny.onnx"] = Page(tiny.save_external(tiny.mlp(), tmp_path).read_bytes())
    web.pages["/x/tiny.onnx.data"] = Page((tmp_path / "tiny.onnx.data").read_bytes())
    assert load(f"{web.address}/x/tiny.onnx").describe().external[0].name == "tiny.onnx.data"


def external(web: Site, folder: Path, value: float) -> str:
    """Serve a model with its weights beside it; return its pinned address."""
    proto = tiny.mlp()
    proto.producer_name = f"version {value}"
    for tensor in proto.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(np.full(tuple(tensor.dims), value, np.float32), tensor.name))
    folder.mkdir()
    model = tiny.save_external(proto, folder).read_bytes()
    web.pages["/x/tiny.onnx"] = Page(model)
    web.pages["/x/tiny.onnx.data"] = Page((folder / "tiny.onnx.data").read_bytes())
    return f"{web.address}/x/tiny.onnx#sha256={hashlib.sha256(model).hexdigest()}"


def test_weights_beside_a_pinned_model_are_taken_from_the_cache_as_they_came_with_it(
    web: Site, tmp_path: Path
) -> None:
    first = external(web, tmp_path / "first", 1.0)
    weights = load(first).path.with_name("tiny.onnx.data")
    load(first)
    assert web.asked == ["GET /x/tiny.onnx", "GET /x/tiny.onnx.data"]
    weights.write_bytes(bytes(weights.stat().st_size))  # damaged on the disk
    load(first)
    assert weights.read_bytes() == (tmp_path / "first" / "tiny.onnx.data").read_bytes()
    load(external(web, tmp_path / "second", 2.0))  # the model of another hash has weights of its own
    assert weights.read_bytes() == (tmp_path / "second" / "tiny.onnx.data").read_bytes()


def test_redirects_are_followed(web: Site) -> None:
    web.pages["/latest"] = Page(status=302, headers={"Location": "/m/tiny.onnx"})
    assert load(f"{web.address}/latest").sha256 == SHA


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/m", "gopher://x/"])
def test_redirects_to_other_schemes_are_not(target: str, web: Site, home: Path) -> None:
    web.pages["/latest"] = Page(status=302, headers={"Location": target})
    with pytest.raises(DownloadError):
        load(f"{web.address}/latest")
    assert kept(home) == []


def test_https_never_falls_back_to_http() -> None:
    from email.message import Message
    from io import BytesIO
    from urllib.request import Request

    from workbench.core.models.download import SafeRedirects

    request = Request("https://models.example/m.onnx")
    with pytest.raises(DownloadError, match="unsafe"):
        SafeRedirects().redirect_request(
            request, BytesIO(), 302, "", Message(), "http://models.example/m.onnx"
        )
    followed = SafeRedirects().redirect_request(
        request, BytesIO(), 302, "", Message(), "https://cdn.example/m.onnx"
    )
    assert followed.full_url == "https://cdn.example/m.onnx"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (Page(MODEL, claimed=len(MODEL) + 100), "broke off"),
        (Page(MODEL, claimed=10**15), "above the bound"),
        (Page(b"x" * 3_000_000, claimed=-1), "above the bound"),
        (Page(b"", 404), "404"),
        (Page(b"", 403), "403"),
        (Page(b"", 500), "500"),
        (Page(status=302, headers={"Location": "/bad.onnx"}), "redirect|302"),
    ],
)
def test_what_fails_leaves_nothing(page: Page, words: str, web: Site, home: Path) -> None:
    web.pages["/bad.onnx"] = page
    with pytest.raises(DownloadError, match=words) as caught:
        load(f"{web.address}/bad.onnx?key=secret", max_bytes=2_000_000)
    assert kept(home) == []
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("body", "words"), [(b"<html>login</html>", "web page"), (b"", "sent nothing")])
def test_a_page_in_place_of_a_model_is_not_kept(body: bytes, words: str, web: Site, home: Path) -> None:
    web.pages["/m/tiny.onnx"] = Page(body)
    with pytest.raises(ModelError, match=words):
        load(f"{web.address}/m/tiny.onnx")
    assert kept(home) == []


def test_a_failed_fetch_keeps_the_good_one(web: Site, home: Path) -> None:
    load(f"{web.address}/m/tiny.onnx")
    web.pages["/m/tiny.onnx"] = Page(MODEL, claimed=len(MODEL) * 2)
    with pytest.raises(DownloadError):
        load(f"{web.address}/m/tiny.onnx")
    assert [path.read_bytes() for path in (home / "cache" / "downloads").rglob("*.onnx")] == [MODEL]
    assert kept(home) == ["tiny.onnx"]


@pytest.mark.parametrize(
    ("fragment", "words"), [(f"sha256={'0' * 64}", "not the 0000"), ("sha256=12", "no hash")]
)
def test_a_wrong_pin(fragment: str, words: str, web: Site, home: Path) -> None:
    with pytest.raises(DownloadError, match=words):
        load(f"{web.address}/m/tiny.onnx#{fragment}")
    assert kept(home) == []


def test_offline_is_said() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{unused.getsockname()[1]}/m.onnx"
    with pytest.raises(DownloadError, match="cannot be reached"):
        load(gone)


def test_offline_names_the_copy_from_before(web: Site, home: Path) -> None:
    load(f"{web.address}/m/tiny.onnx")
    web.pages["/m/tiny.onnx"] = Page(status=302, headers={"Location": "http://127.0.0.1:9/m.onnx"})
    with pytest.raises(DownloadError, match="load the copy fetched earlier") as caught:
        load(f"{web.address}/m/tiny.onnx")
    assert str(next((home / "cache" / "downloads").rglob("tiny.onnx"))) in caught.value.fix


@pytest.mark.parametrize(
    "address", ["http://", "http://[::1/m.onnx", "https://user:pw@\n/x", "http://127.0.0.1:x/"]
)
def test_broken_addresses(address: str) -> None:
    with pytest.raises(DownloadError):
        load(address)


@pytest.mark.parametrize(
    "address",
    [
        "http://bob:hidden@127.0.0.1:9/m.onnx?token=hidden",
        "https://hidden@[bad/m.onnx#sha256=12",
        "http://bob:hidden@::bad host/m.onnx",
        "ftp://bob:hidden@127.0.0.1/m.onnx",
        "http://[bad/m.onnx?token=hidden",
    ],
)
def test_no_error_repeats_a_password(address: str) -> None:
    with pytest.raises((ModelError, DownloadError)) as refused:
        load(address)
    assert "hidden" not in "".join(traceback.format_exception(refused.value))
    configs = wb.Config(), wb.Config(level="all")
    result = wb.matrix([address], configs, progress=False, keep=False)
    assert "hidden" not in repr(result.record)


def test_no_config_holds_a_password() -> None:
    with pytest.raises(wb.ConfigError, match="has a user or a password") as refused:
        wb.PreparedModel("http://bob:hidden@127.0.0.1/m.onnx")
    assert "hidden" not in str(refused.value)


def test_odd_names_stay_in_the_folder(web: Site, home: Path) -> None:
    web.pages["/%2e%2e%2f%2e%2e%2fevil.onnx"] = Page(MODEL)
    load(f"{web.address}/%2e%2e%2f%2e%2e%2fevil.onnx")
    assert kept(home) == ["evil.onnx"]


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_server_that_drips_is_given_up(kind: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("workbench.core.models.download.SLOW_SERVER_S", 0.1)
    with endless(kind) as address, pytest.raises(DownloadError, match="sent less than"):
        load(f"{address}/m.onnx")
    assert kept(home) == []


def test_a_download_has_a_deadline(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with endless("one byte") as address, pytest.raises(DownloadError, match="timeout_s"):
        load(f"{address}/m.onnx", timeout_s=0.1)
    assert kept(home) == []


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_download_hears_a_request_to_cancel(kind: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    with endless(kind) as address, pytest.raises(Cancelled):
        load(f"{address}/m.onnx", cancel=cancel)
    assert kept(home) == []


def test_weights_named_like_the_model_do_not_replace_it(web: Site, tmp_path: Path) -> None:
    proto = onnx.load(tiny.save_external(tiny.mlp(), tmp_path), load_external_data=False)
    for tensor in proto.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = "./Tiny.onnx"
    web.pages["/x/tiny.onnx"] = Page(proto.SerializeToString())
    with pytest.raises(ModelError, match="its own file"):
        load(f"{web.address}/x/tiny.onnx")
    assert web.asked == ["GET /x/tiny.onnx"]


def test_files_of_weights_are_fetched_up_to_a_bound(
    web: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.core.models.external.MOST_FETCHED", 1)
    proto = onnx.load(tiny.save_external(tiny.mlp(), tmp_path), load_external_data=False)
    for number, tensor in enumerate(proto.graph.initializer):
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = f"{number}.bin"
    web.pages["/x/tiny.onnx"] = Page(proto.SerializeToString())
    with pytest.raises(ModelError, match="in 3 files; at most 1 are fetched"):
        load(f"{web.address}/x/tiny.onnx")
    assert web.asked == ["GET /x/tiny.onnx"]


@pytest.fixture
def hub(web: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Site:
    from huggingface_hub import constants

    monkeypatch.setenv("HF_ENDPOINT", web.address)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    graph = tiny.save_external(tiny.mlp(), tmp_path)
    for name, body in {
        "/org/repo/resolve/main/onnx/model.onnx": MODEL,
        "/org/repo/resolve/v1/onnx/model.onnx": tiny.conv_net().SerializeToString(),
        "/org/repo/resolve/main/two/tiny.onnx": graph.read_bytes(),
        "/org/repo/resolve/main/two/tiny.onnx.data": (tmp_path / "tiny.onnx.data").read_bytes(),
    }.items():
        headers = {"ETag": f'"{hashlib.sha256(body).hexdigest()}"', "X-Repo-Commit": "c" * 40}
        web.pages[name] = Page(body, headers=headers)
    return web


@pytest.mark.usefixtures("hub")
def test_the_hub() -> None:
    reports: list[int] = []
    model = load("hf://org/repo/onnx/model.onnx", progress=lambda done, _: reports.append(done))
    assert (model.name, model.sha256) == ("model", SHA)
    assert reports[-1:] == [len(MODEL)]


@pytest.mark.usefixtures("hub")
def test_a_revision_of_the_hub() -> None:
    assert load("hf://org/repo/onnx/model.onnx@v1").describe().family == "vision"


@pytest.mark.usefixtures("hub")
def test_weights_beside_it_on_the_hub() -> None:
    assert load("hf://org/repo/two/tiny.onnx").describe().external[0].tensors == 3


def test_the_hub_offline_uses_its_cache(hub: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    load("hf://org/repo/onnx/model.onnx")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert load("hf://org/repo/onnx/model.onnx").sha256 == SHA
    with pytest.raises(DownloadError, match="cannot be reached"):
        load("hf://org/repo/onnx/other.onnx")
    assert hub.asked


def test_a_hub_that_drips_headers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("workbench.core.models.hub.HUB_ANSWER_S", 0.1)
    with endless("headers") as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        with pytest.raises(DownloadError, match="sent less than"):
            load("hf://org/repo/onnx/model.onnx", timeout_s=20)


@pytest.mark.usefixtures("hub")
def test_the_hub_says_no() -> None:
    with pytest.raises(DownloadError, match="404"):
        load("hf://org/repo/missing.onnx")
    with pytest.raises(DownloadError, match="above the bound"):
        load("hf://org/repo/onnx/model.onnx", max_bytes=10)


@pytest.mark.parametrize(
    "address", ["hf://", "hf://org", "hf://org/repo", "hf://org/repo/", "hf:///a/b", "hf://o/r/../x"]
)
def test_addresses_that_name_no_file(address: str) -> None:
    with pytest.raises(DownloadError, match="names no file"):
        load(address)


def test_the_parts_of_an_address() -> None:
    assert parse("hf://org/repo/a/b.onnx") == ("org/repo", "a/b.onnx", None)
    assert parse("hf://org/repo/b.onnx@refs/pr/1") == ("org/repo", "b.onnx", "refs/pr/1")
