"""An index run never makes another program's transaction fail."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing

from vecsearch.store import connection


def test_who_reads_first_and_writes_later_as_fossil_does_is_waited_for(demo):
    """With BEGIN IMMEDIATE the INSERT fails at once with "database is locked", whatever the timeout."""
    done = []

    def run() -> None:
        with closing(connection.open_writable(demo)) as db, connection.transaction(db):
            done.append("ours")

    with closing(sqlite3.connect(demo, isolation_level=None, timeout=5)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM blob").fetchone()
        thread = threading.Thread(target=run)
        thread.start()
        time.sleep(0.3)
        other.execute("INSERT INTO shun VALUES('00', 1, 'x')")
        done.append("theirs")
        other.execute("COMMIT")
        thread.join()
    assert done == ["theirs", "ours"]


def test_a_server_that_never_stops_reading_does_not_hold_a_run_up(demo, monkeypatch):
    monkeypatch.setattr(connection, "QUIET_SECONDS", 0.1)
    with closing(sqlite3.connect(demo, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM blob").fetchone()
        with closing(connection.open_writable(demo)) as db:
            connection._begin(db)
            assert db.in_transaction
            db.execute("ROLLBACK")
