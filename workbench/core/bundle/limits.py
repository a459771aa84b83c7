"""The limits of a bundle. They hold when writing and when reading, so every saved file reopens.

The largest realistic record is a model of two microseconds measured for half a minute: about 15 million
samples. Everything else is far smaller; the limits leave room and make a hostile file cheap to refuse.
"""

from __future__ import annotations

MIB = 1 << 20

FILE_BYTES = 512 * MIB  # the zip itself
MANIFEST_BYTES = 1 * MIB
RECORD_BYTES = 32 * MIB  # record.json
SAMPLES = 16_000_000  # over all columns; a Python float takes 32 bytes where a stored one takes 8
PARTS = 32  # records beside the main record
MEMBERS = 200
DIRECTORY_BYTES = 64 << 10  # the zip directory

JSON_ITEMS = 4_000_000  # an empty list of three characters takes 64 bytes in memory
JSON_ITEMS_IN_ALL = 6_000_000
JSON_BYTES_IN_ALL = 96 * MIB
BLOB_BYTES = 128 * MIB  # a graph without its weights; the largest known is below 30 MiB

INTEGER = (1 << 63) - 1  # the maximum that SQLite, numpy and every figure can hold

DAMAGED = "Ask for the file again, or save the comparison anew: this one was changed after it was written."
OURS = "This is a fault of the workbench, not yours: please report it with this message."
