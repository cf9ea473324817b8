"""Scores by hand-made examples, and a set made from a repository's own past."""

import json
import sqlite3
from contextlib import closing

import pytest

from vecsearch import evaluate
from vecsearch.embed.hashing import Hashing
from vecsearch.errors import UsageError
from vecsearch.evaluate import Task
from vecsearch.fossil.repository import open_readonly


def write(path, *items):
    path.write_text("\n".join(json.dumps(item) for item in items))
    return path


def test_a_set_is_read_as_it_is_published(tmp_path):
    path = write(tmp_path / "set.jsonl", {"q": "how?", "rel": {"a.md": 2, "b.md": 1}, "type": "howto"}, {"q": "sourdough", "rel": {}})
    assert evaluate.read_set(path) == [Task("how?", {"a.md": 2, "b.md": 1}, "howto"), Task("sourdough", {})]


@pytest.mark.parametrize("text, named", [
    ("", "no task"), ('{"q": "x", "rel": {}}\n{"q": "y"}', "line 2"), ("not json", "line 1"),
    ('{"q": "x", "rel": ["a"]}', "line 1"), ('{"q": "x", "rel": {"a": "much"}}', "line 1"), ("[]", "line 1"),
])
def test_what_is_no_set_is_refused_by_line(tmp_path, text, named):
    path = tmp_path / "set.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=named):
        evaluate.read_set(path)


@pytest.mark.parametrize("answers, found, expected", [
    ({"a": 2}, ["a"], 1.0),
    ({"a": 2}, ["x", "a"], 0.6309),
    ({"a": 2, "b": 1}, ["b", "a"], 0.7967),
    ({"a": 2}, [], 0.0),
    ({"a": 2}, ["x"] * 10 + ["a"], 0.0),
    ({}, ["a"], 0.0),
])
def test_ndcg(answers, found, expected):
    assert evaluate.ndcg(answers, found) == pytest.approx(expected, abs=1e-4)


def test_scores_by_type_and_off_topic_apart():
    tasks = [Task("one", {"a": 2}, "howto"), Task("two", {"b": 2, "c": 1}, "error"), Task("off", {})]
    found = {"one": ["a"], "two": ["c", "x", "b"], "off": []}
    report = evaluate.score(tasks, found.__getitem__)
    assert report["all"]["questions"] == 2
    assert (report["all"]["success@1"], report["all"]["success@3"], report["all"]["mrr"]) == (0.5, 1.0, round((1 + 1 / 3) / 2, 4))
    assert report["howto"]["ndcg@10"] == 1.0 and report["error"]["success@1"] == 0.0
    assert report["off topic"] == {**report["off topic"], "questions": 1, "empty": 1.0}


def test_a_related_page_is_no_answer_where_a_better_one_is_known():
    assert evaluate.score([Task("q", {"a": 2, "b": 1})], lambda q: ["b"])["all"]["success@5"] == 0.0


def test_a_document_counts_once_at_its_best_chunk():
    report = evaluate.score([Task("q", {"a": 2})], lambda q: ["x", "x", "x", "a"])
    assert report["all"]["mrr"] == 0.5


@pytest.mark.parametrize("comment, paths, expected", [
    ("Fix a crash in login.c when the name is empty", ["src/login.c"], ("Fix a crash in when the name is empty", 1)),
    ("Rework diff: faster", ["src/diff.c", "src/diff.h"], ("Rework faster", 1)),
    ("See src/db.c and `db`.", ["src/db.c"], ("See and", 2)),
    ("No leak here", ["a/b.c"], ("No leak here", 0)),
])
def test_words_that_name_the_answer_are_taken_out(comment, paths, expected):
    assert evaluate.without_leaks(comment, paths) == expected


def test_the_table_has_a_row_per_search_and_group():
    lines = list(evaluate.table({"hybrid": evaluate.score([Task("q", {"a": 2}, "howto")], lambda q: ["a"])}))
    assert lines[2].startswith("| hybrid | all | 1 | 1.000 |") and lines[3].startswith("| hybrid | howto |")


def test_every_arm_and_another_provider_are_scored_on_a_real_index(indexed):
    db = open_readonly(indexed)
    try:
        paths = [p for (p,) in db.execute("SELECT DISTINCT path FROM fx_vec_chunk WHERE kind = 'doc'")]
        text = db.execute("SELECT text FROM fx_vec_chunk WHERE path = ?", (paths[0],)).fetchone()[0]
        report = evaluate.evaluate(db, [Task(" ".join(text.split()[:12]), {paths[0]: 2})], lambda settings: Hashing(), providers=["hash"])
        assert set(report) == {"hybrid", "semantic", "keyword", f"semantic, {Hashing().model}"}
        assert report["keyword"]["all"]["success@3"] == 1.0
    finally:
        db.close()


def test_a_set_from_the_past_asks_for_files_that_changed(indexed):
    db = open_readonly(indexed)
    try:
        tasks, removed = evaluate.from_history(db)
    finally:
        db.close()
    with sqlite3.connect(indexed) as raw:
        names = {name for (name,) in raw.execute("SELECT name FROM filename")}
    assert tasks and removed >= 0
    for task in tasks:
        assert set(task.answers) <= names and len(task.answers) <= evaluate.MOST_FILES
        assert evaluate.without_leaks(task.question, task.answers) == (task.question, 0)


@pytest.mark.parametrize("word", ["src/jim.c:123", "<jim.c>", "[src/jim.c|jim.c]", "lib/src/jim.c", "jim.h", "jim.c/jim.h", "JIM.C,", "(jim)"])
def test_a_word_that_holds_a_file_in_whatever_form_is_a_leak(word):
    assert evaluate.without_leaks(f"mend the parser in {word} at last", ["src/jim.c"]) == ("mend the parser in at last", 1)


def test_the_past_is_asked_for_the_kinds_that_may_answer(indexed):
    with closing(open_readonly(indexed)) as db:
        found = {kind: {path for task in evaluate.from_history(db, [kind])[0] for path in task.answers} for kind in ("doc", "code")}
        for kind, paths in found.items():
            assert all(db.execute("SELECT 1 FROM fx_vec_chunk WHERE path=? AND kind=?", (path, kind)).fetchone() for path in paths)
    assert any(found.values())


def test_a_type_is_nothing_that_a_terminal_obeys():
    assert "\x1b" not in "".join(evaluate.table({"hybrid": {"\x1b[31mred": dict.fromkeys(evaluate.COLUMNS, 0.0)}}))


def test_the_command_prints_a_table_or_json(indexed, tmp_path, vecsearch):
    path = write(tmp_path / "set.jsonl", {"q": "how is it installed?", "rel": {"README.md": 2}})
    done = vecsearch("eval", "-R", indexed, "--set", path, "--provider", "hash", "--json")
    assert set(json.loads(done.stdout)) >= {"hybrid", "semantic", "keyword"}
    assert vecsearch("eval", "-R", indexed, "--from-history").stdout.startswith("| search | group |")


def test_the_command_wants_one_set(indexed, vecsearch):
    done = vecsearch("eval", "-R", indexed, check=False)
    assert done.returncode == 2 and "--from-history" in done.stderr


@pytest.mark.parametrize("content", [
    b"\xff\xfe", b'{"q": "x", "rel": {"a": 1e400}}', b'{"q": "x", "rel": {"a": 2000}}', b"[" * 100_000, b'{"q": "x", "rel": {"a": 2}, "type": "\\ud800"}',
    b'{"q": "x", "rel": {"a": 2.7}}', b'{"q": "x", "rel": {"a": -1}}', b'{"q": "x", "rel": {"a": true}}', b'{"q": 3, "rel": {}}', b'{"q": "x", "rel": {}, "type": 3}',
], ids=["no text", "infinite", "large", "deep", "half a character", "fraction", "negative", "true", "number asked", "number as type"])
def test_a_set_that_is_none_is_one_line(vecsearch, demo_indexed, tmp_path, content):
    (tmp_path / "set.jsonl").write_bytes(content)
    done = vecsearch("eval", "-R", demo_indexed, "--set", tmp_path / "set.jsonl")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "set.jsonl" in done.stderr


def test_a_set_as_windows_writes_it_is_read(vecsearch, demo_indexed, tmp_path):
    lines = ['{"q": "restore\u2028one file", "rel": {"docs/restore.md": 2, "x": 0}, "type": "a|b"}', '{"q": "sourdough", "rel": {}, "type": null}']
    (tmp_path / "set.jsonl").write_text("\r\n".join(lines), "utf-8-sig", newline="")
    done = vecsearch("eval", "-R", demo_indexed, "--set", tmp_path / "set.jsonl", check=True)
    assert "| hybrid | a\\|b | 1 | 1.000 |" in done.stdout and "| hybrid | off topic | 1 |" in done.stdout


def test_an_index_of_another_model_is_said_by_each_command(vecsearch, indexed):
    with closing(sqlite3.connect(indexed)) as db, db:
        db.execute("UPDATE fx_vec_state SET model='builtin:mosaic@3'")
    shown = json.loads(vecsearch("status", "-R", indexed, "--json", check=True).stdout)
    assert shown["state"] == "model_mismatch" and "vecsearch rebuild" in shown["message"]
    assert "hybrid and semantic answer by keywords only" in vecsearch("eval", "-R", indexed, "--from-history").stderr
    found = json.loads(vecsearch("search", "-R", indexed, "--mode", "semantic", "--json", "restore", check=True).stdout)
    assert found["state"] == "model_mismatch" and found["hits"]
