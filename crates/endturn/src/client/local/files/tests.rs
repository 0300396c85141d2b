use std::{
    fs,
    io::{BufReader, Cursor},
    path::PathBuf,
};

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::{
    read::{Fault, lines},
    refusal::{outside, refused},
    *,
};

/// A served directory `root` with a neighbour `outside` that is not served.
struct Fixture {
    _dir: TempDir,
    root: PathBuf,
    outside: PathBuf,
    files: LocalFiles,
}

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (root, outside) = (base.join("root"), base.join("outside"));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    let files = LocalFiles::new(&root).unwrap();
    Fixture {
        _dir: dir,
        root,
        outside,
        files,
    }
}

impl Fixture {
    fn read(&self, path: impl AsRef<Path>) -> Result<String, v1::Error> {
        let request = ReadTextFileRequest::new("s", self.root.join(path));
        read::read(&self.files.roots, &request, 1000, &|| false)
    }

    fn write(&self, path: impl AsRef<Path>, text: &str) -> Result<(), v1::Error> {
        let path = self.root.join(path);
        write::write(&self.files.roots, &path, text.as_bytes())
    }

    fn on_disk(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// The names in the root.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.root).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn assert_invalid<T: std::fmt::Debug>(result: Result<T, v1::Error>, field: &str) {
    let error = result.unwrap_err();
    assert_eq!(i32::from(error.code), -32602, "{error}");
    assert_eq!(error.data.unwrap()["field"], field);
}

fn assert_outside<T: std::fmt::Debug>(result: Result<T, v1::Error>) {
    assert_eq!(result.unwrap_err(), outside());
}

#[test]
fn a_path_counts_from_the_longest_root_that_it_begins_with() {
    let it = fixture();
    fs::create_dir_all(it.root.join("a/b")).unwrap();
    let files = LocalFiles::new(&it.root).unwrap();
    let files = files.root(it.root.join("a/b")).unwrap();
    for (path, expected) in [
        ("a/b/c", "c"),
        ("a/c", "a/c"),
        ("a/b", ""),
        ("a/bc", "a/bc"),
    ] {
        let path = it.root.join(path);
        let (_, rest) = files.roots.of(&path).unwrap();
        assert_eq!(rest, Path::new(expected));
    }
    assert!(files.roots.of(&it.outside).is_none());
    // Whole names count, not characters.
    assert!(files.roots.of(&it.root.with_file_name("rooted")).is_none());
}

#[test]
fn relative_paths_and_those_outside_are_refused() {
    let it = fixture();
    let request = ReadTextFileRequest::new("s", "secret");
    assert_invalid(read::read(&it.files.roots, &request, 9, &|| false), "path");
    assert_invalid(write::write(&it.files.roots, Path::new("a"), b""), "path");
    for path in [
        it.outside.join("secret"),
        PathBuf::from("/"),
        it.outside.join("nonesuch"),
    ] {
        assert_outside(it.read(&path));
        assert_outside(it.write(&path, "x"));
    }
    assert_eq!(
        fs::read_to_string(it.outside.join("secret")).unwrap(),
        "secret"
    );
}

#[test]
fn dots_are_followed_as_long_as_they_stay() {
    let it = fixture();
    fs::create_dir(it.root.join("a")).unwrap();
    fs::write(it.root.join("b"), "b").unwrap();
    assert_eq!(it.read("a/../b").unwrap(), "b");
    assert_eq!(it.read("./a/./../b").unwrap(), "b");
    for path in [
        "a/../../outside/secret",
        "../root/b",
        "../outside/secret",
        "a/../..",
    ] {
        assert_outside(it.read(path));
        assert_outside(it.write(path, "x"));
    }
    // As the system has it, and not by cutting names away.
    assert!(it.read("nonesuch/../b").is_err());
    assert_invalid(it.read("b/../b"), "path");
}

#[test]
fn what_is_missing_is_told_by_the_path_that_was_asked_for() {
    let it = fixture();
    for path in ["nonesuch", "no/such/file"] {
        let error = it.read(path).unwrap_err();
        assert_eq!(i32::from(error.code), -32002);
        assert_eq!(error.data, Some(json!({ "uri": it.root.join(path) })));
    }
}

#[test]
fn a_directory_is_neither_read_nor_written() {
    let it = fixture();
    fs::create_dir(it.root.join("a")).unwrap();
    fs::write(it.root.join("file"), "text").unwrap();
    for path in ["", ".", "a", "a/", "a/.."] {
        assert_invalid(it.read(path), "path");
        assert_invalid(it.write(path, "x"), "path");
    }
    assert_invalid(it.read("file/below"), "path");
    assert_invalid(it.write("file/below", "x"), "path");
    assert_eq!(it.names(), ["a", "file"]);
}

#[test]
fn a_missing_file_is_created_with_its_directories() {
    let it = fixture();
    it.write("a/b/c", "text").unwrap();
    assert_eq!(it.on_disk("a/b/c"), "text");
    it.write("a/b/c", "").unwrap();
    assert_eq!(it.on_disk("a/b/c"), "");
    let long = "n".repeat(250);
    it.write(&long, "text").unwrap();
    assert_eq!(it.on_disk(&long), "text");
}

#[test]
fn text_comes_as_it_is_in_the_file_and_only_if_it_is_text() {
    let it = fixture();
    for text in ["", "\u{FEFF}a\r\nb\r\n\n", "no end", "é€😀\0"] {
        it.write("file", text).unwrap();
        assert_eq!(it.read("file").unwrap(), text);
    }
    fs::write(it.root.join("file"), b"ok\n\xFF\n").unwrap();
    assert_invalid(it.read("file"), "path");
    let second = ReadTextFileRequest::new("s", it.root.join("file")).limit(1);
    let read = read::read(&it.files.roots, &second, 9, &|| false);
    assert_eq!(read.unwrap(), "ok\n", "the other line was not asked for");
}

#[test]
fn a_limit_counts_what_is_returned() {
    let it = fixture();
    it.write("file", "123\n5678\n").unwrap();
    let read = |line: Option<u32>, limit: Option<u32>, max| {
        let request = ReadTextFileRequest::new("s", it.root.join("file"));
        read::read(
            &it.files.roots,
            &request.line(line).limit(limit),
            max,
            &|| false,
        )
    };
    assert_eq!(read(None, None, 9).unwrap(), "123\n5678\n");
    let error = read(None, None, 8).unwrap_err();
    assert_eq!(i32::from(error.code), -32602);
    assert_eq!(error.data.as_ref().unwrap()["field"], "limit");
    assert_eq!(error.data.as_ref().unwrap()["limit"], 8);
    assert_eq!(read(Some(2), None, 5).unwrap(), "5678\n");
    assert_invalid(read(Some(2), None, 4), "limit");
    assert_eq!(read(None, Some(1), 4).unwrap(), "123\n");
    assert_invalid(read(None, Some(1), 3), "limit");
    assert_invalid(read(Some(0), None, 9), "line");
    assert_eq!(read(Some(3), None, 9).unwrap(), "");
    assert_eq!(read(Some(u32::MAX), Some(u32::MAX), 9).unwrap(), "");
    assert_eq!(read(Some(1), Some(0), 0).unwrap(), "");
}

#[test]
fn an_error_of_the_system_is_told_in_a_few_words() {
    let path = Path::new("/asked/for");
    let error = io::Error::new(io::ErrorKind::StorageFull, "/dev/sda1 of alice is full");
    let told = refused(path, &error);
    assert_eq!(i32::from(told.code), -32603);
    let data = told.data.unwrap();
    assert_eq!(
        data,
        json!({ "path": "/asked/for", "reason": "no storage space" })
    );
    // EACCES is not taken for an attempt to leave the root, which has no number.
    let denied = io::Error::from(io::ErrorKind::PermissionDenied);
    assert_eq!(refused(path, &denied), outside());
    #[cfg(unix)]
    {
        let denied = io::Error::from_raw_os_error(rustix::io::Errno::ACCESS.raw_os_error());
        assert_eq!(
            refused(path, &denied).data.unwrap()["reason"],
            "permission denied"
        );
    }
}

#[test]
fn reading_stops_when_nobody_wants_the_text_any_more() {
    let stopped = lines(Cursor::new(b"a\nb\n"), 1, None, 9, &|| true);
    assert!(matches!(stopped, Err(Fault::Stopped)), "{stopped:?}");
}

proptest! {
    #[test]
    fn lines_are_those_that_splitting_the_whole_text_gives(
        text in "[ab\r\n]{0,40}",
        skip in 0_u32..8,
        limit in prop::option::of(0_u32..8),
        block in 1_usize..9,
    ) {
        let split = text.split_inclusive('\n').skip(skip as usize);
        let expected: String = split.take(limit.map_or(usize::MAX, |limit| limit as usize)).collect();
        let file = BufReader::with_capacity(block, Cursor::new(&text));
        let size = expected.len() as u64;
        let read = lines(file, skip, limit, size, &|| false).unwrap();
        prop_assert_eq!(String::from_utf8(read).unwrap(), expected);
        if size > 0 {
            let file = BufReader::with_capacity(block, Cursor::new(&text));
            let read = lines(file, skip, limit, size - 1, &|| false);
            prop_assert!(matches!(read, Err(Fault::TooLarge)));
        }
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
    use std::process::Command;

    use super::*;

    #[test]
    fn a_root_can_be_reached_through_a_link_and_keeps_both_names() {
        let it = fixture();
        let link = it.outside.join("link");
        symlink(&it.root, &link).unwrap();
        it.write("file", "text").unwrap();
        let files = LocalFiles::new(&link).unwrap();
        for root in [&link, &it.root] {
            let request = ReadTextFileRequest::new("s", root.join("file"));
            let read = read::read(&files.roots, &request, 9, &|| false);
            assert_eq!(read.unwrap(), "text");
        }
        LocalFiles::new(it.root.join("file")).unwrap_err();
        LocalFiles::new(it.root.join("nonesuch")).unwrap_err();
    }

    #[test]
    fn links_are_followed_as_long_as_they_stay() {
        let it = fixture();
        it.write("a/file", "text").unwrap();
        symlink("a", it.root.join("relative")).unwrap();
        symlink(it.root.join("a"), it.root.join("absolute")).unwrap();
        symlink("../absolute/file", it.root.join("a/chain")).unwrap();
        for path in [
            "relative/file",
            "absolute/file",
            "a/chain",
            "relative/../a/file",
        ] {
            assert_eq!(it.read(path).unwrap(), "text", "{path}");
            it.write(path, path).unwrap();
            assert_eq!(it.on_disk("a/file"), path, "written through the link");
            it.write("a/file", "text").unwrap();
        }
        let chain = it.root.join("a/chain");
        assert!(chain.symlink_metadata().unwrap().is_symlink());
    }

    #[test]
    fn links_from_one_root_to_another_are_followed() {
        let it = fixture();
        symlink(it.outside.join("secret"), it.root.join("link")).unwrap();
        let files = it.files.clone().root(&it.outside).unwrap();
        let request = ReadTextFileRequest::new("s", it.root.join("link"));
        let read = read::read(&files.roots, &request, 9, &|| false);
        assert_eq!(read.unwrap(), "secret");
    }

    #[test]
    fn links_that_leave_are_refused_and_nothing_outside_is_touched() {
        let it = fixture();
        let secret = it.outside.join("secret");
        symlink(&secret, it.root.join("absolute")).unwrap();
        symlink("../outside/secret", it.root.join("relative")).unwrap();
        symlink("../outside", it.root.join("dir")).unwrap();
        symlink("dir/secret", it.root.join("chain")).unwrap();
        // Links to what is not there would create it.
        symlink(it.outside.join("new"), it.root.join("dangling")).unwrap();
        symlink("../outside/new", it.root.join("dangling_relative")).unwrap();
        symlink("../outside/newdir", it.root.join("dangling_dir")).unwrap();
        for path in [
            "absolute",
            "relative",
            "dir/secret",
            "dir/nonesuch",
            "chain",
            "dangling",
            "dangling_relative",
            "dangling_dir/file",
        ] {
            assert_outside(it.read(path));
            assert_outside(it.write(path, "overwritten"));
        }
        assert_eq!(fs::read_to_string(secret).unwrap(), "secret");
        assert_eq!(fs::read_dir(&it.outside).unwrap().count(), 1);
    }

    #[test]
    fn a_link_that_dangles_inside_creates_what_it_names() {
        let it = fixture();
        symlink("a/new", it.root.join("link")).unwrap();
        it.write("link", "text").unwrap();
        assert_eq!(it.on_disk("a/new"), "text");
    }

    #[test]
    fn links_in_a_circle_come_to_an_end() {
        let it = fixture();
        symlink("b", it.root.join("a")).unwrap();
        symlink("a", it.root.join("b")).unwrap();
        assert_invalid(it.read("a"), "path");
        assert_invalid(it.write("a/c", "x"), "path");
    }

    /// A directory that becomes a link after the path was resolved.
    #[test]
    fn a_link_that_is_swapped_in_leads_nowhere() {
        let it = fixture();
        fs::create_dir(it.root.join("dir")).unwrap();
        fs::write(it.root.join("dir/secret"), "inside").unwrap();
        let place = it.files.roots.resolve(&it.root.join("dir/secret")).unwrap();
        fs::remove_dir_all(it.root.join("dir")).unwrap();
        symlink(&it.outside, it.root.join("dir")).unwrap();

        let path = Path::new("/asked");
        let opened = place.dir.open(&place.path);
        assert_outside(opened.map_err(|error| refused(path, &error)));
        let opened = place.dir.open_dir(place.path.parent().unwrap());
        assert_outside(opened.map_err(|error| refused(path, &error)));
        let made = place.dir.create_dir_all("dir/new");
        assert_outside(made.map_err(|error| refused(path, &error)));
        assert_eq!(fs::read_dir(&it.outside).unwrap().count(), 1);
    }

    #[test]
    fn pipes_and_devices_are_refused_without_waiting() {
        let it = fixture();
        let fifo = it.root.join("fifo");
        assert!(
            Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        assert_invalid(it.read("fifo"), "path");
        assert_invalid(it.write("fifo", "x"), "path");
        assert!(fifo.metadata().unwrap().file_type().is_fifo());
        // One that comes between the look and the opening.
        let mut options = cap_std::fs::OpenOptions::new();
        let options = read::without_waiting(options.read(true));
        let place = it.files.roots.resolve(&fifo).unwrap();
        let file = place.dir.open_with(&place.path, options).unwrap();
        assert_invalid(read::is_regular(&file.metadata().unwrap()), "path");

        let devices = LocalFiles::new("/dev").unwrap();
        let request = ReadTextFileRequest::new("s", "/dev/null");
        assert_invalid(read::read(&devices.roots, &request, 9, &|| false), "path");
        let written = write::write(&devices.roots, Path::new("/dev/null"), b"x");
        assert_invalid(written, "path");
    }

    #[test]
    fn a_file_is_replaced_in_one_step_and_keeps_its_permissions() {
        let it = fixture();
        it.write("file", "old").unwrap();
        let path = it.root.join("file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        let reader = fs::File::open(&path).unwrap();
        it.write("file", "new text").unwrap();
        assert_eq!(it.on_disk("file"), "new text");
        let old = std::io::read_to_string(reader).unwrap();
        assert_eq!(old, "old", "whoever had opened it has the old text");
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o751);
        assert_eq!(it.names(), ["file"]);
    }

    #[test]
    fn after_a_failed_write_the_file_is_as_it_was() {
        let it = fixture();
        it.write("file", "old").unwrap();
        // The last step fails, when all the text has been written to the temporary file.
        let place = it.files.roots.resolve(&it.root).unwrap();
        fs::create_dir_all(it.root.join("full/x")).unwrap();
        write::replace(place.dir, "full".as_ref(), b"new", None).unwrap_err();
        assert_eq!(it.names(), ["file", "full"]);
        assert_eq!(it.on_disk("file"), "old");
    }

    #[test]
    fn of_concurrent_writes_one_wins_whole() {
        let it = fixture();
        let texts: Vec<String> = (0..8).map(|n: u32| n.to_string().repeat(100_000)).collect();
        std::thread::scope(|scope| {
            for text in &texts {
                scope.spawn(|| {
                    for _ in 0..5 {
                        it.write("file", text).unwrap();
                        let read = it.on_disk("file");
                        assert!(texts.contains(&read), "a torn text of {} bytes", read.len());
                    }
                });
            }
        });
        assert_eq!(it.names(), ["file"]);
    }
}
