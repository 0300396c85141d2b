//! Files below a few directories, for the agent to read and write.
//!
//! Two things decide what a path reaches.
//! `resolve` follows its symbolic links by hand, to find which root it belongs to and to tell a link that leaves from a file that is missing.
//! What it finds is then opened by `cap-std`, relative to the root's open directory and in a way that cannot leave it; so a link that is put there in between leads nowhere.

mod read;
mod refusal;
mod resolve;
#[cfg(test)]
mod tests;
mod write;

use std::{io, path::Path, sync::Arc};

use tokio_util::sync::CancellationToken;

use self::{
    refusal::too_large,
    resolve::{Root, Roots},
};
use crate::schema::v1::{
    self, FileSystemCapabilities, ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest,
    WriteTextFileResponse,
};

/// How much text may be read or written at once.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Serves `fs/read_text_file` and `fs/write_text_file` for the files below one or more directories, the *roots*.
///
/// Registered with [`ClientBuilder::files`](crate::client::ClientBuilder::files); clones serve the same roots.
///
/// # What an agent can reach
///
/// Paths have to be absolute and to begin with a root, as it was given or as the system calls it; where one root is below another, the longest that fits counts.
/// `..` and symbolic links are followed as long as they stay in the roots, also those with an absolute target.
/// Nothing outside is opened, not even if directories and links are changed at the same moment, because every access starts at a root that was opened once.
///
/// # What it is answered
///
/// | | code | data |
/// |---|---|---|
/// | the file is missing | `-32002` | `uri`, the path |
/// | the path is relative, outside the roots, a directory, a device or a pipe; the file is not UTF-8 | `-32602` | `field` is `path`, `reason` |
/// | `line` is 0 | `-32602` | `field` is `line`, `reason` |
/// | the text is larger than [`max_bytes`](Self::max_bytes) | `-32602` | `field` is `limit` (or `content`, for a write), `reason`, `limit` in bytes |
/// | the system refuses for another reason | `-32603` | `path`, `reason` in a few words, such as `permission denied` |
///
/// No answer names a path that the agent did not name.
///
/// # Examples
///
/// An editor gives the text that its user sees, and leaves the rest to the file system:
///
/// ```
/// use endturn::{Client, client::LocalFiles};
/// use endturn::schema::v1::{ReadTextFileRequest, ReadTextFileResponse};
///
/// # fn unsaved(path: &std::path::Path) -> Option<String> { None }
/// # fn main() -> std::io::Result<()> {
/// let files = LocalFiles::new(".")?.max_bytes(1024 * 1024);
/// let builder = Client::builder()
///     .files(files.clone())
///     .on_request(move |request: ReadTextFileRequest, _client| {
///         let files = files.clone();
///         async move {
///             match unsaved(&request.path) {
///                 Some(text) => Ok(ReadTextFileResponse::new(text)),
///                 None => Ok(files.read_text_file(request).await?),
///             }
///         }
///     });
/// # drop(builder);
/// # Ok(())
/// # }
/// ```
///
/// Source: [File system](https://agentclientprotocol.com/protocol/v1/file-system).
/// The roots, the limits and the choice of error codes are policy of this SDK.
#[derive(Clone, Debug)]
#[must_use]
pub struct LocalFiles {
    roots: Arc<Roots>,
    read_only: bool,
    max_bytes: u64,
}

impl LocalFiles {
    /// Serves the files below `root`.
    ///
    /// The directory is opened now and stays the same one, also when it is renamed or replaced later.
    /// It may be relative, to this program's working directory, and be reached through symbolic links.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let files = endturn::client::LocalFiles::new("src")?;
    /// # drop(files);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the directory cannot be opened.
    pub fn new(root: impl AsRef<Path>) -> io::Result<Self> {
        let files = Self {
            roots: Arc::default(),
            read_only: false,
            max_bytes: MAX_BYTES,
        };
        files.root(root)
    }

    /// Serves the files below another directory too.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let files = endturn::client::LocalFiles::new("src")?.root("tests")?;
    /// # drop(files);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the directory cannot be opened.
    pub fn root(mut self, root: impl AsRef<Path>) -> io::Result<Self> {
        Arc::make_mut(&mut self.roots).add(Root::open(root.as_ref())?);
        Ok(self)
    }

    /// Serves reading only.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let files = endturn::client::LocalFiles::new("src")?.read_only();
    /// assert!(!files.capabilities().write_text_file);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Then [`ClientBuilder::files`](crate::client::ClientBuilder::files) registers no handler for writing, so that the agent is answered `-32601`, as the protocol wants for what a client does not offer.
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// How many bytes of text one request may read or write; the default is 16 MiB.
    ///
    /// It counts what is returned and not what the file holds, so a few lines can be read out of a file of any size; memory stays bounded by it all the same.
    /// The default is a quarter of the longest message that a [client takes](crate::client::ClientBuilder::line_limit), which leaves room for the escapes of JSON.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let files = endturn::client::LocalFiles::new("src")?.max_bytes(256 * 1024);
    /// # drop(files);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Policy of this SDK.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// What a client that serves these files declares in the request to [initialize](crate::Client::initialize).
    ///
    /// A client with [registered](crate::client::ClientBuilder::files) files declares it by itself; this is for one that lists its capabilities.
    ///
    /// ```
    /// use endturn::{client::LocalFiles, schema::v1::ClientCapabilities};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let files = LocalFiles::new("src")?;
    /// let capabilities = ClientCapabilities::new().fs(files.capabilities());
    /// assert!(capabilities.fs.read_text_file && capabilities.fs.write_text_file);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Checking support](https://agentclientprotocol.com/protocol/v1/file-system#checking-support).
    #[must_use]
    pub fn capabilities(&self) -> FileSystemCapabilities {
        FileSystemCapabilities::new()
            .read_text_file(true)
            .write_text_file(!self.read_only)
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Answers `fs/read_text_file`.
    ///
    /// The text is what is in the file, with its line endings; `line` counts from 1, and a line ends with `\n`.
    /// A `line` past the end gives an empty text, as does a `limit` of 0.
    /// Without a range the whole file is read; with one, the lines before it are skipped without being kept, and only the range has to be UTF-8.
    ///
    /// ```
    /// use endturn::{client::LocalFiles, schema::v1::ReadTextFileRequest};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let dir = tempfile::tempdir()?;
    /// std::fs::write(dir.path().join("poem"), "one\ntwo\nthree\n")?;
    ///
    /// let files = LocalFiles::new(dir.path())?;
    /// let request = ReadTextFileRequest::new("session", dir.path().join("poem"));
    /// let response = files.read_text_file(request.line(2).limit(1)).await?;
    /// assert_eq!(response.content, "two\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Reading files](https://agentclientprotocol.com/protocol/v1/file-system#reading-files).
    ///
    /// # Errors
    ///
    /// Those of the table at [`LocalFiles`].
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the reading, which happens on a thread of its own, at the next block.
    pub async fn read_text_file(
        &self,
        request: ReadTextFileRequest,
    ) -> Result<ReadTextFileResponse, v1::Error> {
        let files = self.clone();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let _stop = stop.drop_guard();
        let content = on_a_thread(move || {
            read::read(&files.roots, &request, files.max_bytes, &|| {
                stopped.is_cancelled()
            })
        });
        Ok(ReadTextFileResponse::new(content.await?))
    }

    /// Answers `fs/write_text_file`.
    ///
    /// A file that is missing is created, with the directories that lead to it.
    /// One that exists is replaced in one step, through a temporary file in the same directory that takes its name: whoever reads it meanwhile reads the old text or the new one, and after an error or a crash it holds the old one.
    /// It keeps its permissions; other names of it (hard links) keep the old text, and its owner is whoever runs this program.
    /// A symbolic link stays one, and the file that it leads to is replaced.
    ///
    /// Of several writes at once the last wins, whole.
    ///
    /// ```
    /// use endturn::{client::LocalFiles, schema::v1::WriteTextFileRequest};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let dir = tempfile::tempdir()?;
    /// let files = LocalFiles::new(dir.path())?;
    /// let path = dir.path().join("new/poem");
    /// files.write_text_file(WriteTextFileRequest::new("session", &path, "one\n")).await?;
    /// assert_eq!(std::fs::read_to_string(path)?, "one\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Writing files](https://agentclientprotocol.com/protocol/v1/file-system#writing-files).
    ///
    /// # Errors
    ///
    /// Those of the table at [`LocalFiles`]; with [`read_only`](Self::read_only) files, `-32601`.
    /// After an error the file is as it was; directories that were made for it stay.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not stop the writing: the file gets its new text or keeps the old one.
    pub async fn write_text_file(
        &self,
        request: WriteTextFileRequest,
    ) -> Result<WriteTextFileResponse, v1::Error> {
        if self.read_only {
            return Err(v1::Error::method_not_found());
        }
        let files = self.clone();
        on_a_thread(move || {
            if request.content.len() as u64 > files.max_bytes {
                return Err(too_large("content", files.max_bytes));
            }
            write::write(&files.roots, &request.path, request.content.as_bytes())
        })
        .await?;
        Ok(WriteTextFileResponse::new())
    }
}

/// Does file work where it may block.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, v1::Error> + Send + 'static,
) -> Result<T, v1::Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => {
            tracing::error!(%error, "file work was lost");
            Err(v1::Error::internal_error())
        }
    }
}
