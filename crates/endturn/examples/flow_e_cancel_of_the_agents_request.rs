//! Flow E: the agent asks the user, and takes its question back with `$/cancel_request`.
//!
//! `cargo run -p endturn --example flow_e_cancel_of_the_agents_request`

mod flows;

use std::{future, time::Duration};

use endturn::{
    CancellationSignal, Client, HandlerResult, PromptContext,
    schema::v1::{
        PermissionOption, PermissionOptionKind, PromptResponse, RequestPermissionRequest,
        StopReason, ToolCallUpdate, ToolCallUpdateFields,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> flows::Result {
    flows::play(
        |agent| agent.on_prompt(|_request, cx| ask_in_vain(cx)),
        // The user does not look. The handler is dropped when the agent takes the question back,
        // which is when a real one would close its dialogue.
        Client::builder().on_permission(|_request, _client| future::pending()),
        async |flow| {
            let answer = flow.client.prompt(flow.request(), None).await?;
            assert_eq!(answer.stop_reason, StopReason::EndTurn);
            Ok(())
        },
    )
    .await
}

async fn ask_in_vain(cx: PromptContext) -> HandlerResult<PromptResponse> {
    let call = ToolCallUpdate::new("call-1", ToolCallUpdateFields::new().title("Tidy up"));
    let allow = PermissionOption::new("allow", "Allow", PermissionOptionKind::AllowOnce);
    let question = RequestPermissionRequest::new(cx.session_id().clone(), call, vec![allow]);

    let withdraw = CancellationSignal::new();
    // The call goes on waiting for the client's answer, which may still be a decision.
    let decision = cx.request_permission(question).cancel_when(&withdraw);
    let change_of_mind = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cx.send_message("It is tidy enough.").await?;
        withdraw.cancel();
        Ok(())
    };
    let (decision, said): (_, HandlerResult<()>) = tokio::join!(decision, change_of_mind);
    said?;
    assert!(decision.is_err_and(|error| error.is_cancelled()));
    // Only the question was cancelled; the turn goes on.
    Ok(PromptResponse::new(StopReason::EndTurn))
}
