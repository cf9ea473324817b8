"""Real Chromium for tests, and axe-core in it."""

from __future__ import annotations

import os
import shutil
from functools import cache
from importlib.resources import files

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

#: What of axe's rules is WCAG 2.2 at level A or AA, and its best practices.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
          "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-device-scale-factor=1")


def chromium(*, script: bool = True, width: int = 1100, height: int = 900) -> Chrome:
    """A browser with its console recorded; with `script=False` it runs no page's script."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*_FLAGS, f"--window-size={width},{height}"):
        options.add_argument(flag)
    if not script:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return Chrome(options=options, service=Service(shutil.which("chromedriver"), env=os.environ))


def console(browser: Chrome) -> list[str]:
    """What the page complained of since last asked; a refused script or style stands here."""
    return [line["message"] for line in browser.get_log("browser")
            if "favicon" not in line["message"] and not ("status of" in line["message"] and "ext/search" in line["message"])]


@cache
def _axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


def violations(browser: Chrome, within: str = "main.vecsearch") -> list[str]:
    """What axe-core finds wrong: rule and place of each fault."""
    browser.execute_script(_axe())
    found = browser.execute_async_script(
        "const [within, rules, done] = arguments; axe.run(within || document, {runOnly: rules, resultTypes: ['violations']}).then(done)", within, RULES)
    return [f"{fault['id']}: {node['target']} {node['failureSummary']}" for fault in found["violations"] for node in fault["nodes"]]


def set_width(browser: Chrome, width: int, height: int = 900) -> None:
    """The size of the page itself; a window cannot be as narrow as a phone."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
