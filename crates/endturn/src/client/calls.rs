//! The protocol's requests by name.

use super::{Client, side};
use crate::{
    request::Call,
    schema::v1::{
        AuthenticateRequest, AuthenticateResponse, CloseSessionRequest, CloseSessionResponse,
        DeleteSessionRequest, DeleteSessionResponse, ListSessionsRequest, ListSessionsResponse,
        LoadSessionRequest, LoadSessionResponse, LogoutRequest, LogoutResponse, NewSessionRequest,
        NewSessionResponse, ResumeSessionRequest, ResumeSessionResponse,
        SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
        SetSessionModeResponse,
    },
};

impl Client {
    /// Logs the user in, by one of the [ways that the agent has](crate::capabilities::AgentPeer::auth_methods).
    ///
    /// It has no request timeout, since the user may have to do something for it.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let agent = client.agent()?;
    /// if let Some(method) = agent.auth_methods().first() {
    ///     client.authenticate(AuthenticateRequest::new(method.id().clone())).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    pub fn authenticate(&self, request: AuthenticateRequest) -> Call<AuthenticateResponse> {
        self.request(&request)
    }

    /// Logs the user out.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// client.logout(LogoutRequest::new()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    pub fn logout(&self, request: LogoutRequest) -> Call<LogoutResponse> {
        self.request(&request)
    }

    /// Opens a session.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let request = NewSessionRequest::new("/work")
    ///     .mcp_servers(vec![McpServer::Stdio(McpServerStdio::new("search", "/usr/bin/search-mcp"))]);
    /// let session = client.new_session(request).await?;
    /// println!("{}", session.session_id);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Session setup](https://agentclientprotocol.com/protocol/v1/session-setup).
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    pub fn new_session(&self, request: NewSessionRequest) -> Call<NewSessionResponse> {
        self.request(&request)
    }

    /// Takes up a saved session; its history comes as updates, and this is done when the [update handler](super::ClientBuilder::on_update) has finished all of them.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// client.load_session(LoadSessionRequest::new("session-1", "/work")).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Loading sessions](https://agentclientprotocol.com/protocol/v1/session-setup#loading-sessions).
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    pub fn load_session(&self, request: LoadSessionRequest) -> Call<LoadSessionResponse> {
        let (client, session) = (self.clone(), request.session_id.clone());
        let from = side::handling_session();
        self.request(&request).and_then(async move |response| {
            client.caught_up(&session, from).await;
            Ok(response)
        })
    }

    /// Takes up a saved session without its history.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// client.resume_session(ResumeSessionRequest::new("session-1", "/work")).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Session setup](https://agentclientprotocol.com/protocol/v1/session-setup).
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    pub fn resume_session(&self, request: ResumeSessionRequest) -> Call<ResumeSessionResponse> {
        self.request(&request)
    }

    /// Gives one page of the saved sessions; the next one is asked for with the [cursor](ListSessionsRequest::cursor) that the answer has.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let mut request = ListSessionsRequest::new();
    /// loop {
    ///     let page = client.list_sessions(request).await?;
    ///     for session in page.sessions {
    ///         println!("{}", session.title.unwrap_or_default());
    ///     }
    ///     let Some(cursor) = page.next_cursor else { break };
    ///     request = ListSessionsRequest::new().cursor(cursor);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Session list](https://agentclientprotocol.com/protocol/v1/session-list).
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    pub fn list_sessions(&self, request: ListSessionsRequest) -> Call<ListSessionsResponse> {
        self.request(&request)
    }

    /// Forgets a saved session.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// client.delete_session(DeleteSessionRequest::new("session-1")).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Session list](https://agentclientprotocol.com/protocol/v1/session-list).
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    pub fn delete_session(&self, request: DeleteSessionRequest) -> Call<DeleteSessionResponse> {
        self.request(&request)
    }

    /// Puts a session into another one of its modes.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// client.set_mode(SetSessionModeRequest::new("session-1", "plan")).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Session modes](https://agentclientprotocol.com/protocol/v1/session-modes).
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    pub fn set_mode(&self, request: SetSessionModeRequest) -> Call<SetSessionModeResponse> {
        self.request(&request)
    }

    /// Sets one of a session's config options; the answer has all of them as they are then.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let request = SetSessionConfigOptionRequest::new("session-1", "model", "small");
    /// for option in client.set_config_option(request).await?.config_options {
    ///     println!("{}", option.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Session config options](https://agentclientprotocol.com/protocol/v1/session-config-options).
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    pub fn set_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
    ) -> Call<SetSessionConfigOptionResponse> {
        self.request(&request)
    }

    /// Closes a session: its turn is cancelled, and the agent frees what it holds for it.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// client.close_session(CloseSessionRequest::new("session-1")).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Closing active sessions](https://agentclientprotocol.com/protocol/v1/session-setup).
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    pub fn close_session(&self, request: CloseSessionRequest) -> Call<CloseSessionResponse> {
        self.request(&request)
    }
}
