"""What a searcher may rely on, on a real repository with the real model."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vecsearch.embed.builtin import Builtin
from vecsearch.errors import EmbedError
from vecsearch.fossil.repository import open_readonly
from vecsearch.index import index
from vecsearch.search import floor
from vecsearch.search.query import parse
from vecsearch.search.rank import RECIPE
from vecsearch.search.run import search
from vecsearch.store import connection
from vecsearch.types import KINDS

FILES = {
    "docs/load.md": "# Load management\n\nThe server refuses expensive pages while the machine is busy.\nThe load average is compared with a threshold.\n",
    "docs/settings.md": "# Settings\n\n## max-loadavg\n\nSet `max-loadavg` to 4.0.\n\n## other\n\nNothing else matters here.\n",
    "docs/backup.md": "# Backups\n\nMake a copy of the repository every night. Stop the server, copy the snapshot back.\n\n" + "".join(
        f"## {name} of snapshots\n\n" + "A snapshot of the repository is kept apart from it and checked. " * 20 + "\n\n"
        for name in ("Rotation", "Encryption", "Removal", "Transport")),
    "docs/cpp.md": "# Languages\n\nThe parser is written in C++ for speed.\n",
    "docs/c.md": "# History of C\n\nThe language C is older, and C compilers are everywhere. C is small.\n",
    "src/render.js": "// draws\nexport function componentEmits(name) {\n  return listeners[name];\n}\n",
    "src/use.js": "import { componentEmits } from './render.js';\nfor (const name of names) { log(componentEmits(name)); log(componentEmits(name)); }\n",
    "src/retry.py": "def retry_with_backoff(call):\n    '''Waits longer after each failure.'''\n    return call()\n",
    "docs/scrub.md": "# Scrub of a tool\n\nA tool may scrub. A scrub with a tool, and once more a scrub by a tool.\n",
    "docs/share.md": "# Before you give a copy away\n\nSay `tool scrub`, which takes the passwords out.\n",
    "docs/editors.md": "# Editors\n\nThere is a plugin for each of the editors, vim and emacs, and for other such programs: install the plugin first.\n",
    "docs/notes.md": "# Notes\n\nSome IDEs leave files behind, which should be ignored.\n",
    "lib/NOTICE.md": "# Terms\n\nThe same text stands twice, see docs/c.md of the parser.\n",
    "vendor/LICENSE.md": "# Terms\n\nThe same text stands twice, see docs/c.md of the parser.\n",
    "tests/test_retry.py": "def test_retry_with_backoff():\n    assert retry_with_backoff(lambda: 1) == 1\n",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("rank")
    path, work = folder / "r.fossil", folder / "work"
    for name, text in FILES.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, "utf-8")
    for arguments in (["init", str(path)], ["open", "--force", "--keep", str(path)], ["add", "."],
                      ["commit", "--no-warnings", "-m", "all of it"]):
        subprocess.run(["fossil", *arguments], cwd=work, check=True, capture_output=True, env={"HOME": str(folder), "USER": "ann", "PATH": "/usr/bin:/bin"})
    index(path, lambda settings: Builtin())
    return path


@pytest.fixture
def ask(repository):
    """ask("words", k=3) -> the result."""
    db = open_readonly(repository)
    model = Builtin()

    def run(text: str, kinds=KINDS, recipe=RECIPE, explain=False, embedder=lambda: model, **options):
        return search(db, embedder, parse(text, explain=explain, **options), kinds, recipe=recipe)

    yield run
    db.close()


def paths(result) -> list[str]:
    return [hit.path for hit in result.hits]


def test_the_literal_identifier_stands_above_what_is_merely_similar(ask):
    found = ask("max-loadavg").hits
    holds = ["max-loadavg" in hit.text for hit in found]
    assert found[0].path == "docs/settings.md" and holds == sorted(holds, reverse=True)


def test_an_identifier_is_found_by_its_parts_and_its_definition_is_first(ask):
    assert paths(ask("component emit"))[0].startswith("src/")
    assert paths(ask("componentEmits"))[:2] == ["src/render.js", "src/use.js"]
    assert paths(ask("retry_with_backoff"))[0] == "src/retry.py"


def test_a_quoted_phrase_stands_first(ask):
    assert paths(ask('"copy the snapshot back" repository'))[0] == "docs/backup.md"


def test_the_plural_of_an_acronym_is_no_identifier(ask):
    assert paths(ask("which editors and IDEs have a plugin"))[0] == "docs/editors.md"


def test_two_words_side_by_side_stand_above_both_apart(ask):
    assert paths(ask("tool scrub"))[0] == "docs/share.md"


def test_letters_that_the_tokenizer_drops_are_looked_for(ask):
    assert paths(ask("C++"))[0] == "docs/cpp.md"


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_the_ranks_that_are_shown_make_the_fused_score(ask, mode):
    """Reciprocal rank fusion by hand: weight / (20 + rank), summed over the arms (docs/ranking.md)."""
    weights = {"keyword": 0.75, "semantic": 2.0, "forms": 0.5, "names": 0.25, "document": 0.5, "whole": 1.0}
    found = ask("how is the load of the server compared with a threshold", k=20, explain=True, mode=mode).hits
    assert found
    for hit in found:
        assert hit.explain["fused"] == pytest.approx(sum(weights[arm] / (20 + place) for arm, place in hit.arms.items()), abs=1e-4)


def test_what_is_excluded_is_in_no_arm(ask):
    assert "docs/backup.md" in paths(ask("snapshot repository"))
    assert "docs/backup.md" not in paths(ask("copy every night -snapshot -snapshots"))


def test_one_artifact_has_two_hits_and_says_how_many_are_folded(ask):
    found = [hit for hit in ask("snapshots of the repository", k=20).hits if hit.path == "docs/backup.md"]
    assert len(found) == 2 and found[0].folded >= 1


def test_pages_continue_each_other(ask):
    whole = ask("the server and the repository", k=6)
    assert len(whole.hits) >= 4
    first, second = ask("the server and the repository", k=2), ask("the server and the repository", k=2, offset=2)
    assert [(h.path, h.seq) for h in first.hits + second.hits] == [(h.path, h.seq) for h in whole.hits[:4]]
    assert first.next == 2 and [h.rank for h in second.hits] == [3, 4]


def test_what_belongs_elsewhere_is_answered_with_nothing(ask):
    result = ask("sourdough bread without a dutch oven")
    assert (result.hits, result.total, result.state, result.next) == ([], 0, "ok", None)


def test_a_slip_is_corrected_from_what_may_be_read(ask):
    assert ask("snapshto").suggestions == ["snapshot"]
    assert ask("snapshto", kinds=["code"]).suggestions == []


def test_only_permitted_kinds_are_ranked(ask):
    assert {hit.kind for hit in ask("retry", kinds=["code"]).hits} == {"code"}
    assert ask("retry", kinds=[]).hits == []
    assert ask("kind:doc retry", kinds=["code"]).hits == []


@pytest.mark.parametrize(("glob", "found"), [("docs", True), ("docs/load.md", True), ("doc", False), ("*.md", True), ("src", False)])
def test_a_path_filter_matches_whole_components(ask, glob, found):
    assert ("docs/load.md" in paths(ask(f"path:{glob} load average"))) is found


def test_files_in_hand_draw_their_neighbours_up(ask):
    alone = ask("language history of the parser", explain=True).hits
    near = ask("language history of the parser", explain=True, files=("docs/cpp.md",)).hits
    assert [hit.path for hit in alone[:2]] == ["docs/c.md", "docs/cpp.md"] and alone[0].explain["near"] == 0
    assert near[0].path == "docs/cpp.md" and near[0].explain["near"] > near[1].explain["near"] > 0


def test_tests_stand_below_what_they_test(ask):
    order = paths(ask("retry with backoff"))
    assert order.index("src/retry.py") < order.index("tests/test_retry.py")


def test_explain_names_each_step_and_is_empty_unless_asked(ask):
    hit = ask("load average threshold", explain=True).hits[0]
    assert {"fused", "coherence", "name", "mentioned", "near", "kind", "place", "authority", "exact"} == set(hit.explain)
    assert hit.arms["keyword"] == 1 and ask("load average").hits[0].explain == {}


def test_a_provider_that_is_down_leaves_the_words_and_says_so(ask):
    def down():
        raise EmbedError("ollama", "connection refused")

    result = ask("load average", embedder=down)
    assert result.state == "semantic_unavailable" and paths(result)[0] == "docs/load.md" and "keyword" in result.message


def test_without_full_text_the_meaning_answers_and_says_so(repository, tmp_path):
    copy = tmp_path / "r.fossil"
    copy.write_bytes(repository.read_bytes())
    writable = connection.open_writable(copy)
    writable.execute("DROP TABLE fx_vec_fts")
    writable.close()
    db = open_readonly(copy)
    result = search(db, Builtin, parse("load average of a busy server"), KINDS)
    db.close()
    assert result.state == "keyword_unavailable" and result.hits[0].path == "docs/load.md" and set(result.hits[0].arms) == {"semantic", "whole"}


def test_score_is_the_dot_product_of_query_and_chunk(ask, repository):
    hit = ask("load average").hits[0]
    db = open_readonly(repository)
    (blob,) = db.execute("SELECT e.v FROM fx_vec_embedding e JOIN fx_vec_chunk c ON c.id=e.chunk_id WHERE c.hash=? AND c.seq=?",
                         (hit.hash, hit.seq)).fetchone()
    db.close()
    assert hit.score == pytest.approx(float(np.frombuffer(blob, "<f4") @ Builtin().embed_query("load average")), abs=1e-5)


def test_each_step_can_be_left_out(ask):
    assert ask("retry with backoff", recipe=replace(RECIPE, semantic=0, whole=0)).hits
    tests_first = ask("test_retry_with_backoff test retry", recipe=replace(RECIPE, place=False)).hits
    assert tests_first[0].path == "tests/test_retry.py"


@pytest.mark.parametrize("question", ["the server and the repository", "retry with backoff", "max-loadavg", '"copy the snapshot back"', "C++"])
def test_a_count_of_a_kind_is_what_its_filter_gives(ask, question):
    everywhere = ask(question, k=100)
    assert everywhere.facets and sum(everywhere.facets.values()) == everywhere.total
    for kind in KINDS:
        narrowed = ask(f"kind:{kind} {question}", k=100)
        assert narrowed.total == len(narrowed.hits) == everywhere.facets.get(kind, 0) and narrowed.facets == everywhere.facets
        assert [h.path for h in narrowed.hits] == [h.path for h in everywhere.hits if h.kind == kind]


@pytest.mark.parametrize(("name", "path"), [("docs/c.md", "docs/c.md"), ("C.MD", "docs/c.md"), ("/src/use.js", "src/use.js"),
                                            ("render.js", "src/render.js"), ("test_retry.py", "tests/test_retry.py"),
                                            ("vendor/LICENSE.md", "lib/NOTICE.md"), ("notice.md", "lib/NOTICE.md")])
def test_what_is_called_as_the_query_says_stands_first(ask, name, path):
    assert paths(ask(name))[0] == path


def test_a_filter_that_lets_nothing_pass_is_said(ask):
    result = ask("load average project:nope path:docs")
    assert (result.hits, result.state, result.message) == ([], "ok", "nothing here passes project:nope path:docs")
    assert ask("load average path:docs").message == ""


def test_a_misspelt_filter_is_said_and_searched(ask):
    result = ask("kind:nosuch load average")
    assert "docs/load.md" in paths(result) and result.state == "ok" and result.message.startswith('"kind:nosuch" is no filter')


@pytest.mark.parametrize("question", ["how do I make a backup", "what does the verify command do", "my computer was stolen",
                                      "explain the storage format", "make a backup every night"])
def test_words_of_asking_do_not_silence_a_small_repository(demo_indexed, question):
    db = open_readonly(demo_indexed)
    assert search(db, Builtin, parse(question), KINDS).hits
    db.close()


@pytest.mark.parametrize("question", ["sourdough bread without a dutch oven", "who won the football world cup", "cheap flights to London",
                                      "make a chocolate cake"])
def test_a_small_repository_refuses_what_belongs_elsewhere(demo_indexed, question):
    db = open_readonly(demo_indexed)
    assert not search(db, Builtin, parse(question), KINDS).hits
    db.close()


def test_likeness_alone_is_not_enough_where_words_are_known():
    elsewhere = floor.Elsewhere(0.25, 0.05)
    assert not floor.is_relevant(0.16, 1.0, elsewhere) and floor.is_relevant(0.3, 0.45, elsewhere)
