//! Named places in the work of the gateway at which a test lets it die, panic or stand still.
//!
//! A crash between two statements is found by no test that kills at a time of its choice: the moment is too short. So each place
//! where a crash would leave something half done has a name, and says that it was reached: [`reach`]. Builds with debug
//! assertions read the variable `DOORBELL_AT_POINT` once, see `plan.rs` for its words; in others, such as what people
//! install, [`reach`] is empty and the names are not in the executable.
//!
//! [`NAMES`] is the one list of them, so that tests can go through all.

mod names;
#[cfg(any(debug_assertions, test))]
mod plan;

pub use names::NAMES;

/// Says that a place of [`NAMES`] was reached. Does what `DOORBELL_AT_POINT` wants done there: it may not return.
#[cfg(debug_assertions)]
pub fn reach(name: &str) {
    static PLAN: std::sync::LazyLock<plan::Plan> = std::sync::LazyLock::new(|| {
        let text = std::env::var(plan::VARIABLE).unwrap_or_default();
        plan::Plan::parse(&text).unwrap_or_else(|error| {
            eprintln!("doorbell: {}: {error}", plan::VARIABLE);
            std::process::exit(2)
        })
    });
    debug_assert!(NAMES.contains(&name), "the point {name} is not listed");
    if let Some(action) = PLAN.reached(name) {
        action.act(name);
    }
}

/// Does nothing.
#[cfg(not(debug_assertions))]
#[inline(always)]
#[expect(clippy::inline_always, reason = "it is there for nobody to see, its argument included")]
pub fn reach(_name: &str) {}
