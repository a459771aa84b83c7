"""Weights beside the model: found, bounded to its folder, never read to describe."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tests.core.models import tiny
from workbench.core.errors import ModelError
from workbench.core.models import load
from workbench.core.models.wire import varint


def with_entry(folder: Path, **entries: str | None) -> Path:
    """An external-data model whose first tensor's entry is changed; None takes the key away."""
    path = tiny.save_external(tiny.mlp(), folder)
    proto = ModelProto.FromString(path.read_bytes())
    tensor = proto.graph.initializer[0]
    kept = {entry.key: entry.value for entry in tensor.external_data} | entries
    del tensor.external_data[:]
    for key, value in kept.items():
        if value is not None:
            tensor.external_data.add(key=key, value=value)
    path.write_bytes(proto.SerializeToString())
    return path


def test_described_without_the_weights(tmp_path: Path) -> None:
    model = load(tiny.save_external(tiny.mlp(), tmp_path))
    (file,) = model.describe().external
    assert (file.name, file.tensors) == ("tiny.onnx.data", 3)
    assert file.size_bytes == (tmp_path / "tiny.onnx.data").stat().st_size
    assert model.describe().parameters == 4 * 8 + 8 + 8 * 3
    assert model.describe().size_bytes == model.path.stat().st_size + file.size_bytes


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("/etc/passwd", "absolute path"),
        ("C:\\weights.bin", "absolute path"),
        ("\\\\server\\share", "absolute path"),
        ("../outside.data", "outside its folder"),
        ("sub/../../outside.data", "outside its folder"),
        ("..\\outside.data", "outside its folder"),
        ("nowhere.data", "is missing"),
        (".", "no regular file"),
        ("a\0b", "not in which"),
        ("", "not in which"),
        (None, "not in which"),
        ("*/_ORT_MEM_ADDR_/*", "is missing"),
    ],
)
def test_locations_that_are_refused(location: str | None, words: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "outside.data").write_bytes(b"\0" * 1000)
    with pytest.raises(ModelError, match=words) as caught:
        load(with_entry(folder, location=location))
    assert "tiny.onnx" in caught.value.problem


def test_places_in_sparse_tensors_and_defaults_of_functions_are_checked_too(tmp_path: Path) -> None:
    outside = TensorProto(name="i", dims=[1], data_type=TensorProto.INT64)
    outside.data_location = TensorProto.EXTERNAL
    outside.external_data.add(key="location", value="../outside.data")
    values = numpy_helper.from_array(np.float32([1]), "v")
    for place in ("initializer", "constant", "default"):
        proto = tiny.mlp()
        sparse = helper.make_sparse_tensor(values, outside, [4])
        if place == "initializer":
            proto.graph.sparse_initializer.append(sparse)
        elif place == "constant":
            proto.graph.node.append(helper.make_node("Constant", [], ["c"], sparse_value=sparse))
        else:
            default = [helper.make_attribute("t", outside)]
            proto.functions.append(helper.make_function("d", "f", [], [], [], [], attribute_protos=default))
        path = tmp_path / f"{place}.onnx"
        path.write_bytes(proto.SerializeToString())
        with pytest.raises(ModelError, match="outside its folder"):
            load(path)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"offset": "-1"}, "offset"),
        ({"length": "-4"}, "length"),
        ({"offset": "many"}, "not a number"),
        ({"offset": "9" * 5000}, "not a number"),
        ({"offset": "9999999"}, "of a file of only"),
        ({"length": "9999999"}, "of a file of only"),
    ],
)
def test_extents_that_are_refused(entries: dict[str, str], words: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=words):
        load(with_entry(tmp_path, **entries))


def test_a_near_name_is_offered(tmp_path: Path) -> None:
    path = tiny.save_external(tiny.mlp(), tmp_path)
    (tmp_path / "tiny.onnx.data").rename(tmp_path / "tiny.onnx_data")
    with pytest.raises(ModelError, match=r"is missing[\s\S]*there is 'tiny\.onnx_data'"):
        load(path)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    path = tiny.save_external(tiny.mlp(), folder)
    (folder / "tiny.onnx.data").rename(tmp_path / "elsewhere")
    (folder / "tiny.onnx.data").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelError, match="leads out of its folder"):
        load(path)


def test_links_into_a_shared_store_are_fine(tmp_path: Path) -> None:
    """The layout of huggingface_hub's cache, which ORT opens."""
    store, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "main"
    store.mkdir()
    snapshot.mkdir(parents=True)
    path = tiny.save_external(tiny.mlp(), snapshot)
    for file in (path, snapshot / "tiny.onnx.data"):
        file.rename(store / file.name)
        file.symlink_to(Path("../../blobs") / file.name)
    assert load(path).describe().external_bytes > 0


def test_external_data_in_a_subgraph_is_seen(tmp_path: Path) -> None:
    proto = tiny.if_branches()
    tensor = (
        proto.graph.node[0].attribute[0].g.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[4])
    )
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../w.data")
    with pytest.raises(ModelError, match="outside its folder"):
        load(tiny.save(proto, tmp_path))


def test_bytes_cannot_have_files_beside_them(tmp_path: Path) -> None:
    data = tiny.save_external(tiny.mlp(), tmp_path).read_bytes()
    with pytest.raises(ModelError, match="do not say in which folder"):
        load(data)


def sparse_external(folder: Path, size: int) -> Path:
    """A model with `size` bytes of weights in a file that holds no block of them."""
    proto = tiny.mlp()
    big = proto.graph.initializer.add(name="big", data_type=TensorProto.FLOAT, dims=[size // 4])
    big.data_location = TensorProto.EXTERNAL
    for key, value in {"location": "big.data", "offset": "0", "length": str(size)}.items():
        big.external_data.add(key=key, value=value)
    with (folder / "big.data").open("wb") as file:
        file.truncate(size)
    return tiny.save(proto, folder)


def test_two_gigabytes_of_external_weights_are_not_read(tmp_path: Path) -> None:
    size = 2 << 30
    before = _read_bytes()
    description = load(sparse_external(tmp_path, size)).describe()
    assert _read_bytes() - before < 1 << 20
    assert description.external_bytes == size
    assert description.parameters > size // 4


def test_three_gigabytes_of_embedded_weights_are_skipped(tmp_path: Path) -> None:
    """Above protobuf's limit, so that any plain parse fails; the payload is a hole in the file."""
    size = 3 << 30
    proto = tiny.mlp().SerializeToString()
    header = TensorProto(name="big", data_type=TensorProto.FLOAT, dims=[size // 4]).SerializeToString()
    payload = b"\x4a" + varint(size)  # raw_data
    tensor = b"\x2a" + varint(len(header) + len(payload) + size) + header + payload
    graph = b"\x3a" + varint(len(tensor) + size) + tensor
    path = tmp_path / "big.onnx"
    with path.open("wb") as file:
        file.write(proto + graph)
        file.truncate(len(proto) + len(graph) + size)
    before = _read_bytes()
    description = load(path).describe()
    assert _read_bytes() - before < 1 << 20
    assert description.parameters == size // 4 + 4 * 8 + 8 + 8 * 3
    assert any("2 GiB" in problem for problem in description.problems)


def _read_bytes() -> int:
    """What this process has read through system calls so far."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["rchar"])


def test_the_hash_covers_the_weights(tmp_path: Path) -> None:
    path = tiny.save_external(tiny.mlp(), tmp_path)
    first = load(path).sha256
    weights = tmp_path / "tiny.onnx.data"
    data = bytearray(weights.read_bytes())
    data[0] ^= 1
    weights.write_bytes(data)
    assert load(path).sha256 != first
    data[0] ^= 1
    weights.write_bytes(data)
    assert load(path).sha256 == first


def test_the_hash_is_remembered_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.core.models import fingerprint

    path = tiny.save(tiny.mlp(), tmp_path)
    monkeypatch.setattr(fingerprint, "SETTLED_S", -1e9)
    first = load(path).sha256
    monkeypatch.setattr(fingerprint.hashlib, "file_digest", None)
    with monkeypatch.context() as patched:
        patched.setattr(fingerprint, "read_sha256", None)  # reading again would fail
        assert load(path).sha256 == first
    path.write_bytes(tiny.conv_net().SerializeToString())
    os.utime(path)
    assert load(path).sha256 != first


def test_a_fresh_file_is_hashed_again(tmp_path: Path) -> None:
    """Two writes within one tick of the file system's clock leave size and times the same."""
    path = tiny.save(tiny.mlp(), tmp_path)
    load(path).sha256  # noqa: B018
    assert not list((tmp_path / "cache").rglob("*.json"))
