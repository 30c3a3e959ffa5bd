//! The parts of functions: a kernel takes whole columns and returns one.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringArray};

use crate::schema::DataType;

/// An evaluation: what fails names the value.
pub(super) type Eval<T> = Result<T, String>;

/// What fails in a division by zero.
pub(super) const BY_ZERO: &str = "division by zero";

/// Columns of equal length to one column.
pub(super) type Kernel = fn(&[ArrayRef]) -> Eval<ArrayRef>;

/// A function with fixed types.
pub(super) struct Function {
    /// Its names, in lower case.
    pub(super) names: &'static [&'static str],
    /// Types of its arguments.
    pub(super) takes: &'static [DataType],
    /// How many of them, at the end, can be left out.
    pub(super) optional: usize,
    /// Type of the result.
    pub(super) gives: DataType,
    /// What computes it.
    pub(super) kernel: Kernel,
}

/// Computes each row in which no argument is null.
pub(super) fn each<T>(
    args: &[ArrayRef],
    mut f: impl FnMut(usize) -> Eval<Option<T>>,
) -> Eval<Vec<Option<T>>> {
    let rows = args.first().map_or(0, |a| a.len());
    (0..rows).map(|row| if args.iter().any(|a| a.is_null(row)) { Ok(None) } else { f(row) }).collect()
}

/// # Errors
/// When an array cannot hold them.
pub(super) fn texts(values: Vec<Option<String>>) -> Eval<ArrayRef> {
    Room::default().take(values.iter().flatten().map(String::len).sum())?;
    Ok(Arc::new(StringArray::from(values)))
}

/// Room for the texts that a function makes of a batch. A number in an expression, which may be that of a log, does not decide
/// how much memory is taken.
pub(super) struct Room {
    left: usize,
}

impl Default for Room {
    fn default() -> Self {
        Room { left: i32::MAX as usize }
    }
}

impl Room {
    /// Asks for the bytes of one more text, before it is made.
    ///
    /// # Errors
    /// When the texts of the batch would take more than 2 GiB.
    pub(super) fn take(&mut self, bytes: usize) -> Eval<()> {
        self.left =
            self.left.checked_sub(bytes).ok_or("its texts take more than 2 GiB in one batch of rows")?;
        Ok(())
    }
}
