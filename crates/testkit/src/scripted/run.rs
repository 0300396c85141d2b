//! What a script does.

use std::{ops::ControlFlow, time::Duration};

use endturn::{
    HandlerError, HandlerResult, PromptContext,
    schema::v1::{
        Error, PermissionOption, PermissionOptionKind, PromptResponse, RequestPermissionOutcome,
        RequestPermissionRequest, SessionUpdate, StopReason, ToolCall, ToolCallId, ToolCallStatus,
        ToolCallUpdate, ToolCallUpdateFields,
    },
};
use tokio::time::{Instant, sleep};

use super::script::{Script, Step};

/// Runs a script to its end, and gives the answer to the prompt.
pub(super) async fn run(script: Script, cx: &PromptContext) -> HandlerResult<PromptResponse> {
    let mut response = PromptResponse::new(StopReason::EndTurn);
    for (number, step) in script.steps.into_iter().enumerate() {
        if let Step::Meta(meta) = step {
            response = response.meta(meta);
        } else if let ControlFlow::Break(reason) = take(step, number + 1, cx).await? {
            response.stop_reason = reason;
            break;
        }
    }
    Ok(response)
}

async fn take(
    step: Step,
    number: usize,
    cx: &PromptContext,
) -> HandlerResult<ControlFlow<StopReason>> {
    match step {
        Step::Steps { count, pause } => return steps(count, pause, cx).await,
        Step::Say(text) => cx.send_message(text).await?,
        Step::Think(text) => cx.send_thought(text).await?,
        Step::Sleep(duration) => {
            tokio::select! {
                () = sleep(duration) => {}
                () = cx.cancelled() => {}
            }
        }
        Step::Ignore(duration) => sleep(duration).await,
        Step::Wait => cx.cancelled().await,
        Step::Hang => std::future::pending().await,
        Step::Flood { count, bytes } => {
            let text = "x".repeat(bytes);
            for _ in 0..count {
                if cx.is_cancelled() {
                    return Ok(ControlFlow::Break(StopReason::Cancelled));
                }
                cx.send_message(text.as_str()).await?;
            }
        }
        Step::Ask(title) => ask(title, number, cx).await?,
        Step::Tool { title, duration } => tool(title, duration, number, cx).await?,
        Step::Late(text) => {
            tokio::spawn(late(text, cx.clone()));
        }
        Step::Fail(message) => return Err(HandlerError::internal(message)),
        Step::Error { code, message } => Err(Error::new(code, message))?,
        Step::Panic => panic!("the script wants it"),
        Step::End(reason) => return Ok(ControlFlow::Break(reason)),
        Step::Meta(_) => unreachable!("it is about the answer, not about the turn"),
    }
    Ok(ControlFlow::Continue(()))
}

async fn steps(
    count: u32,
    pause: Duration,
    cx: &PromptContext,
) -> HandlerResult<ControlFlow<StopReason>> {
    for step in 1..=count {
        if cx.is_cancelled() {
            cx.send_message(format!("[Cancelled at step {step}]"))
                .await?;
            return Ok(ControlFlow::Break(StopReason::Cancelled));
        }
        cx.send_message(format!("Step {step}/{count}... ")).await?;
        sleep(pause).await;
    }
    cx.send_message("All steps completed!").await?;
    Ok(ControlFlow::Continue(()))
}

async fn ask(title: String, number: usize, cx: &PromptContext) -> HandlerResult<()> {
    const ALLOW: &str = "allow";
    let call = ToolCallUpdate::new(
        tool_call_id(number),
        ToolCallUpdateFields::new().title(title),
    );
    let options = vec![
        PermissionOption::new(ALLOW, "Allow", PermissionOptionKind::AllowOnce),
        PermissionOption::new("reject", "Reject", PermissionOptionKind::RejectOnce),
    ];
    let request = RequestPermissionRequest::new(cx.session_id().clone(), call, options);
    let outcome = cx.request_permission(request).await?.outcome;
    let word = match outcome {
        RequestPermissionOutcome::Cancelled => "cancelled",
        RequestPermissionOutcome::Selected(choice) if &*choice.option_id.0 == ALLOW => "allowed",
        // An outcome of the future allows nothing.
        RequestPermissionOutcome::Selected(_) | _ => "rejected",
    };
    cx.send_message(format!("[Permission {word}]")).await?;
    Ok(())
}

async fn tool(
    title: String,
    duration: Duration,
    number: usize,
    cx: &PromptContext,
) -> HandlerResult<()> {
    let id = tool_call_id(number);
    let update = |status| {
        let fields = ToolCallUpdateFields::new().status(status);
        SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.clone(), fields))
    };
    let call = ToolCall::new(id.clone(), title).status(ToolCallStatus::Pending);
    cx.send_update(SessionUpdate::ToolCall(call)).await?;
    cx.send_update(update(ToolCallStatus::InProgress)).await?;
    let end = tokio::select! {
        () = sleep(duration) => ToolCallStatus::Completed,
        () = cx.cancelled() => ToolCallStatus::Failed,
    };
    cx.send_update(update(end)).await?;
    Ok(())
}

fn tool_call_id(number: usize) -> ToolCallId {
    ToolCallId::new(format!("call-{number}"))
}

/// What an agent must not do, and many do: it goes on sending when its turn may be over.
async fn late(text: String, cx: PromptContext) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        sleep(Duration::from_millis(10)).await;
        // That the turn is over is the very thing to be ignored here.
        drop(cx.send_message(text.as_str()).await);
    }
}
