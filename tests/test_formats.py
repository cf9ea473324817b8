"""The answers for programs: JSON against its OpenAPI description, Atom, OpenSearch, suggestions, 304."""

from __future__ import annotations

import http.client
import json
import re
import sqlite3
import urllib.parse
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator
from serve import FossilServer
from test_server import everything, extroot, search, set_caps  # noqa: F401

from vecsearch.types import KINDS
from vecsearch.web import create_app

ATOM = "{http://www.w3.org/2005/Atom}"
OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"


@pytest.fixture(scope="module")
def site(demo_indexed, extroot, tmp_path_factory):  # noqa: F811
    path = tmp_path_factory.mktemp("formats") / "demo.fossil"
    path.write_bytes(demo_indexed.read_bytes())
    with FossilServer(everything(path), extroot) as server:
        server.path = path
        yield server


@pytest.fixture(scope="module")
def described(site) -> dict:
    return json.loads(site.get("/ext/search/openapi.json")[1])


def schema(described: dict, name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": described["components"]})


def raw(site: FossilServer, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """(status, headers in lower case, body) of one request, nothing followed."""
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    connection.request("GET", path, headers={"User-Agent": "Mozilla/5.0 Firefox/128.0", **headers})
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    return reply.status, {name.lower(): value for name, value in reply.getheaders()}, body


def test_the_description_is_valid_and_names_what_the_code_knows(described):
    from openapi_spec_validator import validate

    from vecsearch.search.query import DEFAULT_K, MAX_K, MODES
    from vecsearch.web.asked import FORMATS, MAX_OFFSET, SORTS

    validate(described)
    parameters = {p["name"]: p["schema"] for p in described["paths"]["/ext/search"]["get"]["parameters"]}
    assert set(parameters["kind"]["enum"]) == {"", *KINDS}
    assert set(described["components"]["schemas"]["Hit"]["properties"]["kind"]["enum"]) == set(KINDS)
    assert (tuple(parameters["format"]["enum"]), tuple(parameters["sort"]["enum"]), tuple(parameters["mode"]["enum"])) == (FORMATS, SORTS, MODES)
    assert (parameters["k"]["maximum"], parameters["k"]["default"], parameters["offset"]["maximum"]) == (MAX_K, DEFAULT_K, MAX_OFFSET)


@pytest.mark.parametrize("args", ["q=restore+file", "q=restore&kind=code&k=3", "q=zzqqxx", "", "q=disk&sort=date&mode=keyword", "q=disk&offset=900"])
def test_json_is_as_described(site, described, args):
    status, body, _ = site.get(f"/ext/search?format=json&{args}")
    assert status == 200
    schema(described, "Result").validate(json.loads(body))


@pytest.mark.parametrize("words", ['restore "took_ms": null', '\\"took_ms\\": null', '"took_ms": null, "hits": []'])
def test_what_was_asked_never_becomes_a_part_of_the_json(site, words):
    answer = json.loads(raw(site, "/ext/search?" + urllib.parse.urlencode({"q": words, "format": "json"}))[2])
    assert "took_ms" in answer["query"] and isinstance(answer["took_ms"], dict) and answer["state"] == "ok"


def test_faults_are_as_described(site, described):
    for args in ("k=0", "kind=x", "sort=x", "like=x", f"like={'0' * 40}.1", "offset=-1"):
        status, body, _ = site.get(f"/ext/search?format=json&{args}")
        assert status == 400
        schema(described, "Error").validate(json.loads(body))
    for path in ("/nothing", "/openapi.json/x"):
        assert site.get(f"/ext/search{path}?format=json")[0] == 404


def test_next_leads_through_all_hits_once(site):
    seen, url = [], "/ext/search?format=json&q=restore+file&k=4"
    while url:
        data = json.loads(site.get(url)[1])
        seen += [(hit["hash"], hit["seq"]) for hit in data["hits"]]
        url = data["next"]
    assert len(seen) == len(set(seen)) == data["total"] == sum(data["facets"].values())


def test_counts_by_kind_stay_when_a_kind_is_chosen(site):
    everything_ = search(site, "restore file")
    chosen = search(site, "restore file", kind="doc", k=100)
    assert chosen["facets"].keys() == everything_["facets"].keys()
    assert {**chosen["facets"], "doc": 0} == {**everything_["facets"], "doc": 0}
    assert chosen["total"] == len(chosen["hits"]) == chosen["facets"]["doc"] > 0


def test_the_next_page_is_of_the_same_question(site):
    """Files in hand and the wish for reasons are part of it; what was typed is last, where Fossil cuts."""
    first = json.loads(site.get("/ext/search?q=restore+file&k=3&files=docs/restore.md,src/tern.py&explain=1&format=json")[1])
    asked = urllib.parse.parse_qsl(urllib.parse.urlsplit(first["next"]).query)
    assert dict(asked) == {"q": "restore file", "k": "3", "offset": "3", "files": "docs/restore.md,src/tern.py", "explain": "1", "format": "json"}
    assert asked[-1][0] == "q" and json.loads(site.get(first["next"])[1])["hits"][0]["explain"]


def test_an_address_that_fossil_cut_is_said_to_be(site):
    """`fossil server` drops what is beyond 1995 bytes, without a word."""
    message = json.loads(site.get(f"/ext/search?format=json&q=restore+{urllib.parse.quote('ä' * 400)}")[1])["message"]
    assert message == "the query was too long; its beginning was searched"
    assert json.loads(site.get(f"/ext/search?format=json&q=restore+{'x' * 1900}")[1])["message"] == ""


def test_atom_is_a_feed_of_the_query(site):
    status, headers, body = raw(site, "/ext/search?format=atom&q=restore&sort=date")
    assert status == 200 and headers["content-type"].startswith("application/atom+xml")
    feed = ElementTree.fromstring(body)
    entries = feed.findall(f"{ATOM}entry")
    hits = search(site, "restore", sort="date")["hits"]
    assert [e.find(f"{ATOM}id").text for e in entries] == [f"urn:vecsearch::{h['hash']}.{h['seq']}" for h in hits]
    assert all(e.find(f"{ATOM}link").get("href").startswith(site.base) for e in entries)
    assert feed.find(f"{ATOM}updated").text == max(e.find(f"{ATOM}updated").text for e in entries)
    assert feed.find(f"{ATOM}title").text == "tern: restore"


def test_a_browser_learns_of_the_engine_and_asks_for_suggestions(site):
    status, headers, body = raw(site, "/ext/search?format=opensearch")
    assert status == 200 and headers["content-type"].startswith("application/opensearchdescription+xml")
    urls = {u.get("type"): u.get("template") for u in ElementTree.fromstring(body).findall(f"{OPENSEARCH}Url")}
    assert urls["text/html"] == f"{site.base}/ext/search?q={{searchTerms}}"
    ask = urls["application/x-suggestions+json"].removeprefix(site.base).replace("{searchTerms}", "writ")
    typed, names, kinds, addresses = json.loads(site.get(ask)[1])
    assert typed == "writ" and "write_atomically" in names and len(names) == len(kinds) == len(addresses)
    assert json.loads(site.get("/ext/search?format=suggest&q=Restore+one")[1])[1] == ["Restore one file"]
    assert json.loads(site.get("/ext/search?format=suggest&q=%25_")[1])[1] == []


def test_the_host_in_whole_addresses_can_only_be_a_host(site):
    for host in ('evil.example"><script>', "a b", "x/y", "é"):
        _, _, body = raw(site, "/ext/search?format=opensearch", Host=host.encode().decode("latin-1"))
        assert b"evil" not in body and b"http://localhost" in body


@pytest.mark.parametrize("form", ["json", "atom", "suggest", "opensearch"])
def test_an_unchanged_answer_is_not_sent_twice(site, form):
    path = f"/ext/search?format={form}&q=restore"
    status, headers, body = raw(site, path)
    assert status == 200 and headers["vary"] == "Cookie" and "private" in headers["cache-control"]
    status, again, empty = raw(site, path, **{"If-None-Match": headers["etag"]})
    assert (status, empty, again["etag"]) == (304, b"", headers["etag"])
    assert raw(site, path, **{"If-None-Match": '"other"'})[0] == 200


def test_pages_have_no_tag_and_are_nobody_elses(site):
    """Fossil puts a new nonce around each: an old page with a new nonce would lose its script."""
    status, headers, _ = raw(site, "/ext/search?q=restore", **{"If-None-Match": "*"})
    assert status == 200 and "etag" not in headers and headers["vary"] == "Cookie" and "private" in headers["cache-control"]


def test_a_login_changes_the_tag(indexed, extroot, fossil):  # noqa: F811
    set_caps(indexed, nobody="o", anonymous="")
    fossil("user", "new", "bob", "", "secret", "-R", indexed)
    fossil("user", "capabilities", "bob", "ojr2", "-R", indexed)
    path = "/ext/search?format=json&q=restore+disk&k=100"
    with FossilServer(indexed, extroot) as server:
        _, before, _ = raw(server, path)
        server.login("bob", "secret")
        cookie = "; ".join(f"{c.name}={c.value}" for c in server.jar)
        status, after, body = raw(server, path, **{"If-None-Match": before["etag"], "Cookie": cookie})
        assert status == 200 and after["etag"] != before["etag"]
        assert {hit["kind"] for hit in json.loads(body)["hits"]} & {"wiki", "ticket", "forum"}
        assert raw(server, path, **{"If-None-Match": after["etag"]})[0] == 200, "who logs out gets a stranger's answer"


#: A page of Fossil for each kind, which answers 200 to who may read it and sends others to log in.
FOSSILS = {"doc": "/dir", "code": "/dir", "instruction": "/dir", "media": "/dir", "checkin": "/info/trunk", "wiki": "/wcontent",
           "ticket": "/rptview?rn=1", "forum": "/forummain"}
PHRASES = ('"restore one file" "disk_free_bytes" "silent fallback" "stolen laptop" "when a block is new" "key on paper" "twice as fast"'
           ' "goes to sleep" "label the disk"')


def letters(number: int) -> str:
    return "".join(letter for bit, letter in enumerate("ojr2") if number >> bit & 1)


@pytest.fixture(scope="module")
def open_site(demo_indexed, extroot, tmp_path_factory):  # noqa: F811
    """A server whose visitors' rights the tests change."""
    path = tmp_path_factory.mktemp("rights") / "demo.fossil"
    path.write_bytes(demo_indexed.read_bytes())
    db = sqlite3.connect(path)
    passages = {kind: f"{hash_}.{seq}" for hash_, kind, seq in db.execute("SELECT hash, kind, seq FROM fx_vec_chunk")}
    db.close()
    with FossilServer(everything(path), extroot) as server:
        server.path, server.passages = path, passages
        server.client = create_app(str(path)).test_client()
        yield server


@pytest.mark.parametrize("cap", [letters(n) for n in range(16)], ids=lambda cap: cap or "none")
def test_every_surface_shows_what_fossil_shows(open_site, cap):
    """HTML, JSON, suggestions, feed, similar, map, graph and counts, for each of the 16 rights to read.
    The first two by the real server, the others by the same app in this process, since they are many."""
    site = open_site
    set_caps(site.path, nobody=cap, anonymous="", reader="", developer="")
    allowed = {kind for kind, path in FOSSILS.items() if "/login" not in (reply := site.get(path))[2] and reply[0] == 200}
    if {"doc", "wiki"} <= allowed:
        allowed.add("technote")
    data = search(site, PHRASES, k=100)
    assert {hit["kind"] for hit in data["hits"]} == set(data["facets"]) == allowed
    _, page, _ = site.get("/ext/search?" + urllib.parse.urlencode({"q": PHRASES, "k": 100}))
    assert {kind for kind in KINDS if f'class="vs-hit vs-{kind}"' in page} == allowed
    if "checkin" not in allowed:
        assert data["checkin"] == "" and all(hit["ci"] == "" for hit in data["hits"]) and "Index current to" not in page

    def get(path: str, **args: object) -> str:
        return site.client.get(path, query_string=args).get_data(as_text=True)

    feed = ElementTree.fromstring(get("/", q=PHRASES, k=100, format="atom"))
    assert {c.get("term") for c in feed.iter(f"{ATOM}category")} == allowed
    map_page, graph = get("/map", q="restore"), get("/map", view="graph")
    assert {kind for kind in KINDS if f'<g class="vs-k-{kind}">' in map_page} == allowed
    assert set(re.findall(r'<li><span class="vs-kind[^"]*">(\w+)', map_page)) <= allowed
    assert {kind for kind in KINDS if f'class="vs-k-{kind}"' in graph} == allowed & {"doc", "code", "instruction", "media"}
    for typed, kind in (("Roadmap", "wiki"), ("Which disk", "forum"), ("Progress bar", "ticket"), ("Release 1.2", "technote"), ("write_at", "code")):
        names = json.loads(get("/", format="suggest", q=typed))[1]
        assert bool(names) == (kind in allowed), (typed, names)
    for kind, passage in site.passages.items():
        found = json.loads(get("/", format="json", k=100, like=passage))
        assert "error" not in found if kind in allowed else not found.get("hits"), kind
        assert {hit["kind"] for hit in found.get("hits", ())} <= allowed
