//! Enums whose variants are names of the protocol or of the documentation.

/// An enum with a name for each variant: the method that gives it, and `Display` by it.
macro_rules! named {
    ($(#[$about:meta])* $type:ident, $(#[$names:meta])* $method:ident: $($variant:ident = $name:literal,)*) => {
        $(#[$about])*
        #[non_exhaustive]
        pub enum $type {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        impl $type {
            $(#[$names])*
            pub const fn $method(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.$method())
            }
        }
    };
}

pub(crate) use named;
