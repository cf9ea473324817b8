"""What must not be shown, what is missing or damaged, and the mark of change."""

from __future__ import annotations

import sqlite3

import pytest
from looking import SETTINGS, forge, look  # noqa: F401

from vecsearch.errors import ArtifactError
from vecsearch.fossil.visible import visible
from vecsearch.fossil.repository import change_hint, change_mark, open_readonly, tips


def test_private_content_is_no_source(forge, look):  # noqa: F811
    forge.commit({"public.md": "public\n"})
    public = forge.commit({"shared.md": "also public later\n"}, private=True, branch="secret", message="secret plan")
    forge.commit({"secret-plan.md": "hush\n"}, private=True, message="more secrets")
    seen = look(forge, branch="secret")
    assert "secret-plan.md" not in {s.path for s in seen.sources}
    assert all("secret" not in seen.document(s).title for s in seen.of("checkin"))
    assert visible(seen.db, [("doc", forge.hash_of("hush\n")), ("checkin", public)]) == set()
    forge.update("trunk")
    forge.commit({"shared.md": "also public later\n"})
    assert look(forge).file("shared.md").text == "also public later\n"
    assert forge.one("SELECT count(*) FROM private") > 0


def test_shunned_hidden_and_phantom_artifacts_are_no_sources(forge, look):  # noqa: F811
    forge.commit({"bad.md": "to be shunned\n", "gone.md": "will be a phantom\n", "good.md": "good\n"})
    hidden = forge.commit({"good.md": "better\n"}, message="a hidden check-in")
    forge.shun(forge.hash_of("to be shunned\n"), rebuild=False)
    forge.sql("UPDATE blob SET size=-1, content=NULL WHERE uuid=?", forge.hash_of("will be a phantom\n"))
    before = look(forge)
    forge.tag("hidden", hidden)
    seen = look(forge)
    assert [s.path for s in seen.of("doc")] == ["good.md"]
    assert hidden in {s.hash for s in before.of("checkin")} and hidden not in {s.hash for s in seen.of("checkin")}
    keys = [("doc", forge.hash_of(t)) for t in ("to be shunned\n", "will be a phantom\n", "better\n")] + [("checkin", hidden), ("api", "any")]
    assert visible(seen.db, keys) == {keys[2], keys[4]}


def test_a_repository_that_lacks_everything(forge, look):  # noqa: F811
    """No check-in but fossil's own first one, no forum, no tickets: no error, and in the end no source."""
    forge.sql("DROP TABLE ticket")
    forge.sql("DROP TABLE ticketchng")
    assert [s.kind for s in look(forge).sources] == ["checkin"]
    forge.sql("DELETE FROM event")
    seen = look(forge)
    assert (seen.sources, tips(seen.db, SETTINGS)) == ([], [])
    assert visible(seen.db, [("ticket", "a" * 40), ("forum", "b" * 64)]) == set()


def test_a_damaged_file_is_named_and_the_others_are_read(forge, look):  # noqa: F811
    forge.commit({"a.md": "good\n", "bad": "#!/bin/sh\n", "c.md": "fine\n"})
    forge.sql("UPDATE blob SET content=x'00000001aa' WHERE uuid=?", forge.hash_of("#!/bin/sh\n"))
    seen = look(forge)
    assert [s.path for s in seen.sources if s.path] == ["a.md", "c.md", "bad"]
    with pytest.raises(ArtifactError, match=forge.hash_of("#!/bin/sh\n")):
        seen.file("bad")


@pytest.mark.parametrize("mark_of", [change_mark, change_hint])
def test_the_mark_changes_with_whatever_could_change_the_index(forge, mark_of):  # noqa: F811
    """And only then: reading twice gives the same."""
    def mark() -> str:
        db = open_readonly(forge.path)
        try:
            return mark_of(db)
        finally:
            db.close()

    hash_ = forge.commit({"a.md": "a\n"})
    post = forge.post("text", title="title")
    steps = [
        lambda: forge.commit({"a.md": "b\n"}),
        lambda: forge.wiki("P", "text"),
        lambda: forge.fossil("amend", hash_, "-m", "amended"),
        lambda: forge.tag("hidden", hash_),
        lambda: forge.hold_for_moderation(post),
        lambda: forge.approve(post),
        lambda: forge.shun(forge.hash_of("a\n"), rebuild=False),
        lambda: forge.setting("doc-branch", "manual"),
        lambda: forge.setting("main-branch", "manual"),
        lambda: forge.sql("INSERT INTO private VALUES(?)", forge.rid(hash_)),
        lambda: forge.sql("UPDATE private SET rid=rid+1"),
    ]
    last = mark()
    for number, step in enumerate(steps):
        assert mark() == last
        step()
        assert mark() != last, number
        last = mark()


def test_text_that_is_not_utf8_in_a_column_stops_nothing(forge, look):  # noqa: F811
    forge.commit({"a.md": "a\n"}, "comment")
    with sqlite3.connect(forge.path) as db:
        db.execute("UPDATE event SET comment=CAST(x'ff41' AS TEXT), user=CAST(x'fe' AS TEXT)")
    db.close()
    seen = look(forge)
    assert any("A" in passage for texts in seen.texts("checkin") for passage in texts)
