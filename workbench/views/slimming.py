"""Our JavaScript without comments and needless spaces: it travels with every widget.

Texts, templates and regular expressions stay as they are. Our files end every statement with a semicolon, so
line breaks go as well.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]*)
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<template>`)
  | (?P<regex>(?<=[(,=:\[!&|?{};])[ ]*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*)
  | (?P<space>\s+)
  | (?P<word>[\w$]+)
  | (?P<sign>.)
    """,
    re.VERBOSE,
)


def slim(text: str) -> str:
    """The same program in fewer letters."""
    parts: list[str] = []
    at, spaced = 0, False
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:  # every letter is at least a sign
            raise ValueError(f"no JavaScript at {text[at : at + 40]!r}")
        token, kind, at = found.group(), found.lastgroup, found.end()
        if kind == "template":
            at = _template_end(text, at)
            token = text[found.start() : at]
        if kind == "comment":
            continue
        if kind == "space":
            spaced = True
            continue
        if spaced and parts and _apart(parts[-1][-1], token[0]):
            parts.append(" ")
        spaced = False
        if token == "}" and parts and parts[-1] == ";":
            parts.pop()
        parts.append(token.strip(" ") if kind == "regex" else token)
    return "".join(parts)


def _apart(before: str, after: str) -> bool:
    """Words need a space between them, and so do signs that would become another one."""
    word = re.compile(r"[\w$]")
    return bool(word.match(before) and word.match(after)) or (before == after and before in "+-/")


def _template_end(text: str, at: int) -> int:
    """Behind the backquote that ends a template whose own began before `at`; templates nest in `${…}`."""
    depth = 0  # of braces within ${…}
    while at < len(text):
        letter = text[at]
        if letter == "\\":
            at += 2
            continue
        if depth == 0 and letter == "`":
            return at + 1
        if depth == 0 and text.startswith("${", at):
            depth, at = 1, at + 2
            continue
        if depth and letter in "\"'":
            at = text.index(letter, at + 1)
        elif depth and letter == "`":
            at = _template_end(text, at + 1) - 1
        elif depth and letter == "{":
            depth += 1
        elif depth and letter == "}":
            depth -= 1
        at += 1
    raise ValueError("a template has no end")
