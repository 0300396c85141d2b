//! Requests other than prompts, at both of their ends.

pub mod incoming {
    //! A request from the peer: answered exactly once.

    /// Where an incoming request stands. It begins in [`Request::Running`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Request {
        /// Its handler runs.
        Running,
        /// Its answer is decided.
        Answered,
    }

    /// What can happen to an incoming request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Input {
        /// The handler is done, in whichever way.
        Finished,
        /// `$/cancel_request` that names it.
        Cancel,
        /// `session/cancel` for the session of a question to the user.
        TurnCancelled,
        /// The connection is lost.
        Lost,
    }

    /// What the driver has to do about an input.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Output {
        /// Nothing.
        Ignore,
        /// Answer with the handler's result.
        Answer,
        /// Answer with error `-32800`, then drop the handler.
        Interrupt,
        /// Answer with the outcome `cancelled`, then drop the handler.
        SettleCancelled,
        /// Drop the handler, there is nobody to answer.
        Forget,
    }

    /// Applies one input to an incoming request.
    #[must_use]
    pub const fn apply(request: Request, input: Input) -> (Request, Output) {
        use Input::{Cancel, Finished, Lost, TurnCancelled};
        use Request::{Answered, Running};

        match (request, input) {
            (Running, Finished) => (Answered, Output::Answer),
            (Running, Cancel) => (Answered, Output::Interrupt),
            (Running, TurnCancelled) => (Answered, Output::SettleCancelled),
            (Running, Lost) => (Answered, Output::Forget),
            (Answered, Finished | Cancel | TurnCancelled | Lost) => (Answered, Output::Ignore),
        }
    }
}

pub mod outgoing {
    //! A request to the peer: settled exactly once, and cancelled at most once.

    /// Where an outgoing request stands. It begins in [`Request::Unsent`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Request {
        /// It waits for room in the outgoing buffer.
        Unsent,
        /// It waits for room, and was asked to stop meanwhile.
        UnsentCancelled,
        /// It is on the wire.
        Open,
        /// `$/cancel_request` is on the wire too, and the answer is awaited.
        Cancelling,
        /// The caller has left, and the peer still owes the answer.
        Quarantined,
        /// Nothing more is expected.
        Ended,
    }

    /// What can happen to an outgoing request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Input {
        /// It has its place in the outgoing buffer.
        Written,
        /// The caller wants it to stop, and waits for the answer.
        Cancel,
        /// The peer answered.
        Answer,
        /// The caller does not wait any longer: its future was dropped, or its timeout passed.
        GiveUp,
        /// The connection is lost.
        Lost,
    }

    /// What the driver has to do about an input.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Output {
        /// Nothing.
        Ignore,
        /// Put `$/cancel_request` on the wire.
        SendCancel,
        /// Take the request back, nothing of it is on the wire.
        Withdraw,
        /// Tell the caller the answer.
        Settle,
        /// Tell the caller that the connection is gone.
        SettleLost,
        /// Drop the answer: nobody waits for it.
        Discard,
    }

    /// Applies one input to an outgoing request.
    #[must_use]
    pub const fn apply(request: Request, input: Input) -> (Request, Output) {
        use Input::{Answer, Cancel, GiveUp, Lost, Written};
        use Request::{Cancelling, Ended, Open, Quarantined, Unsent, UnsentCancelled};

        match (request, input) {
            (Unsent, Written) => (Open, Output::Ignore),
            (Unsent, Cancel) => (UnsentCancelled, Output::Ignore),
            (UnsentCancelled, Written) => (Cancelling, Output::SendCancel),
            (UnsentCancelled, Cancel) => (UnsentCancelled, Output::Ignore),
            (Unsent | UnsentCancelled, GiveUp) => (Ended, Output::Withdraw),
            (Unsent | UnsentCancelled, Lost) => (Ended, Output::SettleLost),
            (Unsent | UnsentCancelled, Answer) => (request, Output::Ignore),

            (Open, Written) => (Open, Output::Ignore),
            (Open, Cancel) => (Cancelling, Output::SendCancel),
            (Open, GiveUp) => (Quarantined, Output::SendCancel),

            // One cancel is enough, whoever asks for the second.
            (Cancelling, Written | Cancel) => (Cancelling, Output::Ignore),
            (Cancelling, GiveUp) => (Quarantined, Output::Ignore),

            (Open | Cancelling, Answer) => (Ended, Output::Settle),
            (Open | Cancelling, Lost) => (Ended, Output::SettleLost),

            (Quarantined, Answer) => (Ended, Output::Discard),
            (Quarantined, Lost) => (Ended, Output::Ignore),
            (Quarantined, Written | Cancel | GiveUp) => (Quarantined, Output::Ignore),

            (Ended, Answer) => (Ended, Output::Discard),
            (Ended, Written | Cancel | GiveUp | Lost) => (Ended, Output::Ignore),
        }
    }
}
