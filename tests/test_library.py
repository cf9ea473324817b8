"""Kind api, settings and media manifests, through the real commands."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import pytest


@pytest.fixture
def library(tmp_path) -> Path:
    root = tmp_path / "lib"
    (root / "src/pump").mkdir(parents=True)
    (root / "src/pump/__init__.py").write_text('"""Pumps and valves."""\n')
    (root / "src/pump/valve.py").write_text(
        'class Valve:\n    """Lets water through."""\n\n    def open_fully(self, seconds: int = 3) -> bool:\n'
        '        """Turn until it stops."""\n\n    def _secret(self):\n        """Hidden."""\n\n\ndef _private():\n    """Hidden too."""\n')
    (root / "src/pump/_internal.py").write_text("def not_public():\n    return 1\n")
    (root / "guide.md").write_text("# Priming a pump\n\nFill it with water before the first start.\n")
    (root / "broken.py").write_text("def (:\n")
    return root


def api_hits(vecsearch, path, *query):
    return json.loads(vecsearch("search", "-R", path, "--json", "--kind", "api", *query, check=True).stdout)["hits"]


def test_a_directory_gives_its_public_definitions_and_sections(indexed, vecsearch, library):
    done = vecsearch("import-api", "pump", library, "-R", indexed, "--url-template", "https://pump.example/{name}")
    # The module, Valve, Valve.open_fully and the section of the guide; nothing that starts with _.
    assert done.stdout == "pump: 4 definitions (4 embedded)\n"
    [best, *_] = [hit for hit in api_hits(vecsearch, indexed, "open_fully") if hit["path"] == "pump.valve.Valve.open_fully"]
    assert best["project"] == "pump" and best["url"] == "https://pump.example/pump.valve.Valve.open_fully"
    assert best["text"] == "def open_fully(self, seconds: int=3) -> bool\n\nTurn until it stops." and best["lines"] == [4, 5]
    assert any("Priming" in hit["title"] for hit in api_hits(vecsearch, indexed, "priming"))


def test_only_what_changed_is_embedded_again_and_index_runs_leave_it_alone(indexed, vecsearch, library):
    vecsearch("import-api", "pump", library, "-R", indexed, check=True)
    (library / "guide.md").write_text("# Priming a pump\n\nOil it first.\n")
    assert "4 definitions (1 embedded)" in vecsearch("import-api", "pump", library, "-R", indexed, check=True).stdout
    vecsearch("index", "-R", indexed, check=True)
    vecsearch("rebuild", "-R", indexed, check=True)
    assert api_hits(vecsearch, indexed, "oil") and "semantic" in api_hits(vecsearch, indexed, "oil")[0]["arms"]
    assert vecsearch("import-api", "pump", "--remove", "-R", indexed).stdout == "removed 4 definitions of pump\n"
    assert api_hits(vecsearch, indexed, "oil") == []


def test_fossils_own_help(indexed, vecsearch, fossil):
    vecsearch("import-api", "fossil", "-R", indexed, check=True)
    hits = api_hits(vecsearch, indexed, "max-loadavg")
    [setting] = [hit for hit in hits if hit["path"] == "max-loadavg"]
    assert setting["text"] == fossil("help", "max-loadavg").strip() and setting["url"] == "/help/max-loadavg"


def test_an_installed_distribution(indexed, vecsearch):
    vecsearch("import-api", "click", "-R", indexed, check=True)
    assert any(hit["path"] == "click.core.Command.get_help" for hit in api_hits(vecsearch, indexed, "get_help"))


@pytest.mark.parametrize(("args", "says"), [
    (("nothing-like-this",), "neither a directory nor an installed Python distribution"),
    (("x", "{library}", "--url-template", "javascript:alert(1)"), "must start with"),
    (("absent", "--remove"), "there is no library absent"),
])
def test_what_cannot_be_imported_is_named(indexed, vecsearch, library, args, says):
    done = vecsearch("import-api", *[str(library) if a == "{library}" else a for a in args], "-R", indexed)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1


def test_settings_are_shown_set_refused_and_unset(demo, vecsearch):
    assert "max-file-kb = 1024" in vecsearch("config", "-R", demo, check=True).stdout
    vecsearch("config", "-R", demo, "ignore-glob", "docs/*, *.wiki", check=True)
    assert vecsearch("config", "-R", demo, "ignore-glob").stdout == "docs/*, *.wiki\n"
    vecsearch("index", "-R", demo, check=True)
    hits = json.loads(vecsearch("search", "-R", demo, "--json", "restore", "-k", "100", check=True).stdout)["hits"]
    assert hits and not any((hit["path"] or "").startswith("docs/") for hit in hits)
    vecsearch("config", "-R", demo, "ignore-glob", "--unset", check=True)
    assert "indexed 4 artifacts" in vecsearch("index", "-R", demo, check=True).stdout
    for args, says in ((("provder", "x"), 'did you mean "provider"?'), (("provider", "x"), "provider must be one of"),
                       (("max-file-kb", "many"), "must be a whole number"), (("max-file-kb", "1"), "must be 16 to 65536"), (("zzz",), "vecsearch config")):
        done = vecsearch("config", "-R", demo, *args)
        assert done.returncode == 2 and says in done.stderr


def test_media_verify(vecsearch, tmp_path):
    asset, manifest = tmp_path / "talk.mp4", tmp_path / "talk.json"
    asset.write_bytes(b"moving pictures")
    facts = {"uri": "https://media.example/talk.mp4", "sha3": hashlib.sha3_256(b"moving pictures").hexdigest(), "mime": "video/mp4",
             "bytes": 15, "transcript": "talk.txt"}
    manifest.write_text(json.dumps(facts))
    assert vecsearch("media", "verify", asset, manifest, check=True).stdout.startswith(f"{asset} is https://media.example/talk.mp4: 15 bytes")
    for change, says in (({"bytes": 16}, "has 15 bytes, the manifest says 16"), ({"sha3": "0" * 64}, "has the SHA3-256"), ({"mime": 3}, '"mime" is no string')):
        manifest.write_text(json.dumps(facts | change))
        done = vecsearch("media", "verify", asset, manifest)
        assert done.returncode == 1 and says in done.stderr


def test_a_library_takes_no_name_that_is_another_ones(indexed, vecsearch, library):
    for name in ("", "bad name/<", "..", "x" * 300):
        done = vecsearch("import-api", name, library, "-R", indexed)
        assert done.returncode == 2 and "a library's name has" in done.stderr


def test_a_setting_of_a_newer_version_stops_nothing_and_can_be_removed(indexed, vecsearch):
    db = sqlite3.connect(indexed)
    db.execute("INSERT INTO fx_vec_config VALUES('newer-setting', '1')")
    db.commit()
    db.close()
    assert vecsearch("search", "-R", indexed, "restore").returncode == 0
    assert vecsearch("config", "-R", indexed, "newer-setting", "--unset").returncode == 0
    assert vecsearch("config", "-R", indexed, "newer-setting").returncode == 2
