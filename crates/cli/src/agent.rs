//! `endturn agent`: the scripted agent on standard input and output.

use std::io::{self, IsTerminal, Write};

use endturn::transport;
use endturn_testkit::scripted;

use crate::{args::AgentArgs, exit::Code, signals::Signals, style};

pub(crate) fn serve(args: &AgentArgs) -> Code {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            style::complain(&format!("cannot start: {error}"), None);
            return Code::Failed;
        }
    };
    let code = runtime
        .block_on(serve_until_signal(args))
        .unwrap_or_else(|error| {
            style::complain(&error.to_string(), None);
            Code::Failed
        });
    // Standard input may be read by a thread that nothing can wake; waiting for it would be for ever.
    runtime.shutdown_background();
    code
}

async fn serve_until_signal(args: &AgentArgs) -> Result<Code, Box<dyn std::error::Error>> {
    let mut signals = Signals::catch()?;
    if io::stdin().is_terminal() {
        greet();
    }
    let agent = scripted::agent_with_commands()
        .cancel_grace_period(args.cancel_grace_period)
        .max_prompt_duration(args.max_prompt_duration)
        .build();
    let transport = transport::stdio()?;

    let (shut_down, shutdown) = tokio::sync::oneshot::channel();
    let serving = agent.serve_until(transport, async {
        // The sender is used or kept until the end.
        let _ = shutdown.await;
    });
    let second_signal = async {
        signals.next().await;
        let _ = shut_down.send(());
        signals.next().await
    };
    tokio::select! {
        served = serving => served.map(|()| Code::Ended).map_err(Into::into),
        signal = second_signal => Ok(Code::Signal(signal)),
    }
}

/// Somebody has started it by hand, and would wait for a prompt.
fn greet() {
    let note = "This is an ACP agent: it expects JSON-RPC messages, one a line. \
        To talk to it, use `endturn run`. Ctrl-D ends it.\n";
    let _ = io::stderr().write_all(note.as_bytes());
}
