//! Strongly connected components of a graph that is given by its successor function.
//!
//! Source: Tarjan, "Depth-first search and linear graph algorithms", 1972, with an explicit stack.

/// Returns the strongly connected components that contain a step, each as its nodes in ascending
/// order. `targets` returns the successors of a node. The components are in a deterministic order.
pub fn components(nodes: usize, targets: impl Fn(u32) -> Vec<u32>) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let mut index = vec![UNSEEN; nodes];
    let mut low = vec![0; nodes];
    let mut on_stack = vec![false; nodes];
    let mut stack: Vec<u32> = Vec::new();
    let mut next_index = 0;
    let mut found = Vec::new();
    for root in 0..nodes as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        let mut calls: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut enter = vec![root];
        loop {
            if let Some(node) = enter.pop() {
                index[node as usize] = next_index;
                low[node as usize] = next_index;
                next_index += 1;
                stack.push(node);
                on_stack[node as usize] = true;
                calls.push((node, targets(node)));
            }
            let Some((node, rest)) = calls.last_mut() else { break };
            let node = *node;
            if let Some(to) = rest.pop() {
                if index[to as usize] == UNSEEN {
                    enter.push(to);
                } else if on_stack[to as usize] {
                    low[node as usize] = low[node as usize].min(index[to as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some((caller, _)) = calls.last() {
                low[*caller as usize] = low[*caller as usize].min(low[node as usize]);
            }
            if low[node as usize] != index[node as usize] {
                continue;
            }
            let start = stack.iter().rposition(|other| *other == node).unwrap_or(0);
            let mut component = stack.split_off(start);
            component.iter().for_each(|member| on_stack[*member as usize] = false);
            component.sort_unstable();
            if component.len() > 1 || targets(node).contains(&node) {
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_components_with_a_step_are_found() {
        let steps = [(0, 1, 1), (1, 2, 1), (2, 1, 1), (2, 3, 1), (3, 3, 2), (4, 0, 1), (3, 4, 3)];
        let with = |allowed: &[u32]| {
            components(5, |node| {
                let included = steps
                    .iter()
                    .filter(|(from, _, label)| *from == node && allowed.contains(label));
                included.map(|(_, to, _)| *to).collect()
            })
        };
        assert_eq!(with(&[1]), [vec![1, 2]]);
        assert_eq!(with(&[1, 2]), [vec![3], vec![1, 2]]);
        assert_eq!(with(&[1, 3]), [vec![0, 1, 2, 3, 4]]);
    }
}
