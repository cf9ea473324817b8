"""axe-core over every page in every skin, or the pictures in docs/screenshots/.

    python tests/screenshots.py REPOSITORY [FOLDER QUERY]

REPOSITORY has an index; a copy of it, open to everybody, is served. Exit 1 if anything is found wrong.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote_plus

from browser import chromium, console, set_width, violations
from conftest import VECSEARCH
from serve import FossilServer
from test_page import PAGES, SKINS
from test_server import everything

#: file name -> (address, skin, width, height)
PICTURES = {
    "results": ("?q={q}", "default", 1000, 620), "results-dark": ("?q={q}", "darkmode", 1000, 620), "results-code": ("?q={q}&kind=code", "ardoise", 1000, 560),
    "results-320": ("?q={q}", "default", 320, 640), "results-2000": ("?q={q}", "blitz", 2000, 500), "similar": ("?like={like}", "khaki", 1000, 600),
    "empty": ("?q=zzqqxx", "default", 900, 420), "empty-dark": ("?q=zzqqxx", "xekri", 900, 420), "error": ("?q=x&k=abc", "eagle", 900, 330),
    "map": ("/map?q={q}", "default", 1000, 880), "map-dark": ("/map", "darkmode", 1000, 880), "map-320": ("/map", "original", 320, 640),
    "graph": ("/map?view=graph", "plain_gray", 1000, 760),
}


def main() -> None:
    """Every page in every skin through axe, or the pictures if a folder is given."""
    source, folder = Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as scratch:
        repository = everything(Path(shutil.copy(source, Path(scratch) / "site.fossil")))
        extroot = Path(scratch) / "ext"
        extroot.mkdir()
        subprocess.run([VECSEARCH, "install", "--extroot", str(extroot), "-R", str(repository)], check=True, capture_output=True)
        with FossilServer(repository, extroot) as server, chromium() as browser:
            if folder:
                _pictures(browser, server, folder)
            faults = [] if folder else _faults(browser, server)
    print("\n".join(faults) if faults or folder else f"{len(PAGES)} pages in {len(SKINS)} skins: nothing found wrong")
    sys.exit(bool(faults))


def _faults(browser, server: FossilServer) -> list[str]:
    faults = []
    for skin in SKINS:
        for name, rest in PAGES.items():
            browser.get(f"{server.base}/ext/search{rest}&skin={skin}")
            faults += [f"{skin}, {name}: {fault}" for fault in violations(browser) + console(browser)]
    return faults


def _pictures(browser, server: FossilServer, folder: Path) -> None:
    query = quote_plus(sys.argv[3])
    browser.get(f"{server.base}/ext/search?q={query}")
    like = browser.find_element("partial link text", "Similar").get_attribute("href").split("like=")[1]
    for name, (rest, skin, width, height) in PICTURES.items():
        set_width(browser, width, height)
        address = rest.format(q=query, like=like)
        browser.get(f"{server.base}/ext/search{address}{'&' if '?' in address else '?'}skin={skin}")
        browser.execute_script("document.activeElement.blur()")
        picture = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        (folder / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))
    set_width(browser, 1100)


if __name__ == "__main__":
    main()
