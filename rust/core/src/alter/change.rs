/// What happens to the rows and files that a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// There is no table.
    Create,
    /// They stay: the new definition must fit them.
    Alter,
    /// All are removed in the same commit, or rewritten: overwriting with a new schema, restoring, replacing.
    Replace,
}
