#!/usr/bin/env python3
"""make_page_pictures.py - photographs the report of a run and the service's page for README.md

usage: tools/make_page_pictures.py NEARDUP CORPUS [FOLDER]

NEARDUP is the command, with neardup-server beside it. CORPUS is a file of JSON Lines, which may be
packed by zstd: reuters21578. The pictures are docs/report.png and docs/service.png, or go to FOLDER.
It needs Chromium, and the Python packages playwright and pillow.
"""
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WIDTH = 900
STORED = 3000  # documents in the service
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-quic"]


def documents(corpus):
    """The lines of the corpus."""
    if corpus.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", corpus], capture_output=True, check=True).stdout.splitlines(keepends=True)
    return pathlib.Path(corpus).read_bytes().splitlines(keepends=True)


def write(picture, path):
    """Write a screenshot with few colours, which is a third of the bytes."""
    from PIL import Image

    Image.open(io.BytesIO(picture)).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def photograph_report(neardup, lines, browser, folder, to):
    (folder / "reuters.jsonl").write_bytes(b"".join(lines))
    subprocess.run(
        [neardup, "dedup", "-q", "reuters.jsonl", "-o", "unique.jsonl", "--manifest", "removed.jsonl", "--report", "report.html"],
        cwd=folder, check=True,
    )
    page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
    page.goto((folder / "report.html").as_uri(), wait_until="domcontentloaded", timeout=120_000)
    # From "What differs" to the third pair.
    top, bottom = page.evaluate("""() => {
        const heads = [...document.querySelectorAll('h2, h3, h4')];
        const pairs = heads.filter(e => /^3\\. /.test(e.textContent));
        const at = e => e.getBoundingClientRect().top + scrollY;
        return [at(heads.find(e => e.textContent.trim() === 'What differs')) - 24, at(pairs[0]) - 12];
    }""")
    write(page.screenshot(full_page=True, clip={"x": 0, "y": top, "width": WIDTH, "height": bottom - top}), to)


def photograph_service(neardup, lines, browser, folder, to):
    (folder / "some.jsonl").write_bytes(b"".join(lines[:STORED]))
    service = subprocess.Popen([neardup, "serve", folder / "store", "--listen", "127.0.0.1:0"],
                               stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://\S+", service.stdout.readline())[0]
        subprocess.run([neardup, "client", "post", "--url", address, "-q", folder / "some.jsonl"], check=True,
                       stdout=subprocess.DEVNULL)
        text = next(t for t in (json.loads(line)["text"] for line in lines) if 700 < len(t) < 1100)
        changed = text.replace(" said", " announced", 1).replace("April", "May").replace(" mln", " million", 1)
        page = browser.new_page(viewport={"width": WIDTH, "height": 1000}, color_scheme="light")
        page.goto(address, timeout=120_000)
        page.fill("textarea", changed)
        page.get_by_role("button", name="Check", exact=True).click()
        page.wait_for_timeout(1500)
        page.locator("textarea").evaluate("e => { e.rows = 4; e.style.minHeight = '6rem'; e.style.height = '6rem' }")
        write(page.screenshot(full_page=True), to)
    finally:
        service.terminate()
        service.wait()


def main():
    from playwright.sync_api import sync_playwright

    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.split("\n\n")[1])
    neardup = pathlib.Path(sys.argv[1]).resolve()
    to = pathlib.Path(sys.argv[3]) if len(sys.argv) == 4 else pathlib.Path(__file__).resolve().parent.parent / "docs"
    lines = documents(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        photograph_report(neardup, lines, browser, pathlib.Path(folder), to / "report.png")
        photograph_service(neardup, lines, browser, pathlib.Path(folder), to / "service.png")
        browser.close()


if __name__ == "__main__":
    main()
