//! One line on a builder for each of the two.

#[cfg(feature = "files")]
use super::LocalFiles;
#[cfg(feature = "process")]
use super::LocalTerminals;
use crate::{blocking, client::ClientBuilder};

#[cfg(feature = "files")]
impl ClientBuilder {
    /// Serves `fs/read_text_file` and `fs/write_text_file` from this machine.
    ///
    /// ```
    /// use endturn::{Client, client::LocalFiles};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let builder = Client::builder().files(LocalFiles::new(".")?);
    /// # drop(builder);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The client offers `fs.readTextFile` and `fs.writeTextFile` with it.
    ///
    /// With [`read_only`](LocalFiles::read_only) files, writing stays without a handler and is answered `-32601`.
    /// A handler that is registered later for one of the two methods takes its place.
    ///
    /// Source: [File system](https://agentclientprotocol.com/protocol/v1/file-system).
    pub fn files(self, files: LocalFiles) -> Self {
        use crate::schema::v1::{ReadTextFileRequest, WriteTextFileRequest};

        let builder = if files.is_read_only() {
            self
        } else {
            let files = files.clone();
            self.on_request(move |request: WriteTextFileRequest, _client| {
                let files = files.clone();
                async move { Ok(files.write_text_file(request).await?) }
            })
        };
        builder.on_request(move |request: ReadTextFileRequest, _client| {
            let files = files.clone();
            async move { Ok(files.read_text_file(request).await?) }
        })
    }
}

#[cfg(feature = "files")]
impl blocking::ClientBuilder {
    /// Serves `fs/read_text_file` and `fs/write_text_file` from this machine; see [`client::ClientBuilder::files`](crate::client::ClientBuilder::files).
    ///
    /// ```
    /// use endturn::{blocking::Client, client::LocalFiles};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let builder = Client::builder().files(LocalFiles::new(".")?);
    /// # drop(builder);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [File system](https://agentclientprotocol.com/protocol/v1/file-system).
    pub fn files(self, files: LocalFiles) -> Self {
        self.with(|builder| builder.files(files))
    }
}

#[cfg(feature = "process")]
impl ClientBuilder {
    /// Serves the five `terminal/…` methods: runs the agent's commands on this machine.
    ///
    /// ```
    /// use endturn::{Client, client::LocalTerminals};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let terminals = LocalTerminals::new().root(".")?;
    /// let builder = Client::builder().terminals(terminals.clone());
    /// # drop((builder, terminals));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The client offers `terminal` with it.
    /// All its terminals are released, which kills what runs in them, when the last clone of the [`Client`](crate::Client) is dropped.
    /// A handler that is registered later for one of the methods takes its place; one for `terminal/create` could ask the user first, and then call [`LocalTerminals::create`].
    ///
    /// Source: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub fn terminals(self, terminals: LocalTerminals) -> Self {
        use std::sync::Arc;

        use crate::schema::v1::{
            CreateTerminalRequest, KillTerminalRequest, ReleaseTerminalRequest,
            TerminalOutputRequest, WaitForTerminalExitRequest,
        };

        /// Held by the handlers, which go with the connection.
        struct Link(LocalTerminals);
        impl Drop for Link {
            fn drop(&mut self) {
                self.0.release_all();
            }
        }

        let create = Arc::new(Link(terminals));
        let output = Arc::clone(&create);
        let wait = Arc::clone(&create);
        let kill = Arc::clone(&create);
        let release = Arc::clone(&create);
        self.on_request(move |request: CreateTerminalRequest, _client| {
            let link = Arc::clone(&create);
            async move { Ok(link.0.create(request)?) }
        })
        .on_request(move |request: TerminalOutputRequest, _client| {
            let link = Arc::clone(&output);
            async move { Ok(link.0.output(&request)?) }
        })
        .on_request(move |request: WaitForTerminalExitRequest, _client| {
            // It may take for ever, and must not keep the terminals from being released.
            let exit = wait.0.wait_for_exit(&request);
            async move { Ok(exit.await?) }
        })
        .on_request(move |request: KillTerminalRequest, _client| {
            let link = Arc::clone(&kill);
            async move { Ok(link.0.kill(&request)?) }
        })
        .on_request(move |request: ReleaseTerminalRequest, _client| {
            let link = Arc::clone(&release);
            async move { Ok(link.0.release(&request)?) }
        })
    }
}

#[cfg(feature = "process")]
impl blocking::ClientBuilder {
    /// Serves the five `terminal/…` methods: runs the agent's commands on this machine; see [`client::ClientBuilder::terminals`](crate::client::ClientBuilder::terminals).
    ///
    /// ```
    /// use endturn::{blocking::Client, client::LocalTerminals};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let builder = Client::builder().terminals(LocalTerminals::new().root(".")?);
    /// # drop(builder);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub fn terminals(self, terminals: LocalTerminals) -> Self {
        self.with(|builder| builder.terminals(terminals))
    }
}
