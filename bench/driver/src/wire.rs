//! The lines a client writes, and the little that has to be read of an agent's.

pub(crate) const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
    "\n"
);

pub(crate) fn new_session(id: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"session/new","params":{{"cwd":"/work","mcpServers":[]}}}}"#
    ) + "\n"
}

/// A prompt whose text is a script; its line ends are written `\n`, as in JSON.
pub(crate) fn prompt(id: usize, session: &str, script: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"{session}","prompt":[{{"type":"text","text":"{script}"}}]}}}}"#
    ) + "\n"
}

/// A prompt that ends at once and has a file attached.
pub(crate) fn prompt_with_file(id: usize, session: &str, file: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"{session}","prompt":[{{"type":"text","text":"end end_turn"}},{{"type":"resource","resource":{{"uri":"file:///project/main.rs","text":"{file}"}}}}]}}}}"#
    ) + "\n"
}

pub(crate) fn cancel(session: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"session/cancel","params":{{"sessionId":"{session}"}}}}"#)
        + "\n"
}

pub(crate) fn update(session: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}}}"#
    ) + "\n"
}

/// An answer; the id is JSON as it came.
pub(crate) fn answer(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#) + "\n"
}

/// The session in an answer to `session/new`.
pub(crate) fn session_id(line: &[u8]) -> Option<String> {
    let rest = member(line, "\"sessionId\"")?.strip_prefix('"')?;
    rest.split_once('"').map(|(session, _)| session.to_owned())
}

/// The id of a message as it is written; SDKs have it before the result or behind it.
pub(crate) fn id(line: &[u8]) -> Option<&str> {
    let rest = member(line, "\"id\"")?;
    let end = match rest.strip_prefix('"') {
        Some(text) => text.find('"')? + 2,
        None => rest.find([',', '}'])?,
    };
    Some(rest[..end].trim_end())
}

pub(crate) fn is_update(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"\"session/update\"").is_some()
}

/// What stands behind a key and its colon.
fn member<'a>(line: &'a [u8], key: &str) -> Option<&'a str> {
    let at = memchr::memmem::find(line, key.as_bytes())?;
    let rest = std::str::from_utf8(&line[at + key.len()..]).ok()?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}
