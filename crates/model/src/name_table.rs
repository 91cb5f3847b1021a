//! The names of an enum's variants as a table.

/// Implements a method that returns the name of each variant of an enum, from one table. With
/// `ALL`, the enum also gets an array of its variants in the order of the table.
#[macro_export]
macro_rules! names {
    ($(#[$doc:meta])* $vis:vis $type:ident::$method:ident: $($variant:ident = $name:literal),+) => {
        impl $type {
            $(#[$doc])*
            $vis const fn $method(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }
        }
    };
    ($(#[$doc:meta])* $vis:vis $type:ident::$method:ident, ALL:
     $($variant:ident = $name:literal),+) => {
        $crate::names! { $(#[$doc])* $vis $type::$method: $($variant = $name),+ }

        impl $type {
            /// All variants, in the order of their names.
            $vis const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];
        }
    };
}
