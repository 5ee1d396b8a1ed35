"""An MCP server (Model Context Protocol) that gives an agent memories without copies.

    pip install mcp neardup
    python mcp_memories.py memories.jsonl

speaks the protocol on its standard streams. A client starts it by itself; for one that reads a file of
servers:

    {"mcpServers": {"memories": {"command": "python", "args": ["mcp_memories.py", "memories.jsonl"]}}}

The tools compare a text with what is remembered already, and say which words differ, so that the model
need not guess whether "lives in York" is news.
"""

import sys

from memories import Memories

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:  # before version 2 of the package
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer(
    "memories",
    instructions=(
        "Before you rely on a fact about the user, recall it. Remember every lasting fact as one sentence. "
        "If remember() says that a similar memory has changed, decide whether the new one replaces the old one, "
        "and if so forget the old one."
    ),
)
memories = Memories(sys.argv[1] if len(sys.argv) > 1 else "memories.jsonl")


def told(found):
    """The lines that tell a model of a memory that was found."""
    lines = []
    for memory in found:
        differs = memory["differs"]
        says = {
            "known": "says the same",
            "changed": f"differs only in {differs['in']}",
            "similar": "is similar",
        }[memory["verdict"]]
        if differs["this"] or differs["other"]:
            says += f": {' '.join(differs['other']) or 'nothing'} there, {' '.join(differs['this']) or 'nothing'} here"
        lines.append(f"memory {memory['id']} ({memory['text']}) {says}")
    return "\n".join(lines)


@server.tool()
def remember(text: str) -> str:
    """Remember a fact, one sentence, unless it is remembered already. Says how similar memories differ."""
    count = len(memories.texts)
    found = memories.remember(text)
    if len(memories.texts) == count:
        return "Known already: " + told([memory for memory in found if memory["verdict"] == "known"][:1])
    kept = f"Remembered as memory {max(memories.texts)}."
    return f"{kept} Look at these:\n{told(found)}" if found else kept


@server.tool()
def recall(text: str) -> str:
    """Find memories that say nearly the same as a sentence, the nearest first, and the words that differ."""
    return told(memories.recall(text)) or "There is none like it."


@server.tool()
def forget(id: int) -> str:
    """Forget a memory by its number, when another has replaced it."""
    if id not in memories.texts:
        return f"There is no memory {id}."
    memories.forget(id)
    return f"Memory {id} is forgotten."


@server.resource("memories://all")
def all_memories() -> str:
    """Every memory, a line each."""
    return "\n".join(f"{id}\t{text}" for id, text in memories.texts.items())


if __name__ == "__main__":
    server.run("stdio")
