"""The programs of examples/ in Python, run as a user would."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="examples/ is not there")


@pytest.fixture
def memories(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import memories

    return memories


def test_memories_prints_what_it_says():
    program = EXAMPLES / "memories.py"
    done = subprocess.run([sys.executable, program], check=True, capture_output=True, text=True)
    said = [
        line.removeprefix("# ") for line in program.read_text().splitlines() if line.startswith("# ") and "->" in line
    ]
    assert [line.rstrip() for line in done.stdout.splitlines()] == said and len(said) == 3


@pytest.mark.parametrize(("name", "most"), [("memories.py", 60), ("mcp_memories.py", 100)])
def test_a_program_to_start_from_is_short(name, most):
    assert len((EXAMPLES / name).read_text().splitlines()) <= most


def test_memories_last_and_are_forgotten(memories, tmp_path):
    path = str(tmp_path / "memories.jsonl")
    kept = memories.Memories(path)
    assert kept.remember("Sam lives in Hull with two old cats") == []
    assert kept.remember("SAM lives in Hull with two old cats.")[0]["verdict"] == "known"
    again = memories.Memories(path)
    assert list(again.texts.values()) == ["Sam lives in Hull with two old cats"]
    found = again.remember("Sam lives in York with two old cats")[0]
    assert (found["verdict"], found["id"], found["differs"]["other"]) == ("changed", 1, ["Hull"])
    again.forget(1)
    last = memories.Memories(path)
    assert last.texts == {2: "Sam lives in York with two old cats"}
    assert [memory["id"] for memory in last.recall("Sam lives in York with two old cats")] == [2]


def test_the_session_of_the_page(run_page):
    run_page("howto/agent-memories.md")


# ---- The server of the Model Context Protocol ----

SAID = [
    ("remember", {"text": "Sam lives in Hull with two old cats"}, "Remembered as memory 1."),
    ("remember", {"text": "sam lives in Hull, with two old cats"}, "Known already: memory 1 "),
    (
        "remember",
        {"text": "Sam lives in York with two old cats"},
        "Remembered as memory 2. Look at these:\nmemory 1 (Sam lives in Hull with two old cats) differs only in "
        "names: Hull there, York here",
    ),
    ("forget", {"id": 1}, "Memory 1 is forgotten."),
    ("forget", {"id": 1}, "There is no memory 1."),
    ("recall", {"text": "Sam lives in York with 2 old cats"}, "memory 2 (Sam lives in York with two old cats) "),
    ("recall", {"text": "Nothing of the kind"}, "There is none like it."),
]


def test_the_mcp_server_speaks_to_the_client_of_its_package(tmp_path):
    pytest.importorskip("mcp")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    path = tmp_path / "memories.jsonl"
    program = StdioServerParameters(
        command=sys.executable, args=[str(EXAMPLES / "mcp_memories.py"), str(path)], env=dict(os.environ)
    )

    def failed(answer) -> bool:
        return answer.model_dump(by_alias=True)["isError"]  # whatever version of the package calls it

    async def talk():
        async with stdio_client(program) as streams, ClientSession(*streams) as session:
            await session.initialize()
            tools = await session.list_tools()
            assert sorted(tool.name for tool in tools.tools) == ["forget", "recall", "remember"]
            assert all(tool.description for tool in tools.tools)
            for tool, arguments, begins in SAID:
                answer = await session.call_tool(tool, arguments)
                assert not failed(answer) and answer.content[0].text.startswith(begins), answer
            wrong = await session.call_tool("forget", {"id": "no number"})
            assert failed(wrong)
            found = await session.read_resource("memories://all")
            assert found.contents[0].text == "2\tSam lives in York with two old cats"

    asyncio.run(asyncio.wait_for(talk(), 120))
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == [2]
