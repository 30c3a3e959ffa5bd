//! Damaged logs: each file of a log truncated, emptied, removed, duplicated and bit-flipped, one at a time. What is read is the
//! answer of the whole table, or a typed error; another answer only where nothing in the log tells the damage.

mod answer;
mod damages;
mod evidence;
mod judge;
mod run;
mod tables;
