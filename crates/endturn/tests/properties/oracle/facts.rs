//! What a trace says about one end of the connection, request by request.

use std::collections::HashMap;

use serde_json::Value;

use super::race::Moment;
use crate::trace::{End, Entry, Event, Finish, Kind, Outcome};

/// One end of a trace.
pub(crate) struct Facts<'a> {
    pub(crate) end: End,
    /// All that happened at this end.
    pub(crate) events: Vec<(Moment, &'a Event)>,
    pub(crate) incoming: Vec<Incoming<'a>>,
    pub(crate) outgoing: Vec<Outgoing<'a>>,
    /// `session/cancel` and `session/update`, as they were read or written at this end.
    pub(crate) notes: Vec<Note<'a>>,
    /// Answers that belong to no request that was read.
    pub(crate) strays: Vec<(Moment, &'a Value)>,
    /// When the connection was lost, or closed from this side.
    pub(crate) lost: Option<Moment>,
    /// When the agent began to shut down.
    pub(crate) shuts_down: Option<Moment>,
}

/// A request that this end has read.
pub(crate) struct Incoming<'a> {
    pub(crate) label: &'a str,
    pub(crate) method: &'a str,
    pub(crate) session: &'a str,
    id: &'a Value,
    pub(crate) read: Moment,
    /// When its handler began, and whether that was cancelled at once.
    pub(crate) begins: Option<(Moment, bool)>,
    pub(crate) finishes: Option<(Moment, &'a Finish)>,
    pub(crate) gone: Option<Moment>,
    /// When a `$/cancel_request` for it was read.
    pub(crate) cancelled: Option<Moment>,
    pub(crate) answers: Vec<(Moment, &'a Value)>,
}

/// A request that this end has sent, or wanted to.
pub(crate) struct Outgoing<'a> {
    pub(crate) label: &'a str,
    pub(crate) kind: Kind,
    pub(crate) limit: u64,
    pub(crate) calls: Moment,
    pub(crate) session: &'a str,
    id: Option<&'a Value>,
    pub(crate) wrote: Option<Moment>,
    /// `$/cancel_request` for it, on the wire.
    pub(crate) cancels: Vec<Moment>,
    pub(crate) answer: Option<(Moment, &'a Value)>,
    /// When its own signal was cancelled, or when it was called if that was later.
    pub(crate) signals: Option<Moment>,
    pub(crate) left: Option<Moment>,
    pub(crate) returned: Option<(Moment, &'a Outcome)>,
}

/// A notification about a session.
pub(crate) struct Note<'a> {
    pub(crate) moment: Moment,
    pub(crate) written: bool,
    pub(crate) method: &'a str,
    pub(crate) session: &'a str,
    /// The name of an update.
    pub(crate) update: &'a str,
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

impl<'a> Facts<'a> {
    pub(crate) fn new(trace: &'a [Entry], end: End) -> Self {
        let mut facts = Self {
            end,
            events: Vec::new(),
            incoming: Vec::new(),
            outgoing: Vec::new(),
            notes: Vec::new(),
            strays: Vec::new(),
            lost: None,
            shuts_down: None,
        };
        let mut signals: HashMap<&str, Moment> = HashMap::new();
        for (place, entry) in trace.iter().enumerate() {
            let Entry { at, event, .. } = entry;
            let moment = Moment { at: *at, place };
            if entry.end == end {
                facts.events.push((moment, event));
                facts.note(moment, event, &mut signals);
            }
        }
        for call in &mut facts.outgoing {
            let signalled = signals.get(call.label);
            call.signals = signalled.map(|moment| (*moment).max(call.calls));
        }
        facts
    }

    fn note(&mut self, moment: Moment, event: &'a Event, signals: &mut HashMap<&'a str, Moment>) {
        match event {
            Event::Wrote(line) => self.line(moment, line, true),
            Event::Read(line) => self.line(moment, line, false),
            Event::Lost | Event::Served => {
                self.lost.get_or_insert(moment);
            }
            Event::ShutsDown => {
                self.shuts_down.get_or_insert(moment);
            }
            Event::Calls {
                call,
                session,
                kind,
                limit,
            } => self.outgoing.push(Outgoing {
                label: call,
                kind: *kind,
                limit: *limit,
                calls: moment,
                session,
                id: None,
                wrote: None,
                cancels: Vec::new(),
                answer: None,
                signals: None,
                left: None,
                returned: None,
            }),
            Event::Signals { call } => {
                signals.entry(call).or_insert(moment);
            }
            Event::Left { call } => self.call(call, |call| call.left = Some(moment)),
            Event::Returned { call, outcome } => {
                self.call(call, |call| call.returned = Some((moment, outcome)));
            }
            Event::Begins { request, cancelled } => {
                self.request(request, |request| {
                    request.begins = Some((moment, *cancelled))
                });
            }
            Event::Finishes { request, finish } => {
                self.request(request, |request| request.finishes = Some((moment, finish)));
            }
            Event::Gone { request } => {
                self.request(request, |request| request.gone = Some(moment));
            }
            // They are not about one request; the rules look for them themselves.
            Event::Cancels { .. }
            | Event::Waits { .. }
            | Event::Notices { .. }
            | Event::Registers { .. }
            | Event::Called { .. }
            | Event::ToldOfCancel { .. }
            | Event::Sends { .. }
            | Event::Sent { .. }
            | Event::Refused { .. } => {}
        }
    }

    fn line(&mut self, moment: Moment, line: &'a Value, written: bool) {
        let method = text(line, "/method");
        let session = text(line, "/params/sessionId");
        let label = text(line, "/params/_meta/call");
        match (line.get("id"), method, written) {
            (Some(id), "", false) => {
                let mut calls = self.outgoing.iter_mut();
                match calls.find(|call| call.id == Some(id) && call.answer.is_none()) {
                    Some(call) => call.answer = Some((moment, line)),
                    None => self.strays.push((moment, line)),
                }
            }
            (Some(id), "", true) => {
                let mut requests = self.incoming.iter_mut();
                match requests.find(|request| request.id == id) {
                    Some(request) => request.answers.push((moment, line)),
                    None => self.strays.push((moment, line)),
                }
            }
            (Some(id), _, false) => self.incoming.push(Incoming {
                label,
                method,
                session,
                id,
                read: moment,
                begins: None,
                finishes: None,
                gone: None,
                cancelled: None,
                answers: Vec::new(),
            }),
            (Some(id), _, true) => self.call(label, |call| {
                call.id = Some(id);
                call.wrote = Some(moment);
            }),
            (None, "$/cancel_request", _) => {
                let id = line.pointer("/params/requestId");
                let mut calls = self.outgoing.iter_mut();
                let mut requests = self.incoming.iter_mut();
                if written {
                    match calls.find(|call| call.id == id && id.is_some()) {
                        Some(call) => call.cancels.push(moment),
                        None => self.strays.push((moment, line)),
                    }
                } else if let Some(request) = requests.find(|request| Some(request.id) == id) {
                    request.cancelled.get_or_insert(moment);
                }
            }
            (None, _, _) => self.notes.push(Note {
                moment,
                written,
                method,
                session,
                update: text(line, "/params/update/content/text"),
            }),
        }
    }

    /// Notes something about the call with this label, if it was made at this end.
    fn call(&mut self, label: &str, note: impl FnOnce(&mut Outgoing<'a>)) {
        let mut calls = self.outgoing.iter_mut();
        if let Some(call) = calls.find(|call| call.label == label) {
            note(call);
        }
    }

    /// The same for a request that has arrived.
    fn request(&mut self, label: &str, note: impl FnOnce(&mut Incoming<'a>)) {
        let mut requests = self.incoming.iter_mut();
        if let Some(request) = requests.find(|request| request.label == label) {
            note(request);
        }
    }

    /// The notifications of one kind, read or written.
    pub(crate) fn notes(&self, method: &str, written: bool) -> impl Iterator<Item = &Note<'a>> {
        let notes = self.notes.iter();
        notes.filter(move |note| note.method == method && note.written == written)
    }

    /// Whether the connection was lost by then; in the instant of the loss anything may still happen.
    pub(crate) fn is_lost_by(&self, at: u64) -> bool {
        self.lost.is_some_and(|lost| lost.at <= at)
    }
}

impl Incoming<'_> {
    pub(crate) fn is_prompt(&self) -> bool {
        self.method == "session/prompt"
    }

    pub(crate) fn is_close(&self) -> bool {
        self.method == "session/close"
    }

    pub(crate) fn answer(&self) -> Option<(Moment, &Value)> {
        self.answers.first().copied()
    }

    /// Whether it was refused because of what its session was doing, or because the agent shuts down.
    pub(crate) fn is_rejected(&self) -> bool {
        self.answer()
            .is_some_and(|(_, answer)| code(answer) == Some(-32600))
    }
}

/// The code of an error.
pub(crate) fn code(answer: &Value) -> Option<i64> {
    answer.pointer("/error/code").and_then(Value::as_i64)
}

/// The stop reason of a result.
pub(crate) fn stop_reason(answer: &Value) -> Option<&str> {
    answer.pointer("/result/stopReason").and_then(Value::as_str)
}

/// What the caller gets for an answer.
pub(crate) fn outcome(answer: &Value) -> Outcome {
    match code(answer) {
        Some(code) => Outcome::Error(code),
        None => Outcome::Answered(stop_reason(answer).unwrap_or("").to_owned()),
    }
}

/// The turn that an update or a question belongs to.
pub(crate) fn turn_of(name: &str) -> &str {
    let name = name.trim_start_matches("ask ");
    name.split('.').next().unwrap_or("")
}

/// The number of a prompt.
pub(crate) fn number(prompt: &str) -> &str {
    prompt.trim_start_matches("prompt ")
}
