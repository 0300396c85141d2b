//! A runtime on a thread of its own, and how other threads wait for what it does.

use std::{
    convert::Infallible,
    io,
    panic::catch_unwind,
    pin::pin,
    sync::{Arc, mpsc::sync_channel},
    task::{Context, Poll, Wake, Waker},
    thread,
};

use tokio::{
    runtime::{Builder, Handle},
    sync::mpsc,
};

/// A runtime that runs on a thread of its own, as long as somebody uses it.
///
/// Dropping it waits for the end of the thread, unless that would be waiting for itself.
#[derive(Debug)]
pub(super) struct Runtime {
    handle: Handle,
    user: Option<User>,
    thread: Option<thread::JoinHandle<()>>,
}

/// The runtime ends when the last of these is dropped; nothing is ever sent.
pub(super) type User = mpsc::UnboundedSender<Infallible>;

impl Runtime {
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Unwaited::build()?;
        let handle = runtime.get().handle().clone();
        let (user, mut users) = mpsc::unbounded_channel();
        let thread = thread::Builder::new()
            .name("endturn".to_owned())
            .spawn(move || {
                let _: Option<Infallible> = runtime.get().block_on(users.recv());
            })?;
        Ok(Self {
            handle,
            user: Some(user),
            thread: Some(thread),
        })
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Keeps the runtime going beyond this value.
    pub(super) fn user(&self) -> Option<User> {
        self.user.clone()
    }

    /// Whether this is the thread that everything else of this runtime waits for.
    pub(super) fn is_on_this_thread(&self) -> bool {
        let thread = self.thread.as_ref();
        thread.is_some_and(|thread| thread.thread().id() == thread::current().id())
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.user = None;
        if !self.is_on_this_thread()
            && let Some(thread) = self.thread.take()
        {
            // It can only have panicked in a destructor of the program, which has had its message.
            drop(thread.join());
        }
    }
}

/// A runtime that is dropped without waiting for the threads that it has lent out: a handler there may never return, nor a read from a terminal.
pub(super) struct Unwaited(Option<tokio::runtime::Runtime>);

impl Unwaited {
    pub(super) fn build() -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            // Each busy update handler has a thread, and a handler may wait for one of another session; so there is no number at which the next one may be made to wait.
            .max_blocking_threads(usize::MAX)
            .thread_name("endturn-updates")
            .build()?;
        Ok(Self(Some(runtime)))
    }

    pub(super) fn get(&self) -> &tokio::runtime::Runtime {
        self.0.as_ref().expect("it is taken by `drop` only")
    }
}

impl Drop for Unwaited {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Blocks this thread until a future is done whose timers and streams belong to `runtime`.
///
/// # Panics
///
/// On a thread that drives async tasks.
#[track_caller]
pub(super) fn block_on<F: Future>(runtime: &Handle, future: F) -> F::Output {
    assert_may_block();
    runtime.block_on(future)
}

/// Panics on a thread that drives async tasks, which would all have to wait.
#[track_caller]
pub(super) fn assert_may_block() {
    // Within a runtime's context there are threads that may block too, those of `spawn_blocking`.
    // Only tokio can tell which is which, and the one way to ask is to let it panic.
    let may_block = match Handle::try_current() {
        Ok(runtime) => catch_unwind(|| runtime.block_on(async {})).is_ok(),
        Err(_) => true,
    };
    assert!(
        may_block,
        "a blocking function of endturn was called on a thread that drives async tasks; \
         use the async `endturn::Client` and `endturn::Agent` there, or call it from `tokio::task::spawn_blocking`"
    );
}

/// Runs a future on this thread until it is done.
///
/// To a runtime this is a thread like any other, so what the future calls may block in it.
pub(super) fn finish<F: Future>(future: F) -> F::Output {
    struct WakeUp(std::sync::mpsc::SyncSender<()>);
    impl Wake for WakeUp {
        fn wake(self: Arc<Self>) {
            // When it is full, a wake-up is under way already.
            self.0.try_send(()).ok();
        }
    }
    let (sender, woken) = sync_channel(1);
    let waker = Waker::from(Arc::new(WakeUp(sender)));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        // It cannot fail, since the waker is here.
        woken.recv().ok();
    }
}

/// Runs a task on a thread that it may block.
///
/// The thread comes from a pool, so one that is used every now and then is not made every time.
///
/// # Panics
///
/// Outside a tokio runtime.
pub(crate) fn spawn_on_thread(task: impl Future<Output = ()> + Send + 'static) {
    tokio::task::spawn_blocking(|| finish(task));
}
