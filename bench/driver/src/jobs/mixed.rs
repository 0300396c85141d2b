//! A hundred sessions stream, and a hundred others are cancelled each second.
//!
//! A streaming session sends an update every 10 ms, as a model does; all of them together are 10,000 a second.

use std::{
    collections::{HashMap, VecDeque},
    io::Write,
    process::{ChildStdin, Command},
    sync::mpsc::{self, Receiver, Sender, TryRecvError},
    thread,
    time::{Duration, Instant},
};

use super::{Figures, Job, Metric, Role, Scale, Target, Unit, micros};
use crate::{
    child::{Lines, Process, Result, unexpected},
    stats::percentile,
    wire,
};

const STREAMING: usize = 100;
const CANCELLED: usize = 100;
/// The ids of the streaming turns, beyond those of the cancelled ones.
const FIRST_STREAM: usize = 1_000_000;
/// From one cancel to the next.
const PAUSE: Duration = Duration::from_millis(10);

pub(super) const JOB: Job = Job {
    name: "mixed",
    role: Role::Agent,
    quick: false,
    metrics: &[
        Metric {
            name: "cancel beside 100 streaming sessions, p50",
            unit: Unit::Micros,
            target: None,
        },
        Metric {
            name: "cancel beside 100 streaming sessions, p99",
            unit: Unit::Micros,
            target: Some(Target::AtMost(1.15)),
        },
    ],
    run,
};

fn run(command: &mut Command, scale: &Scale) -> Result<Figures> {
    let mut agent = Process::agent(command)?;
    let sessions = agent.sessions(STREAMING + CANCELLED)?;
    let (streaming, cancelled) = sessions.split_at(STREAMING);
    let cancels = (scale.mixed.as_secs_f64() / PAUSE.as_secs_f64()) as usize;

    // Long enough that all of them stream until the last cancel is answered.
    let steps = 2 * cancels + 500;
    let script = format!("steps {steps} 10ms");
    let prompts: Vec<u8> = streaming
        .iter()
        .enumerate()
        .flat_map(|(number, session)| {
            wire::prompt(FIRST_STREAM + number, session, &script).into_bytes()
        })
        .collect();
    agent.send(&prompts)?;
    let Process { stdin, stdout, .. } = &mut agent;
    let times = thread::scope(|scope| {
        let (sent, cancels_sent) = mpsc::channel();
        let (answered, answers) = mpsc::channel();
        let reading = scope.spawn(move || read_answers(stdout, cancels, &cancels_sent, &answered));
        let mut canceller = Canceller {
            stdin,
            sessions: cancelled,
            next_id: 1,
            waiting: VecDeque::new(),
        };
        let written = canceller.cancel_all(cancels, &sent, &answers);
        let times = reading
            .join()
            .unwrap_or_else(|_| Err("the reader panicked".into()));
        // A reader that has failed is why the writer could not go on.
        times.and_then(|times| written.map(|()| times))
    })?;
    Ok(vec![percentile(&times, 50.0), percentile(&times, 99.0)])
}

/// A cancelled turn: its id, its session's place, and when it was cancelled.
type Cancelled = (usize, usize, Instant);

struct Canceller<'a> {
    stdin: &'a mut ChildStdin,
    sessions: &'a [String],
    next_id: usize,
    /// The turns that wait, the one that has waited longest first: its id and its session's place.
    waiting: VecDeque<(usize, usize)>,
}

impl Canceller<'_> {
    /// Cancels one turn in each interval, and starts the next one of a session when the last is answered.
    fn cancel_all(
        &mut self,
        cancels: usize,
        sent: &Sender<Cancelled>,
        answers: &Receiver<usize>,
    ) -> Result<()> {
        for place in 0..self.sessions.len() {
            self.prompt(place)?;
        }
        let mut next = Instant::now() + Duration::from_millis(500);
        let mut done = 0;
        while done < cancels {
            thread::sleep(next.saturating_duration_since(Instant::now()));
            next += PAUSE;
            loop {
                match answers.try_recv() {
                    Ok(place) => self.prompt(place)?,
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Err("nobody reads".into()),
                }
            }
            // An agent that has not answered the last hundred cancels is not sent another one.
            if let Some((id, place)) = self.waiting.pop_front() {
                let cancel = wire::cancel(&self.sessions[place]);
                sent.send((id, place, Instant::now()))?;
                self.stdin.write_all(cancel.as_bytes())?;
                done += 1;
            }
        }
        Ok(())
    }

    fn prompt(&mut self, place: usize) -> Result<()> {
        let prompt = wire::prompt(self.next_id, &self.sessions[place], "wait");
        self.stdin.write_all(prompt.as_bytes())?;
        self.waiting.push_back((self.next_id, place));
        self.next_id += 1;
        Ok(())
    }
}

fn read_answers(
    lines: &mut Lines,
    cancels: usize,
    sent: &Receiver<Cancelled>,
    answered: &Sender<usize>,
) -> Result<Vec<f64>> {
    let mut open = HashMap::new();
    let mut times = Vec::with_capacity(cancels);
    while times.len() < cancels {
        let line = lines.line()?;
        if wire::is_update(line) {
            continue;
        }
        let now = Instant::now();
        let id = wire::id(line).and_then(|id| id.parse::<usize>().ok());
        if id.is_some_and(|id| id >= FIRST_STREAM) {
            // The agent is so late that its streams are over; the last cancels have that much less beside them.
            continue;
        }
        open.extend(sent.try_iter().map(|(id, place, at)| (id, (place, at))));
        let cancelled = id.and_then(|id| open.remove(&id));
        let (place, at) = cancelled
            .filter(|_| memchr::memmem::find(line, b"\"stopReason\"").is_some())
            .ok_or_else(|| unexpected("the answer to a cancelled turn", line))?;
        times.push(micros(now.duration_since(at)));
        // The writer has left when it has sent its last cancel.
        let _ = answered.send(place);
    }
    Ok(times)
}
