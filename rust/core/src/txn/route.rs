//! Who read and wrote the files of an operation.

use crate::error::{Error, Result};

/// Who read and wrote the files of an operation of an engine: the tag `deltaic.route` of its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The process that committed.
    Driver,
    /// Tasks of the engine, with the code of this crate.
    Tasks,
    /// The engine, at least in part: its own reader, its plan or its own writer.
    Spark,
}

impl Route {
    const ALL: [Route; 3] = [Route::Driver, Route::Tasks, Route::Spark];

    /// As the history has it.
    pub fn name(self) -> &'static str {
        match self {
            Route::Driver => "driver",
            Route::Tasks => "tasks",
            Route::Spark => "spark",
        }
    }

    /// From [`Route::name`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another text.
    pub fn parse(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|route| route.name() == text).ok_or_else(|| Error::InvalidArgument {
            argument: "route".into(),
            reason: format!("`{text}`: it is driver, tasks or spark"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_have_the_names_of_the_history() {
        for route in Route::ALL {
            assert_eq!(Route::parse(route.name()).unwrap(), route);
        }
        assert_eq!(Route::parse("cluster").unwrap_err().kind(), "InvalidArgument");
    }
}
