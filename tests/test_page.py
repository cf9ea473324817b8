"""The search page in Chromium, on a real `fossil server`, with and without script, in every skin."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
from browser import chromium, console, contrasts, set_width, violations
from conftest import VECSEARCH
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from serve import FossilServer
from test_server import everything, extroot, search, set_caps  # noqa: F401

SKINS = ["default", "darkmode", "ardoise", "eagle", "xekri", "blitz", "plain_gray", "khaki", "original"]
PAGES = {"results": "?q=restore+file", "empty": "?q=zzqqxx", "error": "?k=abc", "map": "/map?q=restore", "graph": "/map?view=graph"}


@pytest.fixture(scope="module")
def site(demo_indexed, extroot, tmp_path_factory):  # noqa: F811
    """One server for the module; its repository is not changed."""
    path = tmp_path_factory.mktemp("site") / "demo.fossil"
    path.write_bytes(demo_indexed.read_bytes())
    with FossilServer(everything(path), extroot) as server:
        server.path = path
        yield server


@pytest.fixture(scope="module")
def browser():
    with chromium() as driver:
        driver.set_script_timeout(30)
        yield driver


@pytest.fixture(scope="module")
def plain_browser():
    """One that runs no script."""
    with chromium(script=False) as driver:
        yield driver


def open_page(browser, site: FossilServer, rest: str) -> None:
    browser.get(f"{site.base}/ext/search{rest}")


def texts(browser, selector: str) -> list[str]:
    return [element.text for element in browser.find_elements(By.CSS_SELECTOR, selector)]


def test_a_person_without_script_asks_narrows_and_turns_the_page(site, plain_browser):
    page = plain_browser
    open_page(page, site, "")
    assert "Ask in words" in page.find_element(By.TAG_NAME, "main").text
    assert not page.find_elements(By.CSS_SELECTOR, ".vs-slash")  # no script ran
    page.find_element(By.NAME, "q").send_keys("restore file", Keys.ENTER)
    WebDriverWait(page, 15).until(lambda p: p.find_elements(By.CSS_SELECTOR, ".vs-hit"))  # a key waits for no page
    assert page.find_element(By.NAME, "q").get_attribute("value") == "restore file"
    [count] = texts(page, ".vs-count")
    total = int(count.split()[0])
    facets = {name: int(number) for name, number in (text.rsplit(" ", 1) for text in texts(page, ".vs-facets a"))}
    assert facets.pop("all") == total == sum(facets.values()) and "1 to 10 shown" in count
    first = texts(page, ".vs-hit h3")
    page.find_element(By.LINK_TEXT, "More results").click()
    second = texts(page, ".vs-hit h3")
    assert len(first) + len(second) <= total and f"11 to {min(20, total)}" in texts(page, ".vs-count")[0]
    page.find_element(By.LINK_TEXT, "Previous results").click()
    assert texts(page, ".vs-hit h3") == first
    page.find_element(By.PARTIAL_LINK_TEXT, "code ").click()
    assert set(texts(page, ".vs-kind")) == {"code"}
    assert len(texts(page, ".vs-facets a")) == len(facets) + 1, "the other kinds stay on offer, with their counts"
    selected = page.find_element(By.CSS_SELECTOR, "select[name=kind] option:checked").text
    assert selected == f"code ({facets['code']})"


def test_newest_first_is_another_order_of_the_same(site, plain_browser):
    open_page(plain_browser, site, "?q=restore+file&k=100&sort=date")
    days = [e.get_attribute("datetime") for e in plain_browser.find_elements(By.CSS_SELECTOR, ".vs-hit time")]
    assert days and days == sorted(days, reverse=True)
    assert search(site, "restore file", k=100, sort="date")["total"] == search(site, "restore file", k=100)["total"]


def test_code_is_shown_with_the_lines_that_matched(site, plain_browser):
    open_page(plain_browser, site, "?q=os.fsync&kind=code")
    hit = plain_browser.find_element(By.CSS_SELECTOR, ".vs-hit")
    lines = {line.get_attribute("data-n"): line.text for line in hit.find_elements(By.CSS_SELECTOR, ".vs-line")}
    source = site.get("/raw?ci=trunk&filename=src/tern.py")[1].splitlines()
    assert lines and all(source[int(number) - 1].strip() == text.strip() for number, text in lines.items())
    assert "fsync" in " ".join(m.text for m in hit.find_elements(By.TAG_NAME, "mark"))
    assert "src/tern.py:" in hit.find_element(By.CSS_SELECTOR, ".vs-path").text
    assert "monospace" in hit.find_element(By.CSS_SELECTOR, "pre").value_of_css_property("font-family")


def test_a_hit_opens_at_the_passage(site, browser):
    """The link of a document brings the browser to the words that matched, on a page as tall as wanted."""
    set_width(browser, 700, 240)
    try:
        open_page(browser, site, "?q=%22compares+checksums%22&kind=doc")
        link = browser.find_element(By.CSS_SELECTOR, ".vs-hit h3 a")
        assert "#" in link.get_attribute("href") and ":~:text=" in link.get_attribute("href")
        link.click()
        WebDriverWait(browser, 10).until(lambda b: "restore.md" in b.current_url)
        WebDriverWait(browser, 10).until(lambda b: b.execute_script("return scrollY") > 100)
        top = browser.execute_script("return [...document.querySelectorAll('p')].find(p => p.textContent.includes('compares checksums'))"
                                     ".getBoundingClientRect().top")
        assert 0 <= top < 240
    finally:
        set_width(browser, 1100)


def test_similar_passages_are_other_artifacts(site, plain_browser):
    open_page(plain_browser, site, "?q=%22goes+to+sleep%22&kind=ticket")
    title = texts(plain_browser, ".vs-hit h3")[0]
    plain_browser.find_element(By.PARTIAL_LINK_TEXT, "Similar").click()
    assert title in plain_browser.find_element(By.CSS_SELECTOR, "h2.vs-head").text
    assert texts(plain_browser, ".vs-hit h3") and title not in texts(plain_browser, ".vs-hit h3")
    like = plain_browser.current_url.split("like=")[1]
    hits = search(site, "", like=like, k=100)["hits"]
    assert [h["score"] for h in hits] == sorted((h["score"] for h in hits), reverse=True)
    assert len({h["hash"] for h in hits}) == len(hits) and like.split(".")[0] not in {h["hash"] for h in hits}


def test_media_name_their_asset(site, plain_browser):
    open_page(plain_browser, site, "?q=stolen+laptop&kind=media")
    asset = plain_browser.find_element(By.CSS_SELECTOR, ".vs-asset")
    assert asset.find_element(By.TAG_NAME, "a").get_attribute("href") == "https://media.example.org/talks/tern-introduction.mp4"
    assert "video/mp4, 81.2 MB" in asset.text and "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a" in asset.text


def test_fossils_own_search_and_the_state_of_the_index_are_named(indexed, extroot, fossil, tmp_path):  # noqa: F811
    everything(indexed)
    with FossilServer(indexed, extroot) as server:
        _, page, _ = server.get("/ext/search?q=restore")
        assert 'href="/search?s=restore"' in page and "behind" not in page
        (tmp_path / "co").mkdir()
        fossil("open", indexed, "--workdir", tmp_path / "co")
        for number in (1, 2):
            (tmp_path / "co/README.md").write_text("changed " * number)  # a size that differs: Fossil looks no closer within a second
            fossil("commit", "--no-warnings", "-m", f"change {number}", cwd=tmp_path / "co")
        _, page, _ = server.get("/ext/search?q=restore")
        assert "2 check-ins behind" in page and "has changed since it was indexed" in page
        set_caps(indexed, nobody="j")
        _, page, _ = server.get("/ext/search?q=restore")
        assert "Index current to" not in page, "which check-in is the newest is for who may read check-ins"


def test_empty_states_say_what_to_do(site, demo, extroot, plain_browser):  # noqa: F811
    open_page(plain_browser, site, "?q=zzqqxx&kind=doc")
    page = plain_browser.find_element(By.TAG_NAME, "main").text
    assert "Nothing relevant was found" in page and "The same in everything" in page and "Fossil's own search" in page
    with FossilServer(everything(demo), extroot) as server:
        _, page, _ = server.get("/ext/search?q=x")
        assert "There is no index yet" in page and "vecsearch index -R REPOSITORY" in page
        set_caps(demo, nobody="", anonymous="")
        _, page, _ = server.get("/ext/search?q=x")
        assert "Nothing here is open to you" in page and 'href="/login?g=ext%2Fsearch%3Fq%3Dx"' in page


def test_who_logs_in_from_the_page_comes_back_to_the_question(indexed, extroot, fossil, plain_browser):  # noqa: F811
    set_caps(indexed, nobody="", anonymous="")
    fossil("user", "new", "bob", "", "secret", "-R", indexed)
    fossil("user", "capabilities", "bob", "o", "-R", indexed)
    with FossilServer(indexed, extroot) as server:
        plain_browser.get(f"{server.base}/ext/search?q=restore+file")
        plain_browser.find_element(By.PARTIAL_LINK_TEXT, "Log in").click()
        plain_browser.find_element(By.NAME, "u").send_keys("bob")
        plain_browser.find_element(By.NAME, "p").send_keys("secret", Keys.ENTER)
        WebDriverWait(plain_browser, 10).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".vs-hit"))
        assert plain_browser.find_element(By.NAME, "q").get_attribute("value") == "restore file"


def test_a_provider_that_is_down_leaves_the_keywords(indexed, extroot, plain_browser):  # noqa: F811
    everything(indexed)
    db = sqlite3.connect(indexed)
    db.executescript("INSERT OR REPLACE INTO fx_vec_config VALUES('provider', 'ollama'), ('provider-url', 'http://127.0.0.1:9');"
                     "UPDATE fx_vec_state SET model='ollama:nomic-embed-text'; UPDATE fx_vec_embedding SET model='ollama:nomic-embed-text';")
    db.close()
    with FossilServer(indexed, extroot) as server:
        plain_browser.get(f"{server.base}/ext/search?q=restore")
        assert "nswered by keywords only" in texts(plain_browser, ".vs-message")[0]
        assert texts(plain_browser, ".vs-hit")


def test_keys_reach_the_box_and_walk_the_hits(site, browser):
    open_page(browser, site, "?q=restore+file")

    def focused() -> str:
        return browser.execute_script("return document.activeElement.name || document.activeElement.textContent")

    body = browser.find_element(By.TAG_NAME, "body")
    assert focused() != "q"
    body.send_keys("/")
    assert focused() == "q" and browser.find_element(By.NAME, "q").get_attribute("value") == "restore file"
    browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    titles = texts(browser, ".vs-hit h3")
    assert focused() == titles[0]
    browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert focused() == titles[1]
    outline = browser.switch_to.active_element.value_of_css_property("outline-style")
    assert outline != "none", "where the focus is must be seen"
    browser.switch_to.active_element.send_keys(Keys.ARROW_UP)
    browser.switch_to.active_element.send_keys(Keys.ARROW_UP)
    assert focused() == "q"
    browser.find_element(By.CSS_SELECTOR, ".vs-slash").click()
    browser.find_element(By.TAG_NAME, "body").send_keys("/")
    assert focused() != "q", "WCAG 2.1.4: a key of one character can be turned off"
    browser.find_element(By.CSS_SELECTOR, ".vs-slash").click()


def test_results_follow_the_typing_where_answers_come_at_once(site, browser):
    open_page(browser, site, "?q=disk")
    before = browser.current_url
    browser.execute_script("document.querySelector('.vs-form').dataset.live = 60000")
    box = browser.find_element(By.NAME, "q")
    box.send_keys(" format")
    WebDriverWait(browser, 15).until(lambda b: "format" in b.current_url)
    WebDriverWait(browser, 15).until(lambda b: b.find_element(By.ID, "vs-live").text or b.find_element(By.ID, "vs-live").get_attribute("textContent"))
    assert "disk format" in browser.title and "ext4" in browser.find_element(By.ID, "vs-results").text
    box.send_keys("zzqq")
    WebDriverWait(browser, 15).until(lambda b: "zzqq" in b.title)
    browser.back()
    WebDriverWait(browser, 15).until(lambda b: b.current_url == before and b.find_element(By.NAME, "q").get_attribute("value") == "disk")
    WebDriverWait(browser, 15).until(lambda b: b.title.endswith("Search: disk"))
    assert console(browser) == []


def test_where_answers_are_slow_nothing_happens_while_typing(site, browser):
    open_page(browser, site, "?q=disk")
    browser.execute_script("document.querySelector('.vs-form').dataset.live = 0")
    before = browser.current_url
    browser.find_element(By.NAME, "q").send_keys(" format")
    time.sleep(0.4)
    assert browser.current_url == before and "Search: disk" in browser.title


def test_every_skin_passes_axe_without_a_word_in_the_console(site, browser):
    """All pages in the palest skin, the results in the others; tests/screenshots.py does all in all."""
    faults = []
    for skin in SKINS:
        for name, rest in PAGES.items() if skin == "ardoise" else [("results", PAGES["results"])]:
            open_page(browser, site, f"{rest}&skin={skin}")
            faults += [f"{skin}, {name}: {fault}" for fault in violations(browser)] + [f"{skin}, {name}: {line}" for line in console(browser)]
            faults += [f"{skin}, {name}: the colour of a kind has {ratio:.2f} to 1"
                       for ratio in contrasts(browser, ".vs-kind", "borderLeftColor") if ratio < 3]
    assert faults == []


def test_the_page_brings_no_fault_into_the_whole_document(site, browser):
    """Outside our own part Fossil has faults of its own; none is added to them."""
    browser.get(f"{site.base}/wiki?name=Roadmap")
    own = {fault.split(":")[0] for fault in violations(browser, "")}
    for name, rest in PAGES.items():
        open_page(browser, site, rest)
        assert {fault.split(":")[0] for fault in violations(browser, "")} <= own, name


@pytest.mark.parametrize("width", [320, 2000])
def test_nothing_is_cut_off_at_any_width(site, browser, width):
    set_width(browser, width)
    try:
        for rest in PAGES.values():
            open_page(browser, site, rest)
            ours = browser.execute_script("const m = document.querySelector('main.vecsearch'); return [m.scrollWidth, m.clientWidth]")
            assert ours[0] <= ours[1] + 1, rest
            assert browser.execute_script("return document.querySelector('main.vecsearch').getBoundingClientRect().right") <= width
    finally:
        set_width(browser, 1100)


def test_printing_and_still_eyes(site, browser):
    open_page(browser, site, "?q=restore+file")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.find_element(By.CSS_SELECTOR, ".vs-form").value_of_css_property("display") == "none"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    moving = browser.execute_script("return [...document.querySelectorAll('main.vecsearch *')].filter(e => parseFloat(getComputedStyle(e).transitionDuration)"
                                    " || getComputedStyle(e).animationName !== 'none').length")
    assert moving == 0
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_nothing_is_loaded_from_elsewhere(site, browser):
    open_page(browser, site, "?q=restore+laptop")
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert all(url.startswith(site.base) for url in loaded)


def test_several_hits_of_one_artifact_stand_under_its_best(tmp_path, extroot, fossil, plain_browser):  # noqa: F811
    """A page of one file helps nobody: two passages at most, one entry, and the number of the rest."""
    repository = tmp_path / "long.fossil"
    fossil("init", repository)
    (tmp_path / "co").mkdir()
    fossil("open", repository, "--workdir", tmp_path / "co")
    sections = "\n\n".join(f"## Part {n}\n\nThe walrus of part {n}. " + "It says much that fills a section. " * 40 for n in range(6))
    (tmp_path / "co/long.md").write_text(f"# Walrus\n\n{sections}\n")
    fossil("add", "long.md", cwd=tmp_path / "co")
    fossil("commit", "--no-warnings", "-m", "one\n\nand a second line of the comment", cwd=tmp_path / "co")
    subprocess.run([VECSEARCH, "index", "-R", str(repository)], check=True, capture_output=True)
    with FossilServer(everything(repository), extroot) as server:
        plain_browser.get(f"{server.base}/ext/search?q=walrus&kind=doc")
        [hit] = plain_browser.find_elements(By.CSS_SELECTOR, ".vs-hit")
        assert "Also here:" in hit.text and "more passages" in hit.text


def test_a_hit_says_each_thing_once_and_why_where_asked(site):
    """Code is called by the name it defines. What has no title but its path does not say the path again."""
    _, page, _ = site.get("/ext/search?q=disk_free_bytes&kind=code&explain=1")
    assert re.search(r"<h3><a [^>]*><bdi>disk_free_bytes</bdi></a></h3>", page)
    assert re.search(r'class="vs-path"><bdi>src/disk.c</bdi>:1–\d+<', page)
    assert re.search(r"Ranks: .*keyword 1", page) and "Steps: fused 0." in page
    _, page, _ = site.get("/ext/search?q=stolen+laptop&kind=media")
    assert re.search(r"<h3><a [^>]*><bdi>media/talks/introduction.json</bdi></a></h3>", page)
    assert "Ranks:" not in page and 'class="vs-path"><bdi>media' not in page


def test_what_is_similar_is_asked_by_the_box_alone(site):
    """The menus of a form would send no `like`, and so ask for nothing."""
    like = json.loads(site.get("/ext/search?q=restore&format=json&k=1")[1])["hits"][0]
    _, page, _ = site.get(f"/ext/search?like={like['hash']}.{like['seq']}")
    assert "<select" not in page and "vs-facets" in page


def test_long_titles_are_cut_at_a_blank():
    from vecsearch.web.resources import headline, size

    assert headline("First line\nsecond line") == "First line"
    assert headline(f"{'Long ' * 9}book > {'Chapter ' * 9} > Section") == f"{'Long ' * 9}book > … > Section"
    cut = headline("word " * 60)
    assert len(cut) <= 111 and cut.endswith("word…")
    assert headline("x" * 300) == "x" * 55 + "…"
    assert [size(n) for n in (0, 999, 81234567)] == ["0 bytes", "999 bytes", "81.2 MB"]


def test_the_whole_page_costs_little(site):
    status, page, _ = site.get("/ext/search?q=restore+file")
    static = sum(len((Path(__file__).parent.parent / "static" / name).read_bytes()) for name in ("search.css", "search.js"))
    assert status == 200 and static < 16_000 and len(page) < 70_000
