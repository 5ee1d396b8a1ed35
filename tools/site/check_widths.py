"""check_widths.py - nothing of the home page is cut off at the right, whatever the width of the window

usage: check_widths.py SITE

A browser shows the page in frames of each width (chromium; without it this is skipped).  A table may
scroll by itself.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTHS = [320, 390, 500, 700, 900, 1010, 1050, 1100, 1200, 1320, 1400, 1700]
PROBE = """<body><script>
(async () => {
    let said = "";
    for (const width of %s) {
        const frame = document.createElement("iframe");
        frame.style = `border: 0; width: ${width}px; height: 900px`;
        frame.src = "%s";
        document.body.append(frame);
        await new Promise((done) => { frame.onload = done; });
        const page = frame.contentDocument;
        const over = [...page.querySelectorAll("article pre, article img, article p")].filter(
            (part) => part.scrollWidth > part.clientWidth + 1 || part.getBoundingClientRect().right > width);
        if (page.documentElement.scrollWidth > width) said += `${width}: the page is wider; `;
        for (const part of over) said += `${width}: ${part.tagName} ${part.textContent.slice(0, 20)}; `;
        frame.remove();
    }
    document.body.textContent = `PROBED ${said}END`;
})();
</script></body>"""


def main() -> int:
    """Say what is cut off, and at which width."""
    browser = shutil.which("chromium")
    if not browser:
        print("check_widths: skipped: there is no chromium")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder) / "probe.html"
        probe.write_text(PROBE % (WIDTHS, (Path(sys.argv[1]).resolve() / "index.html").as_uri()))
        shown = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
            + ["--virtual-time-budget=30000", "--window-size=1800,1000", f"--user-data-dir={folder}/profile"]
            + ["--dump-dom", probe.as_uri()],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=300,
        ).stdout
    said = shown.partition("PROBED ")[2].partition("END")[0]
    if "PROBED" not in shown or said:
        print(f"check_widths: cut off at the right: {said[:400] or 'the browser shows nothing'}", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
