"""Whether a long-lived MCP server leaks: `python -m benchmarks.mcp_calls REPOSITORY [--calls 1000]`.

Calls all three tools in turn over stdio and compares the server's resident memory and open descriptors after
a tenth of the calls with those at the end. Linux only: it looks into /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

#: A server remembers the words that it met, up to a bound; a leak is what grows when it meets them again.
QUERIES = tuple(f"{question} {n}" for n in range(2) for question in (
    "restore one file", "disk full", "how is it configured", "error in the log", "write a block"))
#: Calls in which each query came once, as every third one.
FIRST_ROUND = 3 * len(QUERIES)


def state(pid: int) -> tuple[int, int]:
    """(resident kilobytes, open descriptors) of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    kilobytes = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
    return kilobytes, len(os.listdir(f"/proc/{pid}/fd"))


def child() -> int:
    """The server that was started from here."""
    return int(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()[-1])


async def run(repository: Path, calls: int) -> dict:
    server = StdioServerParameters(command=str(Path(sys.executable).with_name("vecsearch")), args=["mcp", "-R", str(repository)])
    async with Client(stdio_client(server)) as client:
        before, began, hit = (0, 0), time.perf_counter(), None
        for n in range(calls):
            if n % 3 == 0 or hit is None:
                reply = await client.call_tool("semantic_search", {"query": QUERIES[n // 3 % len(QUERIES)]})
                hit = next(iter(reply.structured_content["hits"]), hit)
            else:
                await client.call_tool("read_hit" if n % 3 == 1 else "similar", {"hash": hit["hash"], "seq": hit["seq"]})
            if n == max(calls // 10, FIRST_ROUND):
                before = state(child())
        after = state(child())
    return {"calls": calls, "milliseconds_per_call": round((time.perf_counter() - began) / calls * 1000, 1), "kilobytes": after[0],
            "kilobytes_grown": after[0] - before[0], "descriptors": after[1], "descriptors_grown": after[1] - before[1]}


def main() -> None:
    """Print the facts as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--calls", type=int, default=1000)
    options = parser.parse_args()
    print(json.dumps(anyio.run(run, options.repository, options.calls)))


if __name__ == "__main__":
    main()
