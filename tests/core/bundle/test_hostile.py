"""A stranger's file: it opens, or it is refused with a reason. It never crashes, fills the memory or runs."""

from __future__ import annotations

import io
import json
import pickle
import random
import stat
import struct
import zipfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.amount import amount
from tests.core.bundle import forks
from tests.core.bundle.hostile import good_members, patched, signed, with_record, zipped
from workbench.core.bundle import limits
from workbench.core.bundle.bundle import read_bundle, unpack_record
from workbench.core.errors import BundleError

CENTRAL, LOCAL, END = b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"
BOMB_BYTES = 64 << 20
NUMBERS, NANOSECONDS = "numbers.npy", "nanoseconds.npy"


def refused(blob: bytes, problem: str) -> None:
    """`blob` must be refused for this reason, with something to do about it."""
    with pytest.raises(BundleError, match=problem) as caught:
        unpack_record(blob)
    assert caught.value.fix


def member(name: str, mode: int = 0) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def test_the_honest_one_opens() -> None:
    assert unpack_record(zipped(good_members())).structure == b"graph"


@pytest.mark.parametrize("size", [0, 1, 21, 22, 1000])
def test_no_zip_at_all(size: int) -> None:
    refused(b"", "empty") if not size else refused(random.Random(size).randbytes(size), "not a bundle")


def test_cut_anywhere() -> None:
    blob = zipped(good_members())
    for length in range(0, len(blob), 37):
        refused(blob[:length], "empty|not a bundle|cut|damaged")


def test_something_before_or_after() -> None:
    blob = zipped(good_members())
    refused(b"#!/bin/sh\n" + blob, "cut, extended")
    refused(blob + b"more", "not a bundle")


def test_a_table_of_contents_of_the_64_bit_form() -> None:
    blob = zipped(good_members())
    end = blob.index(END)
    locator = b"PK\x06\x07" + struct.pack("<LQL", 0, 0, 1)
    tail = bytearray(blob[end:])
    tail[12:16] = struct.pack("<L", struct.unpack("<L", tail[12:16])[0] + len(locator))
    refused(blob[:end] + locator + bytes(tail), "64-bit")


@pytest.mark.parametrize(
    "name",
    [
        "../record.json",
        "/etc/passwd",
        "C:\\x",
        "parts/../../numbers.npy",
        "numbers.npy/",
        "parts/100/numbers.npy",
        "texts.json",
        "graph/other.onnx",
        "evil.pkl",
        "nested.ortbench",
        "a" * 60000,
        "record.json\n",
    ],
)
def test_a_member_that_no_bundle_has(name: str) -> None:
    refused(zipped([*good_members().items(), (name, b"")]), "has a member|has [0-9]+ members|damaged")


def test_a_name_cut_by_a_null_byte() -> None:
    blob = zipped([*good_members().items(), ("graph/source.onnxX", b"")])
    refused(blob.replace(b"source.onnxX", b"source.onnx\0"), "has a member|twice")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_twice() -> None:
    refused(zipped([*good_members().items(), ("record.json", b"{}")]), "twice")


def test_too_many_members() -> None:
    many = [(f"parts/{at % 100}/numbers.npy{at}", b"") for at in range(limits.MEMBERS + 1)]
    refused(zipped(many), f"at most {limits.MEMBERS}")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFDIR, stat.S_IFCHR])
def test_a_link_or_special_member(kind: int) -> None:
    members = good_members()
    record = members.pop("record.json")
    refused(zipped([*members.items(), (member("record.json", kind | 0o777), record)]), "link or a special")


def test_an_encrypted_member() -> None:
    blob = zipped(good_members())
    refused(patched(blob, CENTRAL, 8, b"\x01\x00"), "encrypted")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 99])
def test_an_unknown_compression(method: int) -> None:
    blob = zipped(good_members())
    refused(patched(blob, CENTRAL, 10, struct.pack("<H", method)), f"method {method}")


def test_a_wrong_checksum() -> None:
    blob = zipped(good_members())
    refused(patched(patched(blob, CENTRAL, 16, b"abcd"), LOCAL, 14, b"abcd"), "CRC")


@pytest.mark.parametrize("claim", [0, 5, 10_000_000])
def test_a_member_that_lies_about_its_size(claim: int) -> None:
    blob = zipped(good_members())
    refused(patched(blob, CENTRAL, 24, struct.pack("<L", claim)), "damaged|claims|as claimed")


def problem_within_memory(blob: bytes) -> str:
    """Why `blob` is refused by a reader that has less memory than it would fill."""

    def attempt() -> str:
        with pytest.raises(BundleError) as caught:
            unpack_record(blob)
        return caught.value.problem

    return str(forks.call_in_memory(attempt, more_bytes=BOMB_BYTES // 2))


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("manifest.json", BOMB_BYTES),
        ("record.json", BOMB_BYTES),
        (NANOSECONDS, 2 * BOMB_BYTES),
        ("graph/source.onnx", 2 * BOMB_BYTES + 1),
    ],
)
def test_a_bomb_is_refused_without_being_unpacked(name: str, size: int) -> None:
    bomb = zipped({**good_members(), name: bytes(size)})
    assert len(bomb) < 1 << 18
    assert f"{name} claims {size:,} bytes" in problem_within_memory(bomb)


def test_a_bomb_that_claims_to_be_small() -> None:
    bomb = zipped([("record.json", bytes(BOMB_BYTES)), *good_members().items()][:2])
    assert "damaged" in problem_within_memory(patched(bomb, CENTRAL, 24, struct.pack("<L", 1000)))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[" + b"0," * limits.JSON_ITEMS + b"0]", "holds more than"),
        (b'{"a": NaN}', "unknown field `a`"),
        (b'{"id": NaN}', "not valid JSON"),
        (b'{"id": -Infinity}', "expected `str`, got `float`|not valid JSON"),
        (b'{"id": "x", "id": 2}', "id: expected `str`, got `int`"),
        (b'{"runs": ' + b"9" * 5000 + b"}", "runs: number out of range"),
        (b"[" * 100_000, "expected `object`, got `array`"),
        (b'"' + b"\\\\" * 1_000_000, "not valid JSON"),
        (b"null", "the record: expected `object`, got `null`"),
        (b"[]", "the record: expected `object`, got `array`"),
        (b"{}", "the record: object missing required field `id`"),
    ],
)
def test_json_that_is_no_record(text: bytes, problem: str) -> None:
    refused(zipped({**good_members(), "record.json": text}), problem)


def put(*path: Any, value: Any) -> Callable[[Any], None]:
    """An edit that replaces what stands at `path`."""

    def edit(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (
            put("runs", 1, "processes", 0, "load_s", value="long"),
            r"runs\[1\].processes\[0\].load_s: expected `float`, got `str`",
        ),
        (put("runs", 0, "processes", 1, "load_s", value=-1), "expected `float` >= 0"),
        (put("runs", 0, "processes", 1, "load_s", value="inf"), "expected `float`, got `str`"),
        (put("runs", 0, "processes", 1, "steady", value=1), "expected `bool`, got `int`"),
        (put("runs", 0, "processes", 1, "round", value=True), "expected `int`, got `bool`"),
        (put("runs", 0, "processes", 1, "round", value=1.5), "expected `int`, got `float`"),
        (put("runs", 0, "processes", 1, "round", value=1 << 63), "expected `int` <="),
        (put("runs", 0, "processes", 1, "rss_bytes", value=-5), "expected `int`.* >= 0"),
        (put("protocol", "tolerance", value=10**400), "too large"),
        (put("runs", 1, "log", 0, value=["W", "x"]), r"runs\[1\].log\[0\]: expected `object`, got `array`"),
        (put("runs", 0, "label", value=None), r"runs\[0\].label: expected `str`, got `null`"),
        (put("runs", 0, "config", value=3), r"runs\[0\].config: expected an object, got 3"),
        (put("runs", 0, "config", value={"level": "ultra"}), r"runs\[0\].config: .*ultra"),
        (put("runs", 0, "config", value={"evil": 1}), r"runs\[0\].config: .*evil"),
        (put("runs", value={}), "runs: expected `array`, got `object`"),
        (put("verdicts", 0, "kind", value="best"), r"verdicts\[0\].kind: invalid enum value 'best'"),
        (put("verdicts", 0, "ratio", value=0), "expected a positive number"),
        (put("verdicts", 0, "low", value="nan"), "expected a positive number"),
        (put("verdicts", 0, "label", value="Z"), "one for each run after the first"),
        (put("doubts", 0, "label", value="Z"), r"doubts\[0\].label"),
        (put("agreement", 0, "label", value="A"), r"agreement\[0\].label"),
        (put("agreement", 0, "sqnr_db", value="much"), "expected a number, got 'much'"),
        (put("inputs", "shapes", 0, value=["a"]), r"inputs.shapes\[0\]: expected `array` of length 2"),
        (put("model", "name", value="\ud800"), "not valid JSON"),
        (put("created_utc", value="tomorrow"), "expected a time"),
        (put("created_utc", value="0001-01-01T00:00:00+14:00"), "expected a time"),
        (put("created_utc", value="9999-12-31T23:59:59-12:00"), "expected a time"),
        (put("id", value="x" * 65), "printable ASCII"),
        (put("extra", value=1), "the record: object contains unknown field `extra`"),
        (lambda data: data["model"].pop("sha256"), "model: object missing required field `sha256`"),
        (lambda data: {**data, "runs": data["runs"][:1]}, "is not used|two or more runs"),
    ],
)
def test_a_value_that_does_not_fit_is_named(edit: Callable[[Any], Any], problem: str) -> None:
    def only(data: Any) -> Any:
        changed = edit(data)
        return changed if isinstance(changed, dict) else None

    refused(with_record(only), problem)


ROW = ("runs", 1, "processes", 0, "blocks", 0, "samples_s")


@pytest.mark.parametrize(
    ("count", "problem"),
    [
        (2, r"nanoseconds\.npy: value 31 is not used"),
        (10**9, "expected the next of 32 values"),
        (-1, "expected the next of 32 values"),
        (True, "expected the next of 32 values"),
        ([0.1, 0.2], "expected the next of 32 values"),
    ],
)
def test_rows_that_are_not_there_or_left_over(count: Any, problem: str) -> None:
    refused(with_record(put(*ROW, value=count)), problem)


def test_a_small_file_cannot_ask_for_the_same_samples_again_and_again() -> None:
    def repeat(data: Any) -> None:
        blocks = data["runs"][1]["processes"][0]["blocks"]
        blocks.extend(blocks * 5000)

    refused(with_record(repeat), r"blocks\[4\].samples_s: expected the next of 32 values")


@pytest.mark.parametrize("depth", [100, 5_000, 1_000_000])
@pytest.mark.parametrize("place", [("runs", 0, "config"), ("protocol", "tolerance"), ("extra",), (*ROW,)])
def test_deep_nesting(place: tuple[Any, ...], depth: int) -> None:
    members = good_members()
    data = json.loads(members["record.json"])
    put(*place, value="HERE")(data)
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        deep = opening * depth + b"1" + closing * depth
        text = json.dumps(data).encode().replace(b'"HERE"', deep)
        refused(
            zipped({**members, "record.json": text}), "too deep|expected |unknown field|not valid JSON|config"
        )


def with_numbers(blob: bytes) -> dict[str, bytes]:
    """An honest bundle's members with other numbers, as seconds."""
    members = {**good_members(), NUMBERS: blob}
    del members[NANOSECONDS]
    return members


def npy(array: Any, **options: Any) -> bytes:
    target = io.BytesIO()
    np.save(target, array, **options)
    return target.getvalue()


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"\x93NUMPY\x01\x00",
        npy(np.zeros(32, "f4")),
        npy(np.zeros(32, ">f8")),
        npy(np.zeros((4, 8))),
        npy(np.zeros(32))[:-1],
        npy(np.zeros(32)) + b"\0",
        npy(np.zeros(32)).replace(b"(32,)", b"(33,)"),
        npy(np.zeros(32)).replace(b"(32,)", b"(-1,)"),
        npy(np.zeros(32)).replace(b"'<f8'", b"'|O' "),
        npy(np.array([{"a": 1}] * 32, object), allow_pickle=True),
        npy(np.zeros(32)).replace(b"(32,)", b"(9**99,)"),
        npy(np.zeros(32)).replace(b"False", b"print"),
        pickle.dumps([0.1] * 32),
    ],
)
def test_a_column_that_is_no_row_of_floats(blob: bytes) -> None:
    refused(zipped(with_numbers(blob)), "is not a one-dimensional float64")


def test_a_column_as_numpy_writes_it_opens() -> None:
    bundle = unpack_record(zipped(with_numbers(npy(np.full(32, 0.5)))))
    assert set(bundle.record.runs[0].latency.samples_s) == {0.5}


def test_numbers_in_two_files() -> None:
    refused(
        zipped({**good_members(), NUMBERS: npy(np.full(32, 0.5))}), "both numbers.npy and nanoseconds.npy"
    )


@pytest.mark.parametrize("column", [np.zeros(32), np.zeros(32, "i4"), np.zeros((4, 8), "i8")])
def test_nanoseconds_that_are_no_row_of_integers(column: Any) -> None:
    refused(zipped({**good_members(), NANOSECONDS: npy(column)}), "is not a one-dimensional int64")


def test_a_negative_number_of_nanoseconds() -> None:
    column = np.full(32, 1_000)
    column[6] = -1
    refused(
        zipped({**good_members(), NANOSECONDS: npy(column)}), "expected durations of zero or more seconds"
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_a_column_with_a_sample_that_is_no_duration(value: float) -> None:
    column = np.full(32, 0.5)
    column[6] = value
    refused(
        zipped(with_numbers(npy(column))),
        r"blocks\[1\].samples_s: expected durations of zero or more seconds, .* at 1",
    )


def test_samples_that_nobody_waited_for() -> None:
    """An axis from 1e308 to 1e308 + 1 has no length."""
    blob = zipped(with_numbers(npy(np.full(32, 1e308))))
    refused(blob, r"Run 'A': expected times of 0 to 1e\+09 seconds")


def test_a_column_missing_or_not_asked_for() -> None:
    members = good_members()
    refused(zipped({**members, "integers.npy": npy(np.zeros(2, int))}), r"integers\.npy: value 0 is not used")
    refused(zipped({**members, "bytes.bin": b"x"}), r"bytes\.bin: value 0 is not used")
    refused(zipped({**members, "parts/1/record.json": b"{}"}), r"a member parts/1/record\.json")
    del members[NANOSECONDS]
    refused(zipped(members), "expected the next of 0 values")


def test_a_manifest_that_does_not_fit() -> None:
    members = good_members()
    refused(zipped({"manifest.json": members["manifest.json"]}), "no record.json")
    refused(zipped({"record.json": members["record.json"]}), "no manifest.json")
    refused(zipped(signed(members, format="zip")), "does not say that this is a bundle")
    refused(zipped(signed(members, version=0)), "version 0")
    refused(zipped(signed(members, version="1")), "manifest.json: version: expected `int`")
    refused(zipped(signed(members, kind="pickle")), "holds a 'pickle'; known: comparison")
    refused(zipped(signed(members, more=1)), "unknown field `more`")
    refused(zipped({**members, "manifest.json": b"[]"}), "does not say")


def test_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.ortbench"
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(BundleError, match=r"a\.ortbench' cannot be opened: The file is not a bundle"):
        read_bundle(path)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(limits.FILE_BYTES + 1)
    with pytest.raises(BundleError, match="at most"):
        read_bundle(path)


def shows(blob: bytes) -> bool:
    """Whether `blob` opens; what opens must also be fit to show."""
    try:
        record = unpack_record(blob).record
    except BundleError as error:
        return not (error.problem and error.fix)
    assert repr(record) + repr(record.runs) + repr(record.runs[0].latency)
    assert "<script" not in record._repr_html_() + record.runs[1]._repr_html_()
    return True


def mutate_bytes(draw: random.Random, blob: bytes) -> bytes:
    """Flip, cut, repeat or overwrite something."""
    data = bytearray(blob)
    for _ in range(draw.randint(1, 4)):
        at, length = draw.randrange(len(data)), draw.choice((1, 2, 4, 60))
        change = draw.randrange(5)
        if change == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif change == 1:
            data[at : at + length] = draw.randbytes(length)
        elif change == 2:
            del data[at : at + length]
        elif change == 3:
            data[at:at] = data[at : at + length]
        else:
            data[at : at + length] = draw.choice((b"\xff", b"\0")) * length
        data = data or bytearray(b"x")
    return bytes(data)


JUNK = (None, True, False, 0, -1, 1e308, 1 << 80, "", "nan", "<script>", "\ud800", [], {}, [[]], {"a": {}})


def mutate_tree(draw: random.Random, data: Any) -> None:
    """Replace, remove, repeat or add something deep inside."""
    for _ in range(draw.randint(1, 3)):
        node = data
        for _ in range(draw.randint(0, 8)):
            inner = list(node.values()) if isinstance(node, dict) else node
            nested = [item for item in inner if isinstance(item, dict | list) and item]
            if not nested:
                break
            node = draw.choice(nested)
        if not node:
            continue
        key = draw.choice(list(node)) if isinstance(node, dict) else draw.randrange(len(node))
        change = draw.randrange(4)
        if change == 0:
            del node[key]
        elif change == 1 and isinstance(node, list):
            node.append(deepcopy(node[key]))
        elif change == 1:
            node[draw.choice(("x", "", "id"))] = deepcopy(node[key])
        else:
            node[key] = deepcopy(draw.choice(JUNK))


def fuzz(seed: int, count: int) -> list[int]:
    """How many of so many mutants were refused, and how many opened."""
    draw = random.Random(seed)
    members = good_members()
    whole = zipped(members)
    outcomes = []
    for at in range(count):
        if at % 3 == 0:
            blob = mutate_bytes(draw, whole)
        elif at % 3 == 1:
            name = draw.choice(list(members))
            changed = {**members, name: mutate_bytes(draw, members[name])}
            blob = zipped(changed)
        else:
            data = json.loads(members["record.json"])
            mutate_tree(draw, data)
            blob = zipped({**members, "record.json": json.dumps(data).encode()})
        outcomes.append(shows(blob))
    return [outcomes.count(False), outcomes.count(True)]


@pytest.mark.thorough
def test_mutants_are_refused_or_shown_within_little_memory() -> None:
    count = amount(1500)
    refusals, opened = forks.call_in_memory(lambda: fuzz(20261121, count), more_bytes=128 << 20)
    assert refusals + opened == count
    assert refusals > count // 2
    assert opened > count // 150, "some changes are harmless, or the test would prove little"
