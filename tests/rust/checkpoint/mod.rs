//! Writing checkpoints and keeping the log short: nothing that a version says is lost, whenever the writer dies.

mod equal;
