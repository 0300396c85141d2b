//! The client's ready-made file system, as an agent in a turn sees it.

#![cfg(feature = "files")]

mod turn;

use std::{fs, io, path::PathBuf};

use endturn::{
    Client, Error,
    client::LocalFiles,
    schema::v1::{
        ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
    },
};
use serde_json::json;
use tempfile::TempDir;
use turn::Turn;

fn root() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    fs::create_dir(&root).unwrap();
    (dir, root)
}

async fn read(turn: &Turn, path: impl Into<PathBuf>) -> Result<String, Error> {
    let request = ReadTextFileRequest::new("s", path);
    // Raw, because this side would look at the path itself.
    let response = turn.cx.request_raw("fs/read_text_file", &request);
    let response: ReadTextFileResponse = response.await?;
    Ok(response.content)
}

async fn write(turn: &Turn, path: impl Into<PathBuf>, text: &str) -> Result<(), Error> {
    let request = WriteTextFileRequest::new("s", path, text);
    let response = turn.cx.request_raw("fs/write_text_file", &request);
    response.await.map(|_: WriteTextFileResponse| ())
}

#[tokio::test]
async fn an_agent_writes_a_file_and_reads_some_of_it() {
    let (_dir, root) = root();
    let files = LocalFiles::new(&root).unwrap();
    let turn = Turn::begin(Client::builder().files(files)).await;
    let path = root.join("src/new.rs");
    write(&turn, &path, "one\r\ntwo\nthree").await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\r\ntwo\nthree");
    assert_eq!(read(&turn, &path).await.unwrap(), "one\r\ntwo\nthree");
    for (line, limit, expected) in [
        (Some(1), Some(1), "one\r\n"),
        (Some(2), None, "two\nthree"),
        (None, Some(2), "one\r\ntwo\n"),
        (Some(3), Some(9), "three"),
        (Some(4), None, ""),
    ] {
        let request = ReadTextFileRequest::new("s", &path);
        let request = request.line(line).limit(limit);
        assert_eq!(turn.cx.request(&request).await.unwrap().content, expected);
    }
}

#[tokio::test]
async fn refusals_have_the_codes_and_data_that_are_promised() {
    let (dir, root) = root();
    fs::write(dir.path().join("secret"), "secret").unwrap();
    fs::write(root.join("binary"), b"\xFF").unwrap();
    fs::write(root.join("large"), "x".repeat(11)).unwrap();
    let files = LocalFiles::new(&root).unwrap().max_bytes(10);
    let turn = Turn::begin(Client::builder().files(files)).await;
    let field = |error: &Error| error.protocol().unwrap().data.as_ref().unwrap()["field"].clone();

    let error = read(&turn, root.join("missing")).await.unwrap_err();
    assert_eq!(error.code(), Some(-32002));
    let data = error.protocol().unwrap().data.clone();
    assert_eq!(data, Some(json!({ "uri": root.join("missing") })));
    for path in [
        "relative".into(),
        dir.path().join("secret"),
        root.join("../secret"),
        root.join("binary"),
        root.clone(),
    ] {
        let error = read(&turn, path).await.unwrap_err();
        assert_eq!((error.code(), field(&error)), (Some(-32602), json!("path")));
        assert!(!error.to_string().contains("secret"));
    }
    let error = read(&turn, root.join("large")).await.unwrap_err();
    assert_eq!(
        (error.code(), field(&error)),
        (Some(-32602), json!("limit"))
    );
    let request = ReadTextFileRequest::new("s", root.join("large")).line(0);
    let response = turn.cx.request_raw("fs/read_text_file", &request);
    let error = response
        .await
        .map(|_: ReadTextFileResponse| ())
        .unwrap_err();
    assert_eq!((error.code(), field(&error)), (Some(-32602), json!("line")));
    let error = write(&turn, root.join("new"), "12345678901")
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), field(&error)),
        (Some(-32602), json!("content"))
    );
    assert!(!root.join("new").exists());
    let error = write(&turn, dir.path().join("secret"), "")
        .await
        .unwrap_err();
    assert_eq!((error.code(), field(&error)), (Some(-32602), json!("path")));
    assert_eq!(fs::read(dir.path().join("secret")).unwrap(), b"secret");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_that_leaves_and_a_pipe_are_answered_at_once() {
    let (dir, root) = root();
    fs::write(dir.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink("../secret", root.join("link")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("new"), root.join("dangling")).unwrap();
    let fifo = root.join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let turn = Turn::begin(Client::builder().files(LocalFiles::new(&root).unwrap())).await;
    for path in ["link", "dangling", "fifo"] {
        let error = read(&turn, root.join(path)).await.unwrap_err();
        assert_eq!(error.code(), Some(-32602), "{error}");
        let error = write(&turn, root.join(path), "x").await.unwrap_err();
        assert_eq!(error.code(), Some(-32602), "{error}");
    }
    assert_eq!(fs::read(dir.path().join("secret")).unwrap(), b"secret");
    assert!(!dir.path().join("new").exists());
}

/// A file of a terabyte that takes no room, in which the lines asked for come first.
#[tokio::test]
async fn lines_of_a_huge_file_are_read_without_the_rest() {
    use io::Write as _;

    let (_dir, root) = root();
    let path = root.join("huge");
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(b"one\ntwo\nthree\n").unwrap();
    file.set_len(1 << 40).unwrap();
    let turn = Turn::begin(Client::builder().files(LocalFiles::new(&root).unwrap())).await;
    let request = ReadTextFileRequest::new("s", &path).line(2).limit(2);
    let response = turn.cx.request(&request).await.unwrap();
    assert_eq!(response.content, "two\nthree\n");
    let error = read(&turn, &path).await.unwrap_err();
    assert_eq!(error.code(), Some(-32602));
    // The line has no end, but what is kept of it has.
    let error = turn
        .cx
        .request(&request.line(4).limit(1))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Some(-32602));
}

#[tokio::test]
async fn concurrent_requests_see_whole_files() {
    let (_dir, root) = root();
    let path = root.join("file");
    let texts = ["a".repeat(300_000), "b".repeat(300_000)];
    let turn = Turn::begin(Client::builder().files(LocalFiles::new(&root).unwrap())).await;
    write(&turn, &path, &texts[0]).await.unwrap();
    for _ in 0..5 {
        let (first, second, seen) = tokio::join!(
            write(&turn, &path, &texts[0]),
            write(&turn, &path, &texts[1]),
            read(&turn, &path),
        );
        first.unwrap();
        second.unwrap();
        assert!(texts.contains(&seen.unwrap()));
    }
    assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
}

#[tokio::test]
async fn read_only_files_leave_writing_unanswered_for() {
    let (_dir, root) = root();
    fs::write(root.join("file"), "text").unwrap();
    let files = LocalFiles::new(&root).unwrap().read_only();
    assert!(!files.capabilities().write_text_file);
    let turn = Turn::begin(Client::builder().files(files.clone())).await;
    assert_eq!(read(&turn, root.join("file")).await.unwrap(), "text");
    let error = write(&turn, root.join("file"), "new").await.unwrap_err();
    assert_eq!(error.code(), Some(-32601));
    let request = WriteTextFileRequest::new("s", root.join("file"), "new");
    let error = files.write_text_file(request).await.unwrap_err();
    assert_eq!(i32::from(error.code), -32601);
    assert_eq!(fs::read(root.join("file")).unwrap(), b"text");
}

#[tokio::test]
async fn a_handler_that_comes_later_goes_first_and_can_ask_the_files() {
    let (_dir, root) = root();
    fs::write(root.join("saved"), "saved").unwrap();
    let files = LocalFiles::new(&root).unwrap();
    let builder = Client::builder().files(files.clone());
    let builder = builder.on_request(move |request: ReadTextFileRequest, _client| {
        let files = files.clone();
        async move {
            if request.path.ends_with("unsaved") {
                return Ok(ReadTextFileResponse::new("unsaved"));
            }
            Ok(files.read_text_file(request).await?)
        }
    });
    let turn = Turn::begin(builder).await;
    assert_eq!(read(&turn, root.join("unsaved")).await.unwrap(), "unsaved");
    assert_eq!(read(&turn, root.join("saved")).await.unwrap(), "saved");
    let error = read(&turn, root.join("neither")).await.unwrap_err();
    assert_eq!(error.code(), Some(-32002));
}

/// The reading of a terabyte ends with the request; otherwise the runtime would not end either, since it waits for its threads.
#[tokio::test]
async fn a_request_that_is_given_up_stops_the_reading() {
    let (_dir, root) = root();
    let path = root.join("huge");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let files = LocalFiles::new(&root).unwrap();
    let request = ReadTextFileRequest::new("s", &path).line(2);
    let mut reading = Box::pin(files.read_text_file(request));
    let first = std::future::poll_fn(|cx| std::task::Poll::Ready(reading.as_mut().poll(cx))).await;
    assert!(first.is_pending());
    drop(reading);
}

#[test]
fn the_blocking_client_has_them_too() {
    let (_dir, root) = root();
    fs::write(root.join("file"), "text").unwrap();
    let files = LocalFiles::new(&root).unwrap();
    let builder = endturn::blocking::Client::builder().files(files);
    let path = root.join("file");
    let said = turn::blocking(builder, move |cx| {
        let path = path.clone();
        async move {
            let request = ReadTextFileRequest::new("s", path);
            Ok(cx.request(&request).await?.content)
        }
    });
    assert_eq!(said, "text");
}
