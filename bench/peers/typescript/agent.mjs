// The agent on the official TypeScript SDK, as its documentation shows one.
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

let sessions = 0;
/** What cancels the turn of a session. */
const turns = new Map();

async function prompt({ params, client }) {
  const { sessionId } = params;
  const cancelled = new AbortController();
  turns.set(sessionId, cancelled);
  const turn = { client, sessionId, signal: cancelled.signal };
  for (const block of params.prompt) {
    if (block.type !== "text") continue;
    for (const line of block.text.split("\n")) await step(turn, line);
  }
  turns.delete(sessionId);
  return { stopReason: cancelled.signal.aborted ? "cancelled" : "end_turn" };
}

async function step(turn, line) {
  const [word, ...rest] = line.trim().split(/\s+/);
  if (word === "say") {
    await say(turn, rest.join(" "));
  } else if (word === "flood") {
    const text = "x".repeat(Number(rest[1]));
    for (let sent = 0; sent < Number(rest[0]) && !turn.signal.aborted; sent++) await say(turn, text);
  } else if (word === "steps") {
    for (let step = 1; step <= Number(rest[0]) && !turn.signal.aborted; step++) {
      await say(turn, `Step ${step}/${rest[0]}... `);
      await sleep(Number.parseInt(rest[1], 10));
    }
  } else if (word === "wait" && !turn.signal.aborted) {
    await new Promise((resolve) => turn.signal.addEventListener("abort", resolve, { once: true }));
  }
}

function say({ client, sessionId }, text) {
  return client.notify(methods.client.session.update, {
    sessionId,
    update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
  });
}

agent({ name: "endturn-bench-peer" })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: `session-${++sessions}` }))
  .onRequest(methods.agent.session.prompt, prompt)
  // After the prompt handler, so that a cancel that is read together with its prompt finds the turn.
  .onNotification(methods.agent.session.cancel, ({ params }) => turns.get(params.sessionId)?.abort())
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
