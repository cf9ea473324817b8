"""Hostile queries, contents, names and parameters: no fault, no unescaped byte, nothing in the console."""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import re
import subprocess
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browser import chromium, console
from conftest import VECSEARCH
from selenium.webdriver.common.by import By
from serve import FossilServer
from test_server import everything, extroot  # noqa: F401

from vecsearch.web import create_app

PAYLOADS = ['<script>window.hit=1</script>', '"><img src=x onerror=window.hit=1>', "' onmouseover='window.hit=1", "</title><script>window.hit=1</script>",
            "</div></main><script>window.hit=1</script>", "javascript:window.hit=1", "\u202egnp.exe\u202c", "{{7*7}}{% raw %}", "&lt;b&gt;&amp;",
            "🔥👩‍🚀", "]]><x/>", "--><svg onload=window.hit=1>", "x" * 4000, "\ufffe\uffff\u0001"]
WORD = "platypus"


def page_of(text: str) -> str:
    return f"# {WORD} {text}\n\nThe {WORD} says {text} and {text}.\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory, extroot):  # noqa: F811
    """A repository whose every name and text is an attack, made by the real fossil."""
    home = tmp_path_factory.mktemp("hostile")
    path, work = home / "evil.fossil", home / "work"

    def fossil(*args: object, **options) -> str:
        env = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(home), "USER": "ann"}
        return subprocess.run(["fossil", *map(str, args)], cwd=options.get("cwd", home), env=env, capture_output=True, text=True, check=True).stdout

    # Fossil itself puts the project's name as it is into a script of its own: that one stays harmless.
    fossil("init", "--project-name", "Q & A <i>", "--admin-user", "ann", path)
    work.mkdir()
    fossil("open", "--keep", path, cwd=work)
    for number, text in enumerate(PAYLOADS):
        name = re.sub(r"[\x00-\x1f/\\<>:*?\"|\ufffe\uffff]", "_", text)[:60]
        (work / f"{number} {name}.md").write_bytes(page_of(text).encode("utf-8", "replace"))
        (work / f"{number}.py").write_text(f'def {WORD}_{number}():\n    return """{text}"""\n', "utf-8")
    (work / "nul.txt").write_bytes(b"platypus \xed\xa0\x80 \xff\xfe and then \x00 nothing\n")
    (work / "long.txt").write_text("platypus " + "y" * 100_000 + "\n")
    (work / "media").mkdir()
    (work / "media/talk.txt").write_text(page_of("talk"))
    (work / "media/talk.json").write_text(json.dumps({"uri": "javascript:window.hit=1", "sha3": hashlib.sha3_256(b"x").hexdigest(), "mime": "video/mp4",
                                                      "bytes": 1, "transcript": "media/talk.txt", "title": PAYLOADS[1]}))
    fossil("addremove", cwd=work)
    fossil("commit", "--no-warnings", "--allow-fork", "-m", f"{WORD} {PAYLOADS[0]}", "--user-override", PAYLOADS[1], cwd=work)
    for number, text in enumerate(PAYLOADS[:6]):
        (home / "text").write_text(page_of(text))
        fossil("wiki", "create", f"{text[:90]}{number}", home / "text", "--mimetype", "text/x-markdown", "-R", path)
        fossil("ticket", "add", "title", f"{WORD} {text}", "comment", text, "-R", path)
    subprocess.run([VECSEARCH, "index", "-R", str(path)], check=True, capture_output=True)
    with FossilServer(everything(path), extroot) as server:
        server.client = create_app(str(path)).test_client()
        yield server
        assert "Traceback" not in server.log()


class Structure(HTMLParser):
    """Elements that could do something, and every attribute that could."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("img", "iframe", "object", "x") or (tag == "svg" and "onload" in dict(attrs)):
            self.found.append(tag)
        self.found += [f"{tag} {name}={value}" for name, value in attrs
                       if name.startswith("on") or (name in ("href", "src", "action") and (value or "").strip().lower().startswith(("javascript", "data")))]


def dangerous(body: str) -> list[str]:
    parser = Structure()
    parser.feed(body)
    scripts = re.findall(r"<script\b[^>]*>", body)
    return parser.found + [s for s in scripts if "nonce=" not in s]


def test_hostile_content_is_only_text_on_every_page(site):
    with chromium() as browser:
        for rest in (f"?q={WORD}&k=100", f"?q={WORD}&kind=code&k=100", f"?q={WORD}&sort=date&kind=wiki", f"/map?q={WORD}", "/map?view=graph"):
            browser.get(f"{site.base}/ext/search{rest}")
            assert browser.find_elements(By.CSS_SELECTOR, ".vs-hit, svg.vs-map"), rest
            assert browser.execute_script("return window.hit === undefined && document.querySelectorAll('main.vecsearch img').length === 0"), rest
            assert browser.execute_script("return [...document.querySelectorAll('main.vecsearch a')].every(a => !/^javascript/i.test(a.href.baseVal || a.href))")
            assert console(browser) == [], rest
            direction = browser.execute_script("return [...document.querySelectorAll('.vs-hit h3 a')].every(a => a.querySelector('bdi'))")
            assert direction, "a title that turns the direction of writing turns its own only"


def test_hostile_queries_are_only_text_in_every_format(site):
    with chromium() as browser:
        for text in PAYLOADS[:9]:
            browser.get(f"{site.base}/ext/search?" + urllib.parse.urlencode({"q": text}))
            assert browser.find_element(By.NAME, "q").get_attribute("value") == text
            assert browser.execute_script("return window.hit === undefined")
        assert console(browser) == []
    for text in [*PAYLOADS, "\ud800x".encode("utf-8", "surrogatepass"), b"\xff\xfe", "a\0b"]:
        for form in ("html", "json", "atom", "suggest"):
            args = urllib.parse.urlencode({"q": text, "format": form, "project": text, "k": 3})
            reply = site.client.get(f"/?{args}")
            body = reply.get_data().decode("utf-8", "strict")
            assert reply.status_code == 200, (text, form)
            if form == "html":
                assert dangerous(body) == []
            elif form == "atom":
                ElementTree.fromstring(body)
            else:
                json.loads(body)


def test_no_header_can_be_made_by_a_parameter(site):
    for raw in ("q=%0d%0aX-Injected:%201", "q=a&format=json%0d%0aX-Injected:%201", "kind=%0d%0aX-Injected:1", "like=%0aX-Injected:1", "q=x&k=%0d%0a%0d%0a<script>"):
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
        connection.request("GET", f"/ext/search?{raw}")
        reply = connection.getresponse()
        body = reply.read().decode("utf-8", "strict")
        connection.close()
        assert reply.status in (200, 400) and reply.getheader("X-Injected") is None and "<script>" not in body


def test_parameters_at_random_never_break_it(site):
    """150 requests here; benchmarks/fuzz_web.py asks 5,000 made from the OpenAPI description."""
    dice = random.Random(7)
    described = json.loads((Path(__file__).parent.parent / "static/openapi.json").read_text())
    names = {path: [p["name"] for p in page["get"].get("parameters", [])] for path, page in described["paths"].items()}
    values = [*PAYLOADS, "", "0", "-1", "99999999999999999999", "1e9", "*", "\0", "html", "json", "atom", "suggest", "opensearch", "doc", "0" * 64 + ".0", "١٢", "\ud7ff"]
    for _ in range(150):
        path, known = dice.choice(list(names.items()))
        args = [(dice.choice([*known, "zz"]), dice.choice(values)) for _ in range(dice.randint(0, 5))]
        reply = site.client.get(f"{path.removeprefix('/ext/search') or '/'}?{urllib.parse.urlencode(args)}")
        body = reply.get_data().decode("utf-8", "strict")
        assert reply.status_code in (200, 304, 400), (path, args, body[:300])
        if "html" in reply.content_type:
            assert dangerous(body) == [], (path, args)


def test_other_methods_are_refused(site):
    for method in ("post", "put", "delete", "patch"):
        reply = getattr(site.client, method)("/?q=x")
        assert reply.status_code == 405 and "GET" in reply.headers["Allow"]
