use std::time::Duration;

use super::*;

fn ids(page: &ListSessionsResponse) -> Vec<String> {
    let sessions = page.sessions.iter();
    sessions.map(|info| info.session_id.to_string()).collect()
}

#[test]
fn pages_go_from_the_newest_to_the_oldest_and_each_session_stands_on_one() {
    let sessions = Sessions::default();
    let count = 2 * PAGE_SIZE + 3;
    for _ in 0..count {
        sessions.open("/".into());
    }
    let mut found = Vec::new();
    let mut cursor = None;
    let mut pages = 0;
    loop {
        let page = sessions.list(None, cursor.as_deref()).unwrap();
        found.extend(ids(&page));
        pages += 1;
        // What is used meanwhile goes to the front, and is not shown a second time.
        sessions
            .prompted(&SessionId::new("session-40"), "hi")
            .unwrap();
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let expected: Vec<_> = (1..=count).rev().map(|n| format!("session-{n}")).collect();
    assert_eq!(found, expected);
    assert_eq!(pages, 3);
}

#[test]
fn a_page_that_is_just_full_is_the_last() {
    let sessions = Sessions::default();
    for _ in 0..PAGE_SIZE {
        sessions.open("/".into());
    }
    let page = sessions.list(None, None).unwrap();
    assert_eq!((page.sessions.len(), page.next_cursor), (PAGE_SIZE, None));
    assert!(sessions.list(None, Some("soon")).is_err());
}

#[test]
fn a_list_is_of_one_directory_and_says_when_and_what() {
    let sessions = Sessions::default();
    let (a, _) = sessions.open("/a".into());
    sessions.open("/b".into());
    sessions.prompted(&a, "\n  Look around \nsay x").unwrap();
    sessions.prompted(&a, "Something else").unwrap();

    let page = sessions.list(Some(Path::new("/a")), None).unwrap();
    assert_eq!(ids(&page), ["session-1"]);
    assert_eq!(page.sessions[0].title.as_deref(), Some("Look around"));
    let updated = page.sessions[0].updated_at.as_deref().unwrap();
    let age = Timestamp::now().duration_since(updated.parse().unwrap());
    assert!(!age.is_negative() && Duration::try_from(age).unwrap() < Duration::from_secs(60));

    sessions.set_title(&a, "Named");
    let page = sessions.list(Some(Path::new("/a")), None).unwrap();
    assert_eq!(page.sessions[0].title.as_deref(), Some("Named"));
    let page = sessions.list(Some(Path::new("/a/b")), None).unwrap();
    assert!(page.sessions.is_empty());
}

#[test]
fn long_titles_end_at_a_character() {
    assert_eq!(title(&"ä".repeat(60)), Some("ä".repeat(60)));
    assert_eq!(title(&"ä".repeat(61)), Some("ä".repeat(60) + "…"));
    assert_eq!(title(" \n "), None);
}

#[test]
fn the_session_that_was_used_least_recently_is_forgotten() {
    let sessions = Sessions::default();
    let (first, _) = sessions.open("/".into());
    let (second, _) = sessions.open("/".into());
    sessions.prompted(&first, "hi").unwrap();
    for _ in 2..=SESSIONS_KEPT {
        sessions.open("/".into());
    }
    assert!(sessions.settings(&first).is_ok());
    let error = sessions.settings(&second).unwrap_err();
    assert_eq!(error, Error::session_not_found(second));
}

#[test]
fn a_closed_session_can_only_be_taken_up_again() {
    let sessions = Sessions::default();
    let (id, _) = sessions.open("/".into());
    sessions.choose(&id, |it| it.mode = Mode::Careful).unwrap();
    sessions.close(&id).unwrap();
    assert!(sessions.prompted(&id, "hi").is_err());
    assert!(sessions.close(&id).is_err());
    assert_eq!(sessions.list(None, None).unwrap().sessions.len(), 1);

    let (settings, _) = sessions.reopen(&id, "/b".into()).unwrap();
    assert_eq!(settings.mode, Mode::Careful);
    assert_eq!(sessions.cwd(&id).unwrap(), Path::new("/b"));

    sessions.delete(&id);
    assert!(sessions.reopen(&id, "/".into()).is_err());
    // The protocol wants it to be no error.
    sessions.delete(&id);
}

#[test]
fn the_history_is_what_both_have_said() {
    let sessions = Sessions::default();
    let (id, _) = sessions.open("/".into());
    sessions.prompted(&id, "one").unwrap();
    sessions.prompted(&id, "two").unwrap();
    sessions.said(&id, "a");
    sessions.said(&id, "b");
    let (_, history) = sessions.reopen(&id, "/".into()).unwrap();
    let said: Vec<_> = history
        .iter()
        .map(|it| (it.id.as_str(), it.speaker, it.text.as_str()))
        .collect();
    // The second message would have been the answer to the first, which has none.
    assert_eq!(
        said,
        [
            ("message-1", Speaker::User, "one"),
            ("message-3", Speaker::User, "two"),
            ("message-4", Speaker::Agent, "ab"),
        ]
    );
}

#[test]
fn of_a_long_history_the_end_is_kept() {
    let mut history = History::default();
    history.begin(Speaker::User);
    history.add("question");
    history.begin(Speaker::Agent);
    for _ in 0..HISTORY_BYTES {
        history.add("äx");
    }
    history.add("end");
    let messages = history.messages();
    assert_eq!(messages.len(), 1, "the question was older");
    let text = &messages[0].text;
    assert!(text.len() <= HISTORY_BYTES && text.len() >= HISTORY_BYTES / 2 - 4);
    assert!(text.ends_with("äxend"));
}
