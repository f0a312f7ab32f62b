package io.gpufleet.health.model.budget;

import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Use of the budgets by pool, by zone and in the fleet. One thread uses it, so that no budget is exceeded. */
public final class FleetUsage {
    private DisruptionBudgets protection;
    private final Map<String, NodeBudgetShare> nodes = new HashMap<>();
    private final Map<String, Sum> sums = new HashMap<>();
    /** The newest taint of each node. */
    private final Map<String, Taint> taints = new HashMap<>();

    private final SortedSet<Taint> taintsByTime =
            new TreeSet<>(Comparator.comparing(Taint::at).thenComparing(Taint::node));

    /** A fleet without nodes. */
    public FleetUsage(DisruptionBudgets protection) {
        this.protection = protection;
    }

    private static final class Sum {
        private int nodes;
        private int out;
        private int devices;
        private int devicesOut;

        private void add(NodeBudgetShare node, int sign) {
            nodes += sign * node.counted();
            out += sign * node.out();
            devices += sign * node.devices();
            devicesOut += sign * node.devicesOut();
        }
    }

    /** A taint by the policy. */
    private record Taint(String node, Instant at) {}

    /** A group of nodes with limits of its own. */
    private record Scope(String name, Limits limits) {}

    /** Forgets every node. */
    public void clear() {
        nodes.clear();
        sums.clear();
        openBrake();
    }

    /** Other pools and limits: every node is counted anew, where it belongs now. */
    public void replace(DisruptionBudgets budgets) {
        protection = budgets;
        sums.clear();
        nodes.values().forEach(footprint -> add(footprint, 1));
    }

    /** The node is as this footprint says. */
    public void put(String node, NodeBudgetShare footprint) {
        NodeBudgetShare before = nodes.put(node, footprint);
        if (!footprint.equals(before)) {
            add(Optional.ofNullable(before).orElse(NodeBudgetShare.NONE), -1);
            add(footprint, 1);
        }
    }

    /** The node is gone. */
    public void remove(String node) {
        add(Optional.ofNullable(nodes.remove(node)).orElse(NodeBudgetShare.NONE), -1);
        notTainted(node);
    }

    /** The policy tainted a node, which counts once: by its newest taint, in whatever order they are told. */
    public void tainted(String node, Instant at) {
        notTainted(node);
        var taint = new Taint(node, at);
        taints.put(node, taint);
        taintsByTime.add(taint);
    }

    /** The node was not tainted after all. */
    public void notTainted(String node) {
        Optional.ofNullable(taints.remove(node)).ifPresent(taintsByTime::remove);
    }

    /** An operator opened the storm brake: what was tainted up to now does not count. */
    public void openBrake() {
        taints.clear();
        taintsByTime.clear();
    }

    private void add(NodeBudgetShare footprint, int sign) {
        scopes(footprint.labels())
                .forEach(scope ->
                        sums.computeIfAbsent(scope.name(), _ -> new Sum()).add(footprint, sign));
    }

    private List<Scope> scopes(Map<String, String> labels) {
        Pool pool = protection.pool(labels);
        Stream<Scope> zone = Optional.ofNullable(labels.get(DisruptionBudgets.ZONE)).stream()
                .map(name -> new Scope("zone " + name, protection.zone()));
        return Stream.concat(
                        Stream.of(
                                new Scope("pool " + pool.name(), pool.limits()),
                                new Scope("the fleet", protection.fleet())),
                        zone)
                .toList();
    }

    /** Actions that are permitted on a node now. */
    public PermittedActions allowance(String node, NodeBudgetShare footprint, Instant now) {
        put(node, footprint);
        return new NodeAllowance(footprint, now.minus(protection.brake().within()));
    }

    /** Taints after a time, as far as so many. None is dropped once it is older: a clock that was ahead is set back. */
    private long taintsAfter(Instant time, long most) {
        return taintsByTime.reversed().stream()
                .takeWhile(taint -> taint.at().isAfter(time))
                .limit(most)
                .count();
    }

    private final class NodeAllowance implements PermittedActions {
        private final NodeBudgetShare node;
        private final Instant brakeFrom;

        private NodeAllowance(NodeBudgetShare node, Instant brakeFrom) {
            this.node = node;
            this.brakeFrom = brakeFrom;
        }

        @Override
        public Mode mode(Map<String, String> labels) {
            return protection.pool(labels).mode();
        }

        @Override
        public Optional<String> refusesTaint() {
            // A node that cannot be used already is in the sum.
            int more = 1 - node.out();
            Optional<String> full = scopes(node.labels()).stream()
                    .filter(scope ->
                            sum(scope).out + more > scope.limits().nodes().of(sum(scope).nodes))
                    .map(scope -> "nodes of " + scope.name())
                    .findFirst();
            boolean storm = brakeLimit() < Integer.MAX_VALUE && taintsAfter(brakeFrom, brakeLimit()) >= brakeLimit();
            return full.or(() -> storm ? Optional.of("storm brake") : Optional.empty());
        }

        @Override
        public Optional<String> refusesDevices(int more) {
            return scopes(node.labels()).stream()
                    .filter(scope -> sum(scope).devicesOut + more
                            > scope.limits().devices().of(sum(scope).devices))
                    .map(scope -> "devices of " + scope.name())
                    .findFirst();
        }

        @Override
        public String nodeBudget() {
            Stream<String> nodes = scopes(node.labels()).stream()
                    .filter(scope -> !scope.limits().nodes().equals(Limit.NONE))
                    .map(scope -> "nodes of " + scope.name() + ": " + sum(scope).out + " out, limit "
                            + scope.limits().nodes().of(sum(scope).nodes));
            Stream<String> brake = protection.brake().equals(StormBrake.NONE)
                    ? Stream.empty()
                    : Stream.of("storm brake: " + taintsAfter(brakeFrom, Long.MAX_VALUE) + " tainted, limit "
                            + brakeLimit());
            return Stream.concat(nodes, brake).collect(Collectors.joining("; "));
        }

        @Override
        public String deviceBudget() {
            return scopes(node.labels()).stream()
                    .filter(scope -> !scope.limits().devices().equals(Limit.NONE))
                    .map(scope -> "devices of " + scope.name() + ": " + sum(scope).devicesOut + " out, limit "
                            + scope.limits().devices().of(sum(scope).devices))
                    .collect(Collectors.joining("; "));
        }

        private int brakeLimit() {
            return protection.brake().of(sum(new Scope("the fleet", Limits.NONE)).nodes);
        }

        private Sum sum(Scope scope) {
            return sums.computeIfAbsent(scope.name(), _ -> new Sum());
        }
    }

    /** Nodes that a scope has, and those of them that are out; for tests and metrics. */
    public int[] nodes(String scope) {
        Sum sum = sums.getOrDefault(scope, new Sum());
        return new int[] {sum.nodes, sum.out};
    }
}
