"""The agent on the official Python SDK, as its documentation shows one."""

import asyncio

from acp import PROTOCOL_VERSION, InitializeResponse, NewSessionResponse, PromptResponse, run_agent
from acp.helpers import update_agent_message_text


class BenchAgent:
    def __init__(self):
        self.sessions = 0
        # What cancels the turn of a session.
        self.turns = {}

    def on_connect(self, client):
        self.client = client

    async def initialize(self, protocol_version, **_):
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

    async def new_session(self, cwd, **_):
        self.sessions += 1
        return NewSessionResponse(session_id=f"session-{self.sessions}")

    async def prompt(self, session_id, prompt, **_):
        cancelled = self.turns[session_id] = asyncio.Event()
        for block in prompt:
            if block.type == "text":
                for line in block.text.splitlines():
                    await self.step(session_id, line, cancelled)
        self.turns.pop(session_id, None)
        return PromptResponse(stop_reason="cancelled" if cancelled.is_set() else "end_turn")

    async def cancel(self, session_id, **_):
        if turn := self.turns.get(session_id):
            turn.set()

    async def step(self, session_id, line, cancelled):
        word, *rest = line.split() or [""]
        if word == "say":
            await self.say(session_id, " ".join(rest))
        elif word == "flood":
            text = "x" * int(rest[1])
            for _ in range(int(rest[0])):
                if cancelled.is_set():
                    break
                await self.say(session_id, text)
        elif word == "steps":
            for step in range(1, int(rest[0]) + 1):
                if cancelled.is_set():
                    break
                await self.say(session_id, f"Step {step}/{rest[0]}... ")
                await asyncio.sleep(int(rest[1].removesuffix("ms")) / 1000)
        elif word == "wait":
            await cancelled.wait()

    async def say(self, session_id, text):
        await self.client.session_update(session_id, update_agent_message_text(text))


asyncio.run(run_agent(BenchAgent()))
