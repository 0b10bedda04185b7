"""The official client of the Model Context Protocol asks the server for its tools and for a report."""
import asyncio
import sys

from mcp.client.stdio import stdio_client

from mcp import ClientSession, StdioServerParameters


async def main():
    server = StdioServerParameters(command="strata", args=["mcp", sys.argv[1]])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = await session.list_tools()
        print(len(tools.tools), "tools:", ", ".join(t.name for t in tools.tools))


asyncio.run(main())
