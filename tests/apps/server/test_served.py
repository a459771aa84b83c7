"""The server answers below a base URL: the right model, to its owner, and no other path."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import onnx
import pytest

import workbench as wb
from tests.apps.server.conftest import BASE_URL, Client, tiny_model
from tests.features.profile import traces
from workbench.apps.server import links, published_files
from workbench.apps.server.links import netron_link, speedscope_link

pytestmark = pytest.mark.slow

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


def test_the_status_names_the_version(client: Client) -> None:
    answer = client.get("workbench/status")
    assert answer.status == 200
    assert wb.__version__ in answer.body.decode()


def test_two_models_at_once_show_each_its_own(client: Client, tmp_path: Path) -> None:
    models = [wb.load(tiny_model(tmp_path / f"{name}.onnx", name)) for name in ("first", "second")]
    addresses = [netron_link(model).relative for model in models]
    for model, relative in zip(models, addresses, strict=True):
        page = client.get(relative)
        assert page.status == 200
        assert f'content="{model.name}' in page.body.decode()
        data = client.get(relative + "model.onnx")
        assert data.body == model.path.read_bytes()
        assert data.headers["content-type"] == "application/octet-stream"


def test_the_page_asks_no_other_site_and_never_expires(client: Client, tmp_path: Path) -> None:
    page = client.get(netron_link(wb.load(tiny_model(tmp_path / "model.onnx"))).relative)
    text = page.body.decode()
    assert 'name="date"' not in text
    assert 'name="version" content="0.0.0"' in text
    assert text.count('name="version"') == 1
    assert 'href="http' not in text
    assert "http-equiv" not in text
    assert page.headers["set-cookie"].startswith("consent=1; Path=" + BASE_URL + "workbench/netron/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "http" not in policy
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "name",
    [
        "../../../../../../etc/passwd",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/secret",
        "..\\..\\secret",
        "server.py",
        "__init__.py",
        ".json",
        "view.js%00.html",
        "sub/view.js",
        "trace.json",
        "model.onnx/..",
        "nothing.js",
        "a" * 6_000,
        "a" * 6_000 + ".js",
    ],
)
def test_no_path_leads_out(client: Client, tmp_path: Path, name: str) -> None:
    relative = netron_link(wb.load(tiny_model(tmp_path / "model.onnx"))).relative
    answer = client.get(relative + name)
    assert answer.status in (400, 404)
    assert b"root:" not in answer.body


def test_unknown_changed_and_foreign_links_say_what_to_do(client: Client, tmp_path: Path) -> None:
    model = wb.load(tiny_model(tmp_path / "model.onnx"))
    relative = netron_link(model).relative
    assert client.get(relative.replace("netron", "speedscope")).status == 404
    unknown = client.get(f"workbench/netron/{published_files.new_id()}/")
    assert unknown.status == 404
    assert b"open it again from the notebook" in unknown.body
    tiny_model(model.path, "another", dims=3)
    changed = client.get(relative + "model.onnx")
    assert changed.status == 404
    assert b"changed, replaced or removed" in changed.body


def test_a_hostile_name_is_text(client: Client, tmp_path: Path) -> None:
    model = wb.load(tiny_model(tmp_path / "model.onnx"))
    model.name = HOSTILE
    text = client.get(netron_link(model).relative).body.decode()
    assert "<script>alert" not in text
    assert "<img src=x" not in text


def test_a_large_model_is_served_without_its_weights(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "MOST_MODEL_BYTES", 1000)
    model = wb.load(tiny_model(tmp_path / "large.onnx", dims=100_000))
    link = netron_link(model)
    assert "without the large weights" in link.note
    served = client.get(link.relative + "model.onnx").body
    assert len(served) < 1000 < model.graph_bytes
    (weight,) = onnx.load_from_string(served).graph.initializer
    assert (weight.name, list(weight.dims)) == ("w", [100_000])


def test_large_files_are_sent_compressed(client: Client, tmp_path: Path) -> None:
    relative = netron_link(wb.load(tiny_model(tmp_path / "model.onnx"))).relative
    plain = client.get(relative + "onnx-metadata.json")
    small = client.get(relative + "onnx-metadata.json", Accept_Encoding="gzip, br")
    assert small.headers["content-encoding"] == "gzip"
    assert len(small.body) < len(plain.body) / 4
    assert gzip.decompress(small.body) == plain.body


@pytest.mark.real
def test_speedscope_and_its_profile(client: Client, tmp_path: Path) -> None:
    feed = {"x": np.ones((2, 16), np.float32)}
    profile = wb.read_profile(traces.trace_of(traces.chain(), tmp_path, feed))
    link = speedscope_link(profile, "a & b")
    page, _, fragment = link.relative.partition("#")
    assert fragment == "profileURL=trace.json&title=a%20%26%20b&view=left-heavy"
    text = client.get(page).body.decode()
    assert "speedscope-" in text
    assert "//" not in text, "no address of another site"
    script = text.partition('src="')[2].partition('"')[0]
    assert client.get(page + script).headers["content-type"].startswith("text/javascript")
    profile_data = client.get(page + "trace.json")
    assert profile_data.status == 200
    assert b'"evented"' in profile_data.body
