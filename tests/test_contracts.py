"""Contracts: where they begin and end, what they say, how they relate; in text, in chunks and by command."""

from __future__ import annotations

import json
import sqlite3
import sys

import pytest

from vecsearch.chunk import contracts, split
from vecsearch.config import default_settings
from vecsearch.types import Document, Source

REPORT = """# Report

[DEF:Report:Root:Module]
@PURPOSE Explain the vectors.

@RELATION DEPENDS_ON -> [Store:Put:Function]

1. Summary

[DEF:Report:Step1:Block]
@PURPOSE First step.
One.

[DEF:Report:Step2:Block]
@POST Done.
Two.

[/DEF:Report:Root:Module]
Afterwards.
"""

CODE = """#include <x.h>

/*
 * [DEF:Store:Put:Function]
 * @PURPOSE Keeps a block.
 * @RELATION CALLS -> [Sys:Write]
 * @RELATION DESCRIBED_IN -> [Report:Step1]
 */
int put(void){
  return 1;
}
/* [/DEF:Store:Put:Function] */

int other(void){ return 2; }
"""


def cut(text: str, format: str, **settings) -> list:
    source = Source("doc", "0" * 40, "a", "")
    return split(Document(source, "a", format, text), default_settings() | settings)


def spans(text: str, **options) -> list[tuple[str, str]]:
    rows = text.split("\n")
    return [(span.id, "\n".join(rows[span.start : span.end]).strip()) for span in contracts.spans(rows, **options)]


def test_an_unclosed_contract_ends_where_the_next_begins_and_a_closed_one_holds_others():
    found = spans(REPORT)
    assert [id_ for id_, _ in found] == ["", "Report:Root", "Report:Step1", "Report:Step2", ""]
    assert found[1][1].endswith("1. Summary") and found[2][1].endswith("One.")
    assert found[3][1].endswith("[/DEF:Report:Root:Module]") and found[4][1] == "Afterwards."


def test_text_after_an_inner_contract_belongs_to_the_outer_one():
    found = spans("[DEF:A:M]\nx\n[DEF:B:F]\ny\n[/DEF:B:F]\nz\n[/DEF:A]\nw")
    assert [id_ for id_, _ in found] == ["A", "B", "A", ""]


@pytest.mark.parametrize("text", [
    "see `[DEF:id:type]` in the text", "[/DEF:A:M]", "[DEF:A]", "x [DEF:A:M] y", "[DEF: A:M]", "[DEF:A:M", "", "\n\n",
])
def test_what_is_no_contract(text):
    assert contracts.spans(text.split("\n")) == []


def test_an_example_in_a_fence_is_no_contract():
    text = "# How\n\n```\n[DEF:A:M]\n[/DEF:A:M]\n```\n"
    assert spans(text, fenced=True) == [] and spans(text)
    assert [chunk.title for chunk in cut(text, "markdown")] == ["How"]


def test_the_header_is_read_behind_comment_marks_and_ends_at_the_first_other_line():
    header = contracts.header("-- [DEF:Db:Open:Function]\n-- @PRE: file exists\n--\n-- @POST handle\nlocal x = '@NOT a tag'\n-- @LATE no")
    assert (header.id, header.type, header.tags) == ("Db:Open", "Function", (("PRE", "file exists"), ("POST", "handle")))
    assert contracts.header(CODE[CODE.index("/*") :]).relations() == [("CALLS", "Sys:Write"), ("DESCRIBED_IN", "Report:Step1")]
    assert contracts.header("/**\n * @PARAM x\n */") is None


def test_a_contract_is_a_chunk_with_its_comment_and_nothing_is_lost():
    chunks = cut(CODE, "c")
    put = next(chunk for chunk in chunks if chunk.title == "Store:Put")
    assert put.text.startswith("/*\n * [DEF:Store:Put") and put.text.endswith("[/DEF:Store:Put:Function] */") and put.lines == (3, 12)
    assert put.symbol == "put"
    assert "".join("".join(c.text for c in chunks).split()) == "".join(CODE.split())
    report = cut(REPORT, "markdown")
    assert [chunk.title for chunk in report][1:4] == ["Report > Report:Root", "Report > Report:Step1", "Report > Report:Step2"]
    assert "".join("".join(c.text for c in report).split()) == "".join(REPORT.split())


def test_a_long_contract_becomes_several_chunks_under_one_title():
    text = "[DEF:A:M]\n@PURPOSE long\n\n" + "\n\n".join(f"paragraph {n} " + "word " * 40 for n in range(40)) + "\n[/DEF:A:M]"
    chunks = cut(text, "plain")
    assert len(chunks) > 4 and {chunk.title for chunk in chunks} == {"A"} and max(len(c.text) for c in chunks) <= 2000


def test_hostile_marks_take_linear_time():
    for hostile in (lambda n: [f"[DEF:a{i}:b]" for i in range(n)] + [f"[/DEF:a{i}:b]" for i in range(n)], lambda n: ["[/DEF:a:b]"] * n + ["[DEF:a:b]"] * n,
                    lambda n: ["[DEF:a:b]"] * n + ["[/DEF:a]"] * n, lambda n: [f"[DEF:a{i}:b]" for i in range(n)] + ["[/DEF:a0:b]"] * n):
        assert calls_in(hostile(4000)) < 2.2 * calls_in(hostile(2000))


def calls_in(rows: list[str]) -> int:
    """How many calls it takes to find the contracts: what costs more than calls is a regular expression over one row."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        contracts.spans(rows)
    finally:
        sys.setprofile(None)
    return count


@pytest.fixture
def with_contracts(fossil, tmp_path, vecsearch):
    fossil("init", "r.fossil")
    (tmp_path / "co").mkdir()
    fossil("open", "--keep", tmp_path / "r.fossil", cwd=tmp_path / "co")
    (tmp_path / "co/report.md").write_text(REPORT)
    (tmp_path / "co/put.c").write_text(CODE)
    fossil("addremove", cwd=tmp_path / "co")
    fossil("commit", "--no-warnings", "-m", "contracts", cwd=tmp_path / "co")
    vecsearch("index", "-R", tmp_path / "r.fossil", check=True)
    return tmp_path / "r.fossil"


def test_contracts_by_command(with_contracts, vecsearch):
    listed = vecsearch("contracts", "list", "-R", with_contracts, check=True).stdout.splitlines()
    assert listed[0] == "Report:Root  (Module, report.md:3)  Explain the vectors." and len(listed) == 4
    assert len(vecsearch("contracts", "list", "--type", "Block", "-R", with_contracts).stdout.splitlines()) == 2
    shown = vecsearch("contracts", "show", "Store:Put:Function", "-R", with_contracts, check=True).stdout
    for line in ("  @PURPOSE Keeps a block.", "  CALLS -> Sys:Write  (no such contract)", "  DESCRIBED_IN -> Report:Step1",
                 "  Report:Root DEPENDS_ON -> this", "int put(void){"):
        assert line in shown.splitlines()
    edges = json.loads(vecsearch("contracts", "graph", "--format", "json", "-R", with_contracts).stdout)["edges"]
    assert [(e["source"], e["target"], e["resolved"]) for e in edges] == [
        ("Report:Root", "Store:Put", True), ("Store:Put", "Sys:Write", False), ("Store:Put", "Report:Step1", True)]
    assert '"Report:Root" -> "Store:Put"' in vecsearch("contracts", "graph", "--format", "dot", "-R", with_contracts).stdout
    (described,) = json.loads(vecsearch("contracts", "show", "--json", "Report:Step1", "-R", with_contracts, check=True).stdout)
    assert described["relations"] == [{"source": "Store:Put", "predicate": "DESCRIBED_IN", "target": "Report:Step1", "resolved": True}]
    missing = vecsearch("contracts", "show", "Nope", "-R", with_contracts)
    assert missing.returncode == 2 and missing.stderr == 'vecsearch: there is no contract "Nope"; see: vecsearch contracts list\n'


def test_contracts_leave_with_their_artifact(with_contracts, fossil, tmp_path, vecsearch):
    fossil("rm", "--hard", "report.md", cwd=tmp_path / "co")
    fossil("commit", "--no-warnings", "-m", "gone", cwd=tmp_path / "co")
    vecsearch("index", "-R", with_contracts, check=True)
    with sqlite3.connect(with_contracts) as db:
        assert db.execute("SELECT id FROM fx_vec_contract").fetchall() == [("Store:Put",)]
    db.close()


def test_the_text_of_a_contract_does_not_steer_the_terminal(with_contracts, fossil, tmp_path, vecsearch):
    (tmp_path / "co/evil.py").write_text("# [DEF:Evil:Module]\n# @PURPOSE: \x1b]0;owned\x07 \u202e sp\u00a0ace\n# @RELATION: USES -> [\x1b[31mx]\n")
    fossil("addremove", cwd=tmp_path / "co")
    fossil("commit", "--no-warnings", "-m", "evil", cwd=tmp_path / "co")
    vecsearch("index", "-R", with_contracts, check=True)
    for command in (["list"], ["show", "Evil"], ["graph"], ["graph", "--format", "dot"]):
        printed = vecsearch("contracts", *command, "-R", with_contracts, check=True).stdout
        assert "Evil" in printed and not {"\x1b", "\x07", "\u202e"} & set(printed)
    told = json.loads(vecsearch("contracts", "show", "--json", "Evil", "-R", with_contracts, check=True).stdout)
    assert dict(told[0]["tags"])["PURPOSE"] == "\x1b]0;owned\x07 \u202e sp\u00a0ace"
    assert "sp\u00a0ace" in vecsearch("contracts", "list", "-R", with_contracts).stdout
