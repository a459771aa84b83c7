"""Make the documentation site: `python -m docs.build [FOLDER]`, by default build/site.

It needs the `docs` extra. Markdown and published notebooks are shown as they are. Settings, provider options,
commands and the API are written from the code, and a link to a recorded bundle becomes a link to its exported
page. A warning, a dead link or a request to another host ends the build with an error.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import workbench as wb
from docs.reference import PAGES

HERE = Path(__file__).parent
ROOT = HERE.parent
EXAMPLES = "examples"  # the folder of exported pages
BUNDLE = re.compile(r"\[([^\]]+)\]\(([^)\s]+\.ortbench)\)")
READ_ON = re.compile(r"`docs/([\w-]+\.md)`")  # how a lesson names a page
SHIPPED = re.compile(r"\]\((?:\.\./)+notebooks/")  # the site shows the notebooks as they ran


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.build", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site")
    site: Path = parser.parse_args(arguments).folder.absolute()
    shutil.rmtree(site / EXAMPLES, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        bundles = write_sources(source)
        command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q"]
        cache = ["-d", str(Path(folder, "doctrees"))]
        done = subprocess.run(
            [*command, *cache, "-c", str(HERE), str(source), str(site)], cwd=ROOT, check=False
        )
    for bundle in bundles:
        (site / EXAMPLES).mkdir(exist_ok=True)
        wb.open(bundle).export_html(site / EXAMPLES / f"{bundle.stem}.html")
    problems = dead_links(site)
    print(*problems, f"{site / 'index.html'}: {len(bundles)} exported pages", sep="\n")
    return 1 if done.returncode or problems else 0


def write_sources(source: Path) -> list[Path]:
    """Write what Sphinx reads; return the bundles that pages link to."""
    shutil.copytree(HERE, source, ignore=shutil.ignore_patterns("*.py", "__pycache__", "static"))
    shutil.copy(ROOT / "notebooks" / "course" / "template.ipynb", source / "published" / "course")
    bundles: dict[str, Path] = {}
    for page in source.rglob("*.md"):
        written = page.relative_to(source)
        up = "../" * (len(written.parts) - 1)

        def exported(link: re.Match[str], written: Path = written, up: str = up) -> str:
            bundle = (HERE / written.parent / link[2]).resolve()
            bundles[bundle.stem] = bundle
            return f'<a href="{up}{EXAMPLES}/{bundle.stem}.html">{link[1]}</a>'

        text = BUNDLE.sub(exported, page.read_text("utf-8"))
        page.write_text(SHIPPED.sub(f"]({up}published/", text), "utf-8")
    for lesson in source.rglob("*.ipynb"):
        up = "../" * (len(lesson.relative_to(source).parts) - 1)
        lesson.write_text(READ_ON.sub(rf"[docs/\1]({up}\1)", lesson.read_text("utf-8")), "utf-8")
    (source / "reference").mkdir()
    for name, page_of in PAGES.items():
        (source / "reference" / f"{name}.md").write_text(page_of(), "utf-8")
    return list(bundles.values())


class Links(HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("img", "script", "iframe") and "src" in given:
            self.loaded.append(given["src"])
        if tag == "link" and given.get("rel") != "canonical":
            self.loaded.append(given["href"])


def dead_links(site: Path) -> list[str]:
    """Return a line for each link that leads nowhere and each file that another host would be asked for."""
    pages: dict[Path, Links] = {}
    for path in site.rglob("*.html"):
        pages[path] = Links()
        if path.parent.name != EXAMPLES:  # an exported page stands alone
            pages[path].feed(path.read_text("utf-8"))
    problems = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    problems.append(f"{path.relative_to(site)} loads {link}")
            elif not target.exists():
                problems.append(f"{path.relative_to(site)} links to {link}, which is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                problems.append(f"{path.relative_to(site)} links to {link}, which has no such place")
    return problems


if __name__ == "__main__":
    raise SystemExit(main())
