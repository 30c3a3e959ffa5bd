//! The one door from Python into the core: it releases the GIL and lets Ctrl-C through.

use std::any::type_name_of_val;
use std::cell::Cell;
use std::ffi::CString;
use std::sync::PoisonError;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use deltaic_core::txn::with_warnings;
use deltaic_core::{Cancel, Error, Progress, Reached, Result, caught};
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::logs;

/// How often a waiting call looks for Ctrl-C.
const POLL: Duration = Duration::from_millis(50);

/// Runs `work` without the GIL. On the main thread, where Python delivers signals, the work runs in its own thread
/// and Ctrl-C returns at once with KeyboardInterrupt; what the work then still finds is thrown away. So `work` must only
/// read.
pub(crate) fn read<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    reading(py, type_name_of_val(&work), None, |_| work())
}

/// As [`read`], and `tell`, where given, is called with how far it is, as by [`followed`].
pub(crate) fn read_followed<T: Send + 'static>(
    py: Python<'_>,
    tell: Option<&Py<PyAny>>,
    work: impl FnOnce(&Progress) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    reading(py, type_name_of_val(&work), tell, work)
}

fn reading<T: Send + 'static>(
    py: Python<'_>,
    name: &'static str,
    tell: Option<&Py<PyAny>>,
    work: impl FnOnce(&Progress) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let (progress, mut told) = (Progress::default(), Reached::default());
    let own = progress.clone();
    let work = guarded(name, move || work(&own));
    if !note_thread(py)? && tell.is_none() {
        let result = py.detach(work);
        logs::hand_over(py);
        return result.map_err(|e| to_python(py, &e));
    }
    let (send, receive) = sync_channel(1);
    let spawned = std::thread::Builder::new().name("deltaic-read".into()).spawn(move || {
        // the receiver no longer exists after Ctrl-C
        let _ = send.send(work());
    });
    if let Err(source) = spawned {
        return Err(to_python(py, &Error::storage("start a thread for", "this process", source)));
    }
    let receive = std::sync::Mutex::new(receive);
    loop {
        let answer = py.detach(|| match receive.lock() {
            Ok(receive) => receive.recv_timeout(POLL),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        });
        logs::hand_over(py);
        match answer {
            Ok(result) => {
                tell_of(py, tell, &progress, &mut told)?;
                return result.map_err(|e| to_python(py, &e));
            }
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals()?;
                tell_of(py, tell, &progress, &mut told)?;
            }
            Err(RecvTimeoutError::Disconnected) => return Err(to_python(py, &no_answer())),
        }
    }
}

/// Runs `work` without the GIL and to its end: for commits, whose outcome must be known.
pub(crate) fn write<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    note_thread(py)?;
    let (result, warnings) = py.detach(|| with_warnings(guarded(type_name_of_val(&work), work)));
    logs::hand_over(py);
    for warning in warnings {
        warn(py, &warning);
    }
    result.map_err(|e| to_python(py, &e))
}

/// As [`write`], for work that can be stopped. On the main thread the work runs in its own thread, and Ctrl-C asks it to
/// stop. This still waits for it, so that its effects are complete when the interrupt is raised; the interrupt is
/// also raised where the work was committing already and so went to its end.
pub(crate) fn stoppable<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Cancel) -> Result<T> + Send,
) -> PyResult<T> {
    stopping(py, type_name_of_val(&work), None, |cancel, _| work(cancel))
}

/// As [`stoppable`], and `tell`, where given, is called with how far it is: files done, all files, bytes done, all bytes.
/// That is several times a second while it changes, and at the end. What it raises stops the work and is raised.
pub(crate) fn followed<T: Send>(
    py: Python<'_>,
    tell: Option<&Py<PyAny>>,
    work: impl FnOnce(&Cancel, &Progress) -> Result<T> + Send,
) -> PyResult<T> {
    stopping(py, type_name_of_val(&work), tell, work)
}

fn stopping<T: Send>(
    py: Python<'_>,
    name: &'static str,
    tell: Option<&Py<PyAny>>,
    work: impl FnOnce(&Cancel, &Progress) -> Result<T> + Send,
) -> PyResult<T> {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    if !note_thread(py)? && tell.is_none() {
        return write(py, || work(&cancel, &progress));
    }
    let mut told = Reached::default();
    let (send, receive) = sync_channel(1);
    let receive = std::sync::Mutex::new(receive);
    let mut interrupt = None;
    let work = guarded(name, || work(&cancel, &progress));
    let (result, warnings) = py.detach(|| {
        let receive = receive.into_inner().unwrap_or_else(PoisonError::into_inner);
        std::thread::scope(|scope| {
            // the work owns the sender, so that a thread that ends without an answer is noticed
            let work = move || {
                // whoever receives waits for it
                let _ = send.send(with_warnings(work));
            };
            let worker = match std::thread::Builder::new()
                .name("deltaic-write".into())
                .spawn_scoped(scope, work)
            {
                Ok(worker) => worker,
                Err(source) => {
                    return (Err(Error::storage("start a thread for", "this process", source)), Vec::new());
                }
            };
            loop {
                match receive.recv_timeout(POLL) {
                    Ok(done) => return done,
                    Err(RecvTimeoutError::Timeout) => Python::attach(|py| {
                        logs::hand_over(py);
                        let heard = py.check_signals().and_then(|()| tell_of(py, tell, &progress, &mut told));
                        if let Err(raised) = heard {
                            cancel.cancel();
                            interrupt.get_or_insert(raised);
                        }
                    }),
                    Err(RecvTimeoutError::Disconnected) => {
                        let _ = worker.join();
                        return (Err(no_answer()), Vec::new());
                    }
                }
            }
        })
    });
    logs::hand_over(py);
    for warning in warnings {
        warn(py, &warning);
    }
    if interrupt.is_none() {
        interrupt = tell_of(py, tell, &progress, &mut told).err();
    }
    match (result, interrupt) {
        (result, None) => result.map_err(|e| to_python(py, &e)),
        (Ok(_) | Err(Error::Interrupted), Some(interrupt)) => Err(interrupt),
        (Err(error), Some(interrupt)) => {
            interrupt.set_cause(py, Some(to_python(py, &error)));
            Err(interrupt)
        }
    }
}

/// Tells how far it is, if it is farther than what was told last.
fn tell_of(
    py: Python<'_>,
    tell: Option<&Py<PyAny>>,
    progress: &Progress,
    told: &mut Reached,
) -> PyResult<()> {
    let reached = progress.reached();
    if let Some(tell) = tell.filter(|_| reached != *told) {
        *told = reached;
        tell.call1(py, (reached.files, reached.all_files, reached.bytes, reached.all_bytes))?;
    }
    Ok(())
}

/// The work with its panics as errors, which name the function that asks for it.
fn guarded<T>(name: &'static str, work: impl FnOnce() -> Result<T>) -> impl FnOnce() -> Result<T> {
    // "_core::maintain::vacuum::{{closure}}"
    let function = || name.split("::{{").next().unwrap_or_default();
    let operation = move || function().strip_prefix("_core::").unwrap_or(function()).to_owned();
    move || caught(operation, work)
}

/// The error of a thread that ended without an answer.
fn no_answer() -> Error {
    Error::Internal { operation: "thread".into(), reason: "it ended without an answer".into() }
}

/// A `DeltaWarning`. A filter that makes it an error cannot make the commit look undone: that error is only shown.
fn warn(py: Python<'_>, text: &str) {
    let reported = CString::new(text.replace('\0', " ")).map_err(PyErr::from).and_then(|text| {
        let category = py.import("deltaic.exceptions")?.getattr("DeltaWarning")?;
        PyErr::warn(py, &category, &text, 2)
    });
    if let Err(error) = reported {
        error.write_unraisable(py, None);
    }
}

thread_local! {
    /// Process that this thread is the main thread of; 0 where it is not, or not yet known.
    static MAIN_OF: Cell<u32> = const { Cell::new(0) };
}

/// Whether this is the main thread, the only one on which Python handles signals. Every call begins here, so the level of the
/// events is asked here, too.
fn note_thread(py: Python<'_>) -> PyResult<bool> {
    logs::listen(py);
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    let is_main = threading.call_method0("get_ident")?.eq(main)?;
    MAIN_OF.set(if is_main { std::process::id() } else { 0 });
    Ok(is_main)
}

/// Runs work of a stream that a peer pulls: on the main thread without the GIL, which the peer may keep, and which a function
/// that gives credentials needs. Off it, as [`interrupted`], the GIL is not asked for.
pub(crate) fn released<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let mut work = Some(work);
    let mut done = None;
    if MAIN_OF.get() == std::process::id() {
        done = Python::try_attach(|py| work.take().map(|work| py.detach(work))).flatten();
    }
    done.or_else(|| work.map(|work| work()))
}

/// Whether Ctrl-C waits, for a stream that a peer pulls. Off the main thread it is never asked, because the GIL may be
/// held by whoever waits for this very batch. The interrupt is set again, so that Python raises KeyboardInterrupt as soon
/// as the peer has returned.
pub(crate) fn interrupted() -> bool {
    if MAIN_OF.get() != std::process::id() {
        return false;
    }
    let signalled = Python::try_attach(|py| py.check_signals().is_err()).unwrap_or(false);
    if signalled {
        // SAFETY: may be called from any thread, with or without the GIL
        unsafe { pyo3::ffi::PyErr_SetInterrupt() };
    }
    signalled
}
