//! Lives: the last one lives until it ends itself or another one begins.

use rules::states::{DeliveryState, RunState};

use super::data::{Data, NodeRow};
use crate::{Boot, Inheritance, Millis, Node};

impl Data {
    pub(super) fn begin_boot(&mut self, name: &str, now: Millis) -> Boot {
        let last = self.nodes.last().map_or(0, |node| node.boot);
        self.end_boot(last);
        self.nodes.push(NodeRow { boot: last + 1, name: name.to_owned(), started_at: now, ended: false });
        last + 1
    }

    pub(super) fn end_boot(&mut self, boot: Boot) {
        if let Some(node) = self.nodes.iter_mut().find(|node| node.boot == boot) {
            node.ended = true;
        }
    }

    pub(super) fn inherit(&mut self, dead: Boot, heir: Boot) -> Inheritance {
        if dead == heir || !self.lives(heir) {
            return Inheritance::default();
        }
        self.end_boot(dead);
        let Inheritance { runs, deliveries } = self.under_way(dead);
        for row in self.runs.iter_mut().filter(|r| runs.iter().any(|run| run.run_id == r.shown.id)) {
            row.boot = heir;
        }
        for row in self.deliveries.iter_mut().filter(|d| deliveries.iter().any(|stuck| stuck.id == d.shown.id)) {
            row.boot = Some(heir);
        }
        Inheritance { runs, deliveries }
    }

    pub(super) fn under_way(&self, of: Boot) -> Inheritance {
        Inheritance {
            runs: self.orphan_runs_of(|boot| boot == of),
            deliveries: self.stuck_deliveries_of(|boot| boot == of),
        }
    }

    pub(super) fn lives(&self, boot: Boot) -> bool {
        self.nodes.iter().any(|node| node.boot == boot && !node.ended)
    }

    /// Whether `boot` may take over what is `left` under way: it is another's that does not live.
    pub(super) fn is_left_to(&self, boot: Boot, left: Boot) -> bool {
        left != boot && !self.lives(left)
    }

    pub(super) fn list_nodes(&self) -> Vec<Node> {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let shown = self.nodes.iter().map(|node| {
            let running = self.runs.iter().filter(|r| r.boot == node.boot && r.shown.state == RunState::Running);
            let sending = self.deliveries.iter().filter(|d| d.boot == Some(node.boot));
            let sending = sending.filter(|d| d.shown.state == DeliveryState::Sending);
            Node {
                boot: node.boot,
                name: node.name.clone(),
                started_at: node.started_at,
                lives: !node.ended,
                running: count(running.count()),
                sending: count(sending.count()),
            }
        });
        shown.filter(|node| node.lives || node.running > 0 || node.sending > 0).collect()
    }
}
