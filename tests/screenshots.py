"""axe-core over every page in every skin, or the pictures in docs/screenshots/.

    python tests/screenshots.py REPOSITORY                 every page in every skin; exit 1 if anything is wrong
    python tests/screenshots.py DEMO LARGE FOLDER          the pictures, of the demo and of a larger repository

Repositories have an index; copies of them, open to everybody, are served. With Pillow
installed the pictures are reduced to 64 colours.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browser import chromium, console, set_width, violations
from conftest import VECSEARCH
from serve import FossilServer
from test_page import PAGES, SKINS
from test_server import everything

try:
    from PIL import Image
except ImportError:
    Image = None

RESTORE, STRINGS = "?q=restore+one+file", "?q=compare+two+strings"
#: file name -> (of the larger repository?, address, skin, width, height)
PICTURES = {
    "results": (False, RESTORE, "default", 1000, 640), "results-dark": (False, RESTORE, "darkmode", 1000, 640),
    "results-320": (False, RESTORE, "default", 320, 640), "results-2000": (False, RESTORE, "blitz", 2000, 520),
    "results-code": (True, f"{STRINGS}&kind=code", "ardoise", 1000, 620), "similar": (True, "?like={like}", "khaki", 1000, 620),
    "start": (True, "", "original", 900, 440), "empty": (False, "?q=zzqqxx", "default", 900, 420), "empty-dark": (False, "?q=zzqqxx", "xekri", 900, 420),
    "error": (False, "?q=x&k=abc", "eagle", 900, 330), "map": (True, f"/map{STRINGS}", "default", 1000, 920),
    "map-dark": (True, "/map", "eagle", 1000, 920), "graph": (True, "/map?view=graph", "plain_gray", 1000, 760),
}


def main() -> None:
    """Every page in every skin through axe, or the pictures if a folder is given."""
    if len(sys.argv) == 4:
        for large in (False, True):
            with _site(Path(sys.argv[1 + large])) as server, chromium() as browser:
                _pictures(browser, server, Path(sys.argv[3]), large)
        return
    with _site(Path(sys.argv[1])) as server, chromium() as browser:
        faults = _faults(browser, server)
    print("\n".join(faults) or f"{len(PAGES)} pages in {len(SKINS)} skins: nothing found wrong")
    sys.exit(bool(faults))


@contextmanager
def _site(source: Path) -> Iterator[FossilServer]:
    with tempfile.TemporaryDirectory() as scratch:
        repository = everything(Path(shutil.copy(source, Path(scratch) / "site.fossil")))
        extroot = Path(scratch) / "ext"
        extroot.mkdir()
        subprocess.run([VECSEARCH, "install", "--extroot", str(extroot), "-R", str(repository)], check=True, capture_output=True)
        with FossilServer(repository, extroot) as server:
            yield server


def _faults(browser, server: FossilServer) -> list[str]:
    faults = []
    browser.set_script_timeout(120)
    for skin in SKINS:
        for name, rest in PAGES.items():
            browser.get(f"{server.base}/ext/search{rest}&skin={skin}" if "?" in rest else f"{server.base}/ext/search{rest}?skin={skin}")
            faults += [f"{skin}, {name}: {fault}" for fault in violations(browser) + console(browser)]
    return faults


def _pictures(browser, server: FossilServer, folder: Path, large: bool) -> None:
    browser.get(f"{server.base}/ext/search{STRINGS}")
    similar = browser.find_elements("partial link text", "Similar")
    like = similar[0].get_attribute("href").split("like=")[1] if similar else ""
    for name, (which, rest, skin, width, height) in PICTURES.items():
        if which != large:
            continue
        set_width(browser, width, height)
        address = rest.format(like=like)
        browser.get(f"{server.base}/ext/search{address}{'&' if '?' in address else '?'}skin={skin}")
        browser.execute_script("document.activeElement.blur()")
        picture = folder / f"{name}.png"
        picture.write_bytes(base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]))
        if Image:
            Image.open(picture).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    main()
