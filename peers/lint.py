"""Runs acplint on an agent: lint.py CATEGORIES -- COMMAND ARGS, the report as JSON on standard output.

acplint 0.1.0 speaks a dialect that no agent of the protocol understands, so what it sends and reads is translated.
With `--as-it-is` before the categories nothing is.
Each translation stands beside the page of the specification that says how it should be.
"""

import sys

from acplint import runner
from acplint.transport import AcpTransport

# The agent without a model wants scripts for prompts.
SCRIPTS = {
    "Say 'hello' and nothing else.": "think Hm.\nsay hello\nusage 10 200",
    "Read the file /tmp/acp_test.txt and tell me its contents": "tool Read it 1ms",
    "Create a simple plan: 1) read a file 2) summarize it": "plan read a file; summarize it",
    "Write me a very long essay about everything": "wait",
    "Do something complex": "wait",
}


def to_protocol(method, params):
    params = dict(params or {})
    if method == "initialize":
        # A number, not a text: https://agentclientprotocol.com/protocol/v1/initialization#protocol-version
        params["protocolVersion"] = int(params["protocolVersion"])
    elif method == "session/prompt":
        # `prompt`, not `content`: https://agentclientprotocol.com/protocol/v1/prompt-turn
        text = params.pop("content")[0]["text"]
        params["prompt"] = [{"type": "text", "text": SCRIPTS.get(text, "say yes")}]
    elif method == "session/set_config_option":
        # `configId`, not `optionId`: https://agentclientprotocol.com/protocol/v1/session-config-options
        params["configId"] = params.pop("optionId")
    return params


def to_acplint(message):
    result = message.get("result")
    if isinstance(result, dict):
        if "protocolVersion" in result:
            result["protocolVersion"] = str(result["protocolVersion"])
        for option in result.get("configOptions", []):
            # `name`, not `label`: https://agentclientprotocol.com/protocol/v1/session-config-options
            option["label"] = option["name"]
    update = message.get("params", {}).get("update")
    if update:
        # snake_case, not camelCase: https://agentclientprotocol.com/protocol/v1/prompt-turn
        first, *rest = update["sessionUpdate"].split("_")
        update["sessionUpdate"] = first + "".join(word.capitalize() for word in rest)
    return message


class Transport(AcpTransport):
    async def send_request(self, method, params=None, request_id=None):
        return await super().send_request(method, to_protocol(method, params), request_id)

    async def _dispatch(self, message):
        await super()._dispatch(to_acplint(message))


def main():
    arguments = sys.argv[1:]
    if arguments[0] == "--as-it-is":
        arguments.pop(0)
    else:
        runner.AcpTransport = Transport
    split = arguments.index("--")
    report = runner.ConformanceRunner(
        agent_command=arguments[split + 1 :], categories=arguments[:split]
    ).run_all()
    print(report.to_json())


main()
