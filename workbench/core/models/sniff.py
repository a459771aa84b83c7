"""Signatures of files that are not ONNX models, with a fix for each."""

from __future__ import annotations

HEAD_BYTES = 4096

_ONNX = "Give the .onnx file itself"
_EXPORT = "Export it to ONNX first, for example with torch.onnx.export"
_UNPACK = "Unpack it first and give the .onnx file inside"

_MAGICS: tuple[tuple[int, bytes, str, str], ...] = (  # offset, bytes, file type, fix
    (0, b"version https://git-lfs", "a Git LFS pointer, not the file it stands for", "Run `git lfs pull`"),
    (4, b"ORTM", "a model in ORT format, which keeps no ONNX graph", "Load the .onnx that it was made from"),
    (4, b"TFL3", "a TensorFlow Lite model", "Convert it to ONNX first, for example with tf2onnx"),
    (0, b"\x89HDF", "an HDF5 file, as Keras writes it", "Convert it to ONNX first, for example with tf2onnx"),
    (0, b"GGUF", "a GGUF file of llama.cpp", "Export the original model to ONNX first"),
    (0, b"\x1f\x8b", "compressed with gzip", _UNPACK),
    (0, b"BZh", "compressed with bzip2", _UNPACK),
    (0, b"\xfd7zXZ", "compressed with xz", _UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "compressed with Zstandard", _UNPACK),
    (0, b"7z\xbc\xaf", "a 7-Zip archive", _UNPACK),
    (257, b"ustar", "a tar archive", _UNPACK),
    (0, b"\x93NUMPY", "a NumPy array", _ONNX),
    (0, b"\x89PNG", "a PNG picture", _ONNX),
    (0, b"\xff\xd8\xff", "a JPEG picture", _ONNX),
    (0, b"%PDF", "a PDF document", _ONNX),
    (0, b"\x7fELF", "a program or library", _ONNX),
)
_PICKLES = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))


def not_onnx(head: bytes) -> tuple[str, str] | None:
    """Return the file type and the fix for these first bytes; None if the file may be ONNX."""
    for offset, magic, what, fix in _MAGICS:
        if head[offset : offset + len(magic)] == magic:
            return what, fix
    if head.startswith(b"PK\x03\x04"):
        if b"data.pkl" in head or b"constants.pkl" in head:
            return "a PyTorch checkpoint", _EXPORT
        return "a zip archive", _UNPACK
    if head.startswith(_PICKLES):
        return "a Python pickle, as older PyTorch checkpoints are", _EXPORT
    if len(head) > 8 and head[8:9] == b"{" and b'"dtype"' in head:
        return "a safetensors file: weights without a graph", "Export the model to ONNX first"
    return _text(head)


def _text(head: bytes) -> tuple[str, str] | None:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")) or (start.startswith(b"<") and b"<html" in start):
        return (
            "a web page (HTML): a login or error page, most likely, saved in place of the model",
            "Open the address in a browser, log in if it asks, and download the file itself",
        )
    if start.startswith(b"<?xml"):
        return "an XML file, as OpenVINO writes it", _ONNX
    if start.startswith(b"{"):
        return "JSON text: an error message of a server, or another tool's model", _ONNX
    if start.startswith((b"ir_version", b"<ir_version", b"<\n", b"graph {")):
        return "an ONNX model in text form", "Save it in binary form with onnx.save"
    printable = sum(byte in b"\t\r\n" or 32 <= byte < 127 for byte in head)
    if len(head) > 3 and printable == len(head):
        return "a text file", _ONNX
    return None
