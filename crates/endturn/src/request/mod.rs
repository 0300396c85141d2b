//! Requests and notifications by their type.
//!
//! Every message of the protocol that this library sends or handles is a type of the schema crate which implements one of the traits here; so do the messages of extensions that a program adds.
//! [The table of methods](crate::guide::methods) says which type belongs to which method, who handles it and who calls it.

mod call;
mod methods;

use serde::{Serialize, de::DeserializeOwned};

pub use call::Call;
pub(crate) use call::{limit_of, write};
pub(crate) use methods::check_prompt;

use crate::{
    capabilities::{AgentPeer, ClientPeer},
    error::Error,
};

/// A request whose type says which method it is for and what it is answered with.
///
/// The protocol's own requests implement it.
/// Implement it, and [`ToClient`] or [`ToAgent`], to use an extension of the protocol with types:
///
/// ```
/// use endturn::request::{Request, ToClient};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize)]
/// struct ShowDiagram {
///     source: String,
/// }
///
/// #[derive(Deserialize)]
/// struct Shown {
///     width: u32,
/// }
///
/// impl Request for ShowDiagram {
///     const METHOD: &'static str = "_example.com/show_diagram";
///     type Response = Shown;
/// }
/// impl ToClient for ShowDiagram {}
/// ```
///
/// Source: [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility).
pub trait Request: Serialize {
    /// The method's name on the wire; an extension's begins with an underscore.
    const METHOD: &'static str;

    /// Whether its answer takes a time that nobody can foresee, because a person gives it or a process has to end; then no request timeout applies.
    const OPEN_ENDED: bool = false;

    /// What it is answered with.
    type Response: DeserializeOwned + Send + 'static;
}

/// A request that an agent sends to its client; the example is at [`Request`].
pub trait ToClient: Request {
    /// Looks at the request before it is sent, and at what the client offers.
    ///
    /// By default everything may be sent.
    /// An extension that its peer announces, in `_meta` of its capabilities for example, is checked so:
    ///
    /// ```
    /// # use endturn::{Error, capabilities::ClientPeer, request::{Request, ToClient}};
    /// # #[derive(serde::Serialize)]
    /// # struct ShowDiagram;
    /// # impl Request for ShowDiagram {
    /// #     const METHOD: &'static str = "_example.com/show_diagram";
    /// #     type Response = ();
    /// # }
    /// impl ToClient for ShowDiagram {
    ///     fn check(&self, client: &ClientPeer) -> Result<(), Error> {
    ///         match &client.capabilities().meta {
    ///             Some(meta) if meta.contains_key("example.com/diagrams") => Ok(()),
    ///             _ => Err(Error::missing_capability("_meta.example.com/diagrams")),
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If it must not be sent; the call fails with this error then.
    fn check(&self, _client: &ClientPeer) -> Result<(), Error> {
        Ok(())
    }
}

/// A request that a client sends to its agent; a prompt is not among them, because [`Client::prompt`](crate::Client::prompt) does more.
///
/// ```
/// use endturn::request::{Request, ToAgent};
///
/// #[derive(serde::Serialize)]
/// struct Stats {}
///
/// impl Request for Stats {
///     const METHOD: &'static str = "_example.com/stats";
///     type Response = serde_json::Value;
/// }
/// impl ToAgent for Stats {}
///
/// # async fn example(client: endturn::Client) -> Result<(), endturn::Error> {
/// println!("{}", client.request(&Stats {}).await?);
/// # Ok(())
/// # }
/// ```
pub trait ToAgent: Request {
    /// Looks at the request before it is sent, and at what the agent offers; see [`ToClient::check`].
    ///
    /// # Errors
    ///
    /// If it must not be sent; the call fails with this error then.
    fn check(&self, _agent: &AgentPeer) -> Result<(), Error> {
        Ok(())
    }
}

/// A notification whose type says which method it is for.
///
/// The protocol's own notifications implement it, except those that belong to a turn: `session/update` and `session/cancel` are sent through a [context](crate::PromptContext::send_update) and a [signal](crate::CancellationSignal).
/// For an extension, implement it together with [`NotifiesClient`] or [`NotifiesAgent`]:
///
/// ```
/// use endturn::request::{NotifiesAgent, Notification};
///
/// #[derive(serde::Serialize)]
/// struct ThemeChanged {
///     dark: bool,
/// }
///
/// impl Notification for ThemeChanged {
///     const METHOD: &'static str = "_example.com/theme_changed";
/// }
/// impl NotifiesAgent for ThemeChanged {}
/// ```
///
/// Source: [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility).
pub trait Notification: Serialize {
    /// The method's name on the wire; an extension's begins with an underscore.
    const METHOD: &'static str;
}

/// A notification that an agent sends to its client; see [`Notification`].
pub trait NotifiesClient: Notification {}

/// A notification that a client sends to its agent; see [`Notification`].
pub trait NotifiesAgent: Notification {}
