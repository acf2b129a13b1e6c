//! The order in which the reference server lists what it does not sort: that of a hash table of its language, keyed by
//! elements.
//!
//! No client needs it. It is here so that comparing answers of both servers shows what matters.

/// Up to so many items a table that was made for nobody knows how many does not grow.
pub const FEW: usize = 12;
/// Fewest places of a table that is a copy of another collection.
const PLACES_OF_COPY_MIN: u32 = 16;

/// Sorts `items` by their places in a hash table made for `expected` of them; those of one place stay in order.
pub fn sort<T, E: AsRef<str>>(items: &mut [T], expected: usize, elements: impl Fn(&T) -> &[E]) {
    by_place(items, places(expected), elements);
}

/// Sorts `items` by their places in a hash table made as a copy of `count` of them.
pub fn sort_copied<T, E: AsRef<str>>(items: &mut [T], count: usize, elements: impl Fn(&T) -> &[E]) {
    by_place(items, power_of_two(count * 4 / 3 + 1).max(PLACES_OF_COPY_MIN), elements);
}

fn by_place<T, E: AsRef<str>>(items: &mut [T], places: u32, elements: impl Fn(&T) -> &[E]) {
    items.sort_by_key(|item| {
        let hash = list_hash(elements(item));
        (hash ^ (hash >> 16)) & (places - 1)
    });
}

/// Places of a table for `count` items that is never more than three quarters full; a power of two.
fn places(count: usize) -> u32 {
    let wanted = if count < 3 { count + 1 } else { (count * 4).div_ceil(3) };
    power_of_two(wanted)
}

fn power_of_two(at_least: usize) -> u32 {
    u32::try_from(at_least.next_power_of_two()).unwrap_or(1 << 30)
}

fn list_hash<E: AsRef<str>>(elements: &[E]) -> u32 {
    elements
        .iter()
        .fold(1, |hash: u32, element| hash.wrapping_mul(31).wrapping_add(text_hash(element.as_ref())))
}

fn text_hash(text: &str) -> u32 {
    text.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_language() {
        assert_eq!(text_hash(""), 0);
        assert_eq!(text_hash("ab"), 97 * 31 + 98);
        assert_eq!(text_hash("polygenelubricants"), 1 << 31);
        assert_eq!(list_hash(&["a", "b"]), (31 + 97) * 31 + 98);
    }

    #[test]
    fn the_order_is_by_place_not_by_name() {
        let mut names: Vec<Vec<String>> = ["db", "x", "y"].iter().map(|name| vec![(*name).into()]).collect();
        sort(&mut names, 3, |name| name);
        assert_eq!(names.concat(), ["y", "db", "x"]);
        assert_eq!(
            [places(0), places(1), places(2), places(3), places(5), places(6), places(7)],
            [1, 2, 4, 4, 8, 8, 16]
        );
    }

    /// As the reference server has answered.
    #[test]
    fn keys_named_in_vain_come_as_recorded() {
        for (named, answered) in [("n n.a", "n.a n"), ("m.x n.c", "n.c m.x"), ("t2 n", "t2 n")] {
            let keys = |text: &'static str| -> Vec<Vec<&str>> {
                text.split(' ').map(|key| key.split('.').collect()).collect()
            };
            let mut unused = keys(named);
            sort_copied(&mut unused, 2, |key| key);
            assert_eq!(unused, keys(answered), "{named}");
        }
    }
}
