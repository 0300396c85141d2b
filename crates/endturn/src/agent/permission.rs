//! Asking the user.

use super::PromptContext;
use crate::{
    error::Error,
    request::Request,
    schema::v1::{
        PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
        ToolCallUpdate,
    },
};

/// What the user has decided.
///
/// A question that is cancelled is none of the four others: the user has neither agreed nor refused.
///
/// ```
/// use endturn::agent::Decision;
///
/// assert!(Decision::AllowedAlways.is_allowed() && Decision::AllowedAlways.is_always());
/// assert!(!Decision::RejectedOnce.is_allowed());
/// assert!(Decision::Cancelled.is_cancelled() && !Decision::Cancelled.is_allowed());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Allowed, this time.
    AllowedOnce,
    /// Allowed, now and whenever it is asked again.
    AllowedAlways,
    /// Refused, this time.
    RejectedOnce,
    /// Refused, now and whenever it is asked again.
    RejectedAlways,
    /// Not decided: the turn was cancelled, or the client let the question go.
    Cancelled,
}

impl Decision {
    /// Whether it may be done.
    #[must_use]
    pub fn is_allowed(self) -> bool {
        matches!(self, Self::AllowedOnce | Self::AllowedAlways)
    }

    /// Whether it is to be remembered.
    #[must_use]
    pub fn is_always(self) -> bool {
        matches!(self, Self::AllowedAlways | Self::RejectedAlways)
    }

    /// Whether there was no decision.
    #[must_use]
    pub fn is_cancelled(self) -> bool {
        self == Self::Cancelled
    }

    fn of(kind: PermissionOptionKind) -> Self {
        match kind {
            PermissionOptionKind::AllowOnce => Self::AllowedOnce,
            PermissionOptionKind::AllowAlways => Self::AllowedAlways,
            PermissionOptionKind::RejectAlways => Self::RejectedAlways,
            // What a newer schema adds allows nothing.
            PermissionOptionKind::RejectOnce | _ => Self::RejectedOnce,
        }
    }
}

const ALWAYS: [(PermissionOptionKind, &str, &str); 2] = [
    (
        PermissionOptionKind::AllowAlways,
        "allow_always",
        "Always allow",
    ),
    (
        PermissionOptionKind::RejectAlways,
        "reject_always",
        "Always reject",
    ),
];

const ONCE: [(PermissionOptionKind, &str, &str); 2] = [
    (PermissionOptionKind::AllowOnce, "allow_once", "Allow"),
    (PermissionOptionKind::RejectOnce, "reject_once", "Reject"),
];

impl PromptContext {
    /// Asks the user whether a tool call may be made, this time: yes or no.
    ///
    /// It waits for the decision however long it takes, and ends with the turn.
    ///
    /// ```
    /// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
    /// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
    /// let call = ToolCallUpdate::new("call-1", ToolCallUpdateFields::new().title("Delete target/".to_owned()));
    /// if cx.confirm(call).await?.is_allowed() {
    ///     cx.send_message("Deleting it.").await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Requesting permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission).
    ///
    /// # Errors
    ///
    /// If the client answers with an error or with an option that was not there, the turn ends, or the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future sends the client one `$/cancel_request`, unless it has answered.
    pub async fn confirm(&self, call: impl Into<ToolCallUpdate>) -> Result<Decision, Error> {
        self.decide(call.into(), &ONCE).await
    }

    /// Asks the user whether a tool call may be made: this time or always, yes or no.
    ///
    /// An answer that is to [hold always](Decision::is_always) is for the agent to remember.
    ///
    /// ```
    /// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
    /// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
    /// let fields = ToolCallUpdateFields::new().title("Push to main".to_owned());
    /// let decision = cx.ask_permission(ToolCallUpdate::new("call-1", fields)).await?;
    /// if decision.is_always() {
    ///     println!("never ask again: {}", decision.is_allowed());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`confirm`](Self::confirm).
    ///
    /// # Cancel safety
    ///
    /// As for [`confirm`](Self::confirm).
    pub async fn ask_permission(&self, call: impl Into<ToolCallUpdate>) -> Result<Decision, Error> {
        let [allow, reject] = ONCE;
        let [always, never] = ALWAYS;
        self.decide(call.into(), &[allow, always, reject, never])
            .await
    }

    /// Has the user choose among options; `None` if there was no choice, because the turn was cancelled for example.
    ///
    /// ```
    /// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
    /// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
    /// let call = ToolCallUpdate::new("call-1", ToolCallUpdateFields::new().title("Release".to_owned()));
    /// let options = vec![
    ///     PermissionOption::new("minor", "As 1.1", PermissionOptionKind::AllowOnce),
    ///     PermissionOption::new("major", "As 2.0", PermissionOptionKind::AllowOnce),
    /// ];
    /// if let Some(chosen) = cx.choose(call, options).await? {
    ///     cx.send_message(chosen.name).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`confirm`](Self::confirm).
    ///
    /// # Cancel safety
    ///
    /// As for [`confirm`](Self::confirm).
    pub async fn choose(
        &self,
        call: impl Into<ToolCallUpdate>,
        options: Vec<PermissionOption>,
    ) -> Result<Option<PermissionOption>, Error> {
        let session = self.session_id().clone();
        let mut request = RequestPermissionRequest::new(session, call.into(), options);
        let outcome = match self.request(&request).await {
            Ok(response) => response.outcome,
            // A client may answer the `$/cancel_request` that a cancelled turn has its questions sent.
            Err(error) if error.protocol().is_some() && error.is_cancelled() => return Ok(None),
            Err(error) => return Err(error),
        };
        let RequestPermissionOutcome::Selected(selected) = outcome else {
            return Ok(None);
        };
        let id = &selected.option_id;
        let place = request.options.iter().position(|it| it.option_id == *id);
        match place {
            Some(place) => Ok(Some(request.options.swap_remove(place))),
            None => Err(Error::invalid_answer(
                RequestPermissionRequest::METHOD,
                format!("there was no option `{id}`"),
            )),
        }
    }

    async fn decide(
        &self,
        call: ToolCallUpdate,
        options: &[(PermissionOptionKind, &str, &str)],
    ) -> Result<Decision, Error> {
        let options = options
            .iter()
            .map(|&(kind, id, name)| PermissionOption::new(id.to_owned(), name, kind))
            .collect();
        let chosen = self.choose(call, options).await?;
        Ok(chosen.map_or(Decision::Cancelled, |option| Decision::of(option.kind)))
    }
}
