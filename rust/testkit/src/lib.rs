//! Test tools of deltaic.
