#!/usr/bin/env node
// An agent without a model, on the official TypeScript SDK.
// Its prompt text decides what a turn does:
//   "3 steps"      streams that many steps (50 where the text names no number), one every 100 ms;
//   "permission"   first asks the client for a permission and says what came back;
//   "ignore"       takes notice of a cancel only a second after it came.
import { randomUUID } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { agent, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk";

const STEP_MS = 100;
const IGNORE_MS = 1000;

/** Sessions by id; `turn` is there while a prompt is being worked on. */
const sessions = new Map();

async function prompt({ params, client, signal }) {
  const { sessionId } = params;
  const session = sessions.get(sessionId);
  if (!session) throw RequestError.resourceNotFound(sessionId);
  if (session.turn) throw RequestError.invalidRequest({ sessionId }, "a prompt is already running");

  const text = params.prompt.map((block) => block.text ?? "").join("\n");
  const total = Number(/(\d+) steps/.exec(text)?.[1] ?? 50);
  const cancelled = new AbortController();
  // The SDK's signal covers `$/cancel_request` and a lost connection, not `session/cancel`.
  const stop = AbortSignal.any([signal, cancelled.signal]);
  const say = (chunk) =>
    client.notify(methods.client.session.update, {
      sessionId,
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: chunk } },
    });

  session.turn = { cancelled, ignoreMs: text.includes("ignore") ? IGNORE_MS : 0 };
  try {
    if (text.includes("permission")) await say(`Permission: ${await ask(client, sessionId)}. `);
    for (let step = 1; step <= total; step++) {
      stop.throwIfAborted();
      await say(`Step ${step}/${total}... `);
      await sleep(STEP_MS, undefined, { signal: stop });
    }
    return { stopReason: "end_turn" };
  } catch (error) {
    if (!cancelled.signal.aborted) throw error;
    await say("[Stopped early]");
    return { stopReason: "cancelled" };
  } finally {
    session.turn = undefined;
  }
}

/** The id of the option the client chose, or `cancelled`. */
async function ask(client, sessionId) {
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall: { toolCallId: randomUUID(), title: "Change a file", kind: "edit", status: "pending" },
    options: [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "reject", name: "Reject", kind: "reject_once" },
    ],
  });
  return outcome.outcome === "selected" ? outcome.optionId : outcome.outcome;
}

async function cancel({ params }) {
  const turn = sessions.get(params.sessionId)?.turn;
  if (!turn) return;
  if (turn.ignoreMs) await sleep(turn.ignoreMs);
  turn.cancelled.abort();
}

agent({ name: "endturn-peer" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "endturn-peer", version: "0.0.0" },
    agentCapabilities: {},
  }))
  .onRequest(methods.agent.session.new, () => {
    const sessionId = randomUUID();
    sessions.set(sessionId, {});
    return { sessionId };
  })
  .onRequest(methods.agent.session.prompt, prompt)
  // After the prompt handler: the SDK walks its handlers in this order, one await each,
  // so that a cancel read together with its prompt would otherwise run first and be lost.
  .onNotification(methods.agent.session.cancel, cancel)
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
