"""The picture of the store: its layout, its regions, and ten thousand points."""

from __future__ import annotations

import re
import sqlite3

import numpy as np
import pytest

from vecsearch.fossil.repository import open_readonly
from vecsearch.layout import layout
from vecsearch.store import plane, schema
from vecsearch.web import create_app
from vecsearch.web.graph import PER_FILE, close_files
from vecsearch.web.regions import members

EVERYTHING = "gjorz2"


def clusters(n: int, groups: int, dim: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """n unit vectors around so many directions, and which each belongs to."""
    random = np.random.default_rng(3)
    member = np.arange(n) % groups
    rows = random.normal(size=(groups, dim))[member] + 0.6 * random.normal(size=(n, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), member


@pytest.fixture(scope="module")
def site(demo_indexed, tmp_path_factory):
    """(client, path) of an app over a repository in which everybody reads everything."""
    path = tmp_path_factory.mktemp("map") / "demo.fossil"
    path.write_bytes(demo_indexed.read_bytes())
    db = sqlite3.connect(path)
    db.execute("UPDATE user SET cap=? WHERE login='nobody'", (EVERYTHING,))
    db.commit()
    db.close()
    return create_app(str(path)).test_client(), path


def page(client, **args: object) -> str:
    reply = client.get("/map", query_string=args)
    assert reply.status_code == 200
    return reply.get_data(as_text=True)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 30, 3000])
def test_the_layout_is_the_same_every_time_and_within_its_square(n):
    rows, _ = clusters(n, 5)
    at = layout(rows)
    assert at.shape == (n, 2) and np.isfinite(at).all() and (at >= 0).all() and (at <= 1).all()
    assert (layout(rows) == at).all()


@pytest.mark.parametrize("n", [400, 3000])
def test_what_is_alike_lies_close(n):
    rows, member = clusters(n, 8)
    at = layout(rows)
    near = np.argsort(((at[:, None] - at[None]) ** 2).sum(axis=2), axis=1)[:, 1:11]
    assert (member[near] == member[:, None]).mean() > 0.9


def test_equal_or_empty_vectors_do_no_harm():
    for rows in (np.ones((50, 8), np.float32) / 8**0.5, np.zeros((50, 8), np.float32)):
        assert np.isfinite(layout(rows)).all()


def test_every_chunk_has_a_place_and_a_second_run_changes_none(demo, vecsearch):
    vecsearch("index", "-R", demo, check=True)

    def places() -> list[tuple]:
        db = sqlite3.connect(demo)
        try:
            return db.execute("SELECT c.hash, c.seq, m.x, m.y FROM fx_vec_chunk c LEFT JOIN fx_vec_map m ON m.chunk_id=c.id ORDER BY 1, 2").fetchall()
        finally:
            db.close()

    first = places()
    assert first and all(x is not None and y is not None for _, _, x, y in first)
    vecsearch("rebuild", "-R", demo, check=True)
    assert places() == first


def test_points_open_what_they_stand_for(site):
    client, path = site
    body = page(client)
    db = open_readonly(path)
    try:
        count = len(plane.points(db, {"doc", "code", "wiki", "ticket", "forum", "technote", "checkin", "instruction", "media"}))
    finally:
        db.close()
    points = re.findall(r'<a href="([^"]+)" tabindex="-1"><path d="M[\d.]+ [\d.]+m[^"]+"/><title>([^<]+)</title></a>', body)
    assert len(points) == count
    assert any(url.startswith("/doc/") and name.startswith("docs/restore.md") for url, name in points)
    assert any(re.search(r"/info/[0-9a-f]{64}\?ln=\d+-\d+", url) for url, _ in points)


def test_hits_of_a_query_are_lit_and_listed(site):
    body = page(site[0], q="restore one file")
    lit = re.findall(r"<circle [^>]+/><title>(\d+)\. ", body)
    assert lit and f"{len(lit)} hit" in body and body.count('<li><span class="vs-kind') >= len(lit)
    assert "<circle" not in page(site[0])


def test_a_kind_alone_and_a_region_alone(site):
    client, _ = site
    assert set(re.findall(r'<g class="vs-k-(\w+)">', page(client, kind="ticket"))) == {"ticket"}
    whole = page(client)
    numbers = re.findall(r"\?region=(\d+)\"><text", whole)
    assert len(numbers) >= 2
    inside = [len(re.findall(r'tabindex="-1"><path', page(client, region=n))) for n in numbers]
    assert sum(inside) == len(re.findall(r'tabindex="-1"><path', whole)), "each point is in one region"
    assert client.get("/map", query_string={"region": "x"}).status_code == 400
    assert "All that is indexed" in page(client, region=999)


def test_a_few_far_off_do_not_crowd_the_others():
    from vecsearch.store.plane import Point
    from vecsearch.web.map import HEIGHT, WIDTH, _places

    places = np.random.default_rng(5).random((1000, 2)) * 0.1
    places[:2] = 1.0
    at = _places([Point(x, y, None) for x, y in places])
    assert (np.quantile(at, 0.9, axis=0) > 0.7 * np.array([WIDTH, HEIGHT])).all()
    assert (np.argsort(at[2:, 0]) == np.argsort(places[2:, 0])).all(), "left of another stays left of it"


def test_regions_are_the_same_every_time():
    at = np.random.default_rng(1).random((500, 2)) * 1000
    assert (members(at) == members(at)).all() and set(members(at)) == set(range(12))
    assert len(members(at[:0])) == 0 and set(members(at[:5])) == {0}


def test_the_graph_joins_files_that_are_close(site):
    body = page(site[0], view="graph")
    pairs = re.findall(r"<title>([^<]+) and ([^<]+): ([\d.]+)</title>", body)
    assert pairs and [float(p[2]) for p in pairs] == sorted((float(p[2]) for p in pairs), reverse=True)
    for name in {name for pair in pairs for name in pair[:2]}:
        assert sum(name in pair[:2] for pair in pairs) <= PER_FILE


def test_copies_are_one_file_in_the_graph():
    from vecsearch.web.graph import _without_copies

    rows, _ = clusters(6, 6)
    kept, copies = _without_copies(np.vstack([rows, rows[2], rows[2], rows[4]]))
    assert kept == [0, 1, 2, 3, 4, 5] and copies == [0, 0, 2, 0, 1, 0]


def test_no_name_covers_another_in_the_graph(site):
    rows = re.findall(r'<text x="([\d.]+)" y="([\d.]+)">', page(site[0], view="graph"))
    assert rows and all(abs(float(y) - float(v)) > 13 for i, (x, y) in enumerate(rows) for u, v in rows[:i] if u == x)


def test_an_index_without_a_map_says_so(site):
    client, path = site
    db = sqlite3.connect(path)
    kept = db.execute("SELECT * FROM fx_vec_map").fetchall()
    db.executescript("DROP TABLE fx_vec_map")
    try:
        assert "There is no map yet" in page(client) and "no two files" in page(client, view="graph")
        assert "/ext/search/map" not in client.get("/", query_string={"q": "restore"}).get_data(as_text=True)
    finally:
        db.execute(schema.OTHERS["fx_vec_map"])
        db.executemany("INSERT INTO fx_vec_map VALUES(?,?,?)", kept)
        db.commit()
        db.close()


def test_ten_thousand_points_are_drawn_small(site, tmp_path):
    """Passages of one page: what counts is their number. Marks of the size that twenty have would be one blot."""
    path = tmp_path / "many.fossil"
    path.write_bytes(site[1].read_bytes())
    db = sqlite3.connect(path)
    random = np.random.default_rng(2)
    [hash_] = db.execute("SELECT hash FROM fx_vec_chunk WHERE kind='doc' LIMIT 1").fetchone()
    [source] = db.execute("SELECT id FROM fx_vec_source WHERE hash=?", (hash_,)).fetchone()
    for n in range(10_000):
        chunk = db.execute("INSERT INTO fx_vec_chunk(hash, kind, path, seq, text) VALUES(?, 'doc', 'docs/many.md', ?, 'x')", (hash_, n + 100)).lastrowid
        db.execute("INSERT INTO fx_vec_detail VALUES(?,?,?,'',1,2,'ann',0,x'')", (chunk, source, f"Section {n % 40}"))
        db.execute("INSERT INTO fx_vec_map VALUES(?,?,?)", (chunk, *random.random(2)))
    db.commit()
    db.close()
    few, body = page(site[0]), page(create_app(str(path)).test_client())
    assert body.count('tabindex="-1"><path') > 10_000 and len(body) < 3_500_000
    sides = [float(re.search(r'"-1"><path d="M[\d. ]+m-[\d.-]+l[\d. -]+?h([\d.]+)l', text)[1]) for text in (few, body)]
    assert sides[1] < sides[0] / 2


def test_close_files_of_nothing_is_nothing():
    class Empty:
        ids = np.zeros(0, np.int64)

    assert close_files(Empty, lambda ids: [], lambda chunk: "", 10).pairs == []
