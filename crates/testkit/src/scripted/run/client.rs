//! What a script asks of the user.

use endturn::{
    HandlerResult,
    agent::ToolCallHandle,
    schema::v1::{
        CreateElicitationRequest, ElicitationAction, ElicitationContentValue, ElicitationFormMode,
        ElicitationSchema, ElicitationScope, ElicitationSessionScope, PermissionOption,
        PermissionOptionKind, StringPropertySchema, ToolCallId, ToolCallUpdate,
        ToolCallUpdateFields,
    },
};

use super::Turn;
use crate::scripted::sessions::Mode;

/// The name of the one field in a form.
const ANSWER: &str = "answer";

impl Turn<'_> {
    pub(super) async fn ask(&self, id: ToolCallId, title: String) -> HandlerResult<()> {
        let fields = ToolCallUpdateFields::new().title(title);
        let (_, word) = self.permission(ToolCallUpdate::new(id, fields)).await?;
        self.say(format!("[Permission {word}]")).await
    }

    /// Whether a tool call may be made, which only a careful agent asks; if not, it is over.
    pub(super) async fn allowed(
        &self,
        call: ToolCallHandle,
    ) -> HandlerResult<Option<ToolCallHandle>> {
        if self.settings()?.mode != Mode::Careful {
            return Ok(Some(call));
        }
        let question = ToolCallUpdate::new(call.id().clone(), ToolCallUpdateFields::new());
        let (allowed, word) = self.permission(question).await?;
        if allowed {
            return Ok(Some(call));
        }
        call.fail(ToolCallUpdateFields::new()).await?;
        self.say(format!("[Permission {word}]")).await?;
        Ok(None)
    }

    /// The user's decision, and the word for it.
    async fn permission(&self, call: ToolCallUpdate) -> HandlerResult<(bool, &'static str)> {
        let allow = PermissionOption::new("allow", "Allow", PermissionOptionKind::AllowOnce);
        let reject = PermissionOption::new("reject", "Reject", PermissionOptionKind::RejectOnce);
        let chosen = self.cx.choose(call, vec![allow, reject]).await?;
        Ok(match chosen.map(|option| option.kind) {
            None => (false, "cancelled"),
            Some(PermissionOptionKind::AllowOnce) => (true, "allowed"),
            Some(_) => (false, "rejected"),
        })
    }

    pub(super) async fn elicit(&self, message: String) -> HandlerResult<()> {
        let field = StringPropertySchema::new().title("Answer".to_owned());
        let form = ElicitationSchema::new().property(ANSWER, field, true);
        let session = ElicitationSessionScope::new(self.cx.session_id().clone());
        let mode = ElicitationFormMode::new(ElicitationScope::Session(session), form);
        let request = CreateElicitationRequest::new(mode, message);
        let action = match self.cx.request(&request).await {
            Ok(response) => response.action,
            Err(error) => return self.explain(error).await,
        };
        let text = match action {
            ElicitationAction::Accept(accepted) => {
                let mut content = accepted.content.unwrap_or_default();
                match content.remove(ANSWER) {
                    Some(ElicitationContentValue::String(text)) => format!("[Answer: {text}]"),
                    _ => "[No answer]".to_owned(),
                }
            }
            ElicitationAction::Decline => "[Declined]".to_owned(),
            ElicitationAction::Cancel | ElicitationAction::Other(_) | _ => "[Cancelled]".to_owned(),
        };
        self.say(text).await
    }
}
