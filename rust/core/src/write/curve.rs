//! Curves that fill a space: a point of several coordinates becomes a place on a line, and near places are near points.

/// How points are put on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Curve {
    /// The bits of the coordinates in turns.
    ZOrder,
    /// The curve of Hilbert: the next place is always a neighbour. With one coordinate the order is its own.
    Hilbert,
}

impl Curve {
    /// Appends the place of a point whose coordinates have this many bits: bytes that order as the places do. The point is
    /// used up.
    pub(super) fn place(self, point: &mut [u32], bits: u32, out: &mut Vec<u8>) {
        if self == Curve::Hilbert {
            to_hilbert(point, bits);
        }
        interleave(point, bits, out);
    }
}

/// The bits of all coordinates from the highest down, filled up with zeros to whole bytes.
fn interleave(point: &[u32], bits: u32, out: &mut Vec<u8>) {
    let (mut byte, mut filled) = (0_u8, 0);
    for bit in (0..bits).rev() {
        for coordinate in point {
            byte = (byte << 1) | u8::from((coordinate >> bit) & 1 == 1);
            filled += 1;
            if filled == 8 {
                out.push(byte);
                (byte, filled) = (0, 0);
            }
        }
    }
    if filled > 0 {
        out.push(byte << (8 - filled));
    }
}

/// Turns a point into numbers whose bits in turns are its place on Hilbert's curve: J. Skilling, "Programming the Hilbert
/// curve", AIP Conference Proceedings 707 (2004).
fn to_hilbert(point: &mut [u32], bits: u32) {
    let last = point.len().saturating_sub(1);
    if last == 0 || bits == 0 {
        return;
    }
    // from the largest cubes down, what turns and mirrors the smaller ones is undone
    for level in (1..bits).rev() {
        let (bit, below) = (1_u32 << level, (1_u32 << level) - 1);
        for at in 0..=last {
            if point[at] & bit != 0 {
                point[0] ^= below;
            } else {
                let differ = (point[0] ^ point[at]) & below;
                point[0] ^= differ;
                point[at] ^= differ;
            }
        }
    }
    // Gray code
    for at in 1..=last {
        point[at] ^= point[at - 1];
    }
    let mut flip = 0;
    for level in (1..bits).rev() {
        if point[last] & (1 << level) != 0 {
            flip ^= (1 << level) - 1;
        }
    }
    point.iter_mut().for_each(|coordinate| *coordinate ^= flip);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn place(curve: Curve, point: &[u32], bits: u32) -> Vec<u8> {
        let mut out = Vec::new();
        curve.place(&mut point.to_vec(), bits, &mut out);
        out
    }

    /// The first bits of a place.
    fn leading(place: &[u8], count: usize) -> Vec<bool> {
        let bits = place.iter().flat_map(|byte| (0..8).rev().map(move |bit| (byte >> bit) & 1 == 1));
        bits.take(count).collect()
    }

    /// All points by their places.
    fn points(curve: Curve, dimensions: usize, bits: u32) -> Vec<Vec<u32>> {
        let side = 1_u64 << bits;
        let mut by_place = BTreeMap::new();
        for number in 0..side.pow(dimensions as u32) {
            let point: Vec<u32> =
                (0..dimensions as u32).map(|d| ((number >> (d * bits)) % side) as u32).collect();
            by_place.insert(place(curve, &point, bits), point);
        }
        by_place.into_values().collect()
    }

    const SPACES: [(usize, u32); 10] =
        [(1, 7), (2, 1), (2, 2), (2, 5), (3, 1), (3, 2), (3, 4), (4, 3), (5, 2), (6, 2)];

    #[test]
    fn no_two_points_have_the_same_place() {
        for (dimensions, bits) in SPACES {
            for curve in [Curve::ZOrder, Curve::Hilbert] {
                assert_eq!(points(curve, dimensions, bits).len(), 1 << (bits * dimensions as u32));
            }
        }
    }

    #[test]
    fn the_next_place_on_hilberts_curve_is_a_neighbour() {
        for (dimensions, bits) in SPACES {
            for pair in points(Curve::Hilbert, dimensions, bits).windows(2) {
                let far: u32 = pair[0].iter().zip(&pair[1]).map(|(a, b)| a.abs_diff(*b)).sum();
                assert_eq!(far, 1, "{pair:?} of {dimensions} coordinates with {bits} bits");
            }
        }
    }

    #[test]
    fn one_coordinate_keeps_its_order() {
        let line: Vec<Vec<u32>> = (0..128).map(|n| vec![n]).collect();
        assert_eq!(points(Curve::Hilbert, 1, 7), line);
        assert_eq!(points(Curve::ZOrder, 1, 7), line);
    }

    fn point() -> impl Strategy<Value = (Vec<u32>, u32)> {
        (1_u32..=16).prop_flat_map(|bits| (proptest::collection::vec(0..(1_u32 << bits), 1..10), Just(bits)))
    }

    proptest! {
        #[test]
        fn z_order_takes_bits_in_turns((point, bits) in point()) {
            let place = place(Curve::ZOrder, &point, bits);
            let count = bits as usize * point.len();
            prop_assert_eq!(place.len(), count.div_ceil(8));
            // bit by bit
            for (at, bit) in leading(&place, place.len() * 8).into_iter().enumerate() {
                let (level, coordinate) = (at / point.len(), at % point.len());
                let expected = level < bits as usize && (point[coordinate] >> (bits as usize - 1 - level)) & 1 == 1;
                prop_assert_eq!(bit, expected, "bit {}", at);
            }
        }

        #[test]
        fn coarse_points_have_coarse_places((point, bits) in point(), cut in 0_u32..16) {
            // what makes ranges of places cubes of points: each level is a curve of its own
            let kept = bits - cut.min(bits - 1);
            let coarse: Vec<u32> = point.iter().map(|c| c >> (bits - kept)).collect();
            let count = kept as usize * point.len();
            for curve in [Curve::ZOrder, Curve::Hilbert] {
                prop_assert_eq!(
                    leading(&place(curve, &point, bits), count),
                    leading(&place(curve, &coarse, kept), count)
                );
            }
        }
    }
}
