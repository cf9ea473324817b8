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


#: WCAG's contrast of a colour with the ground that the element stands on.
_CONTRAST = """
const parse = c => { const n = c.match(/[\\d.]+/g).map(Number); return c.startsWith('color(') ? n : n.map((v, i) => i < 3 ? v / 255 : v) };
const light = c => c.slice(0, 3).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
const ground = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > .5) return c } return [1, 1, 1] };
const [selector, property] = arguments;
return [...document.querySelectorAll(selector)].map(e => { const a = light(parse(getComputedStyle(e)[property])), b = light(ground(e));
  return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) })"""


def contrasts(browser: Chrome, selector: str, css_property: str) -> list[float]:
    """How each element's colour stands out (1 to 21). axe looks at text only."""
    return browser.execute_script(_CONTRAST, selector, css_property)


def set_width(browser: Chrome, width: int, height: int = 900) -> None:
    """The size of the page itself; a window cannot be as narrow as a phone."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
