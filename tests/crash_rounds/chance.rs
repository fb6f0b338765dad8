//! Chance that can be repeated.

use std::time::Duration;

/// xorshift64*, so that a seed repeats the moments.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed | 1)
    }

    /// From 0 up to, without, the limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit
    }

    pub(crate) fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from))
    }

    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let place = self.below(all.len() as u64);
        &all[usize::try_from(place).unwrap()]
    }

    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            let other = usize::try_from(self.below(last as u64 + 1)).unwrap();
            all.swap(last, other);
        }
    }
}

/// A variable of the environment.
pub(crate) fn setting<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// A seed that nobody has used. Even: [`Chance`] makes it odd.
pub(crate) fn fresh_seed() -> u64 {
    (u64::from(std::process::id()) ^ super::support::now_s().cast_unsigned()) << 1
}
