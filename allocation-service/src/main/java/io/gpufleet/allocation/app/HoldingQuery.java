package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Filter over the open intervals of the fleet; an empty text matches all.
 *
 * @param namespace namespace of the holder
 * @param node node name
 */
public record HoldingQuery(String namespace, String node) {
    /** Place of an interval in the order of all: by node, device and replica, each of which one interval has. */
    public record Position(String node, DeviceSlot slot) implements Comparable<Position> {
        /** Before every interval. */
        public static final Position START = new Position("", new DeviceSlot("", 0));

        private static final Comparator<Position> ORDER =
                Comparator.comparing(Position::node).thenComparing(Position::slot);

        @Override
        public int compareTo(Position other) {
            return ORDER.compare(this, other);
        }
    }

    /** An open interval and its node. */
    public record Match(String node, OpenUsageInterval open) {
        /** Place of the interval, after which a page may continue. */
        public Position position() {
            return new Position(node, open.holding().device().slot());
        }
    }

    /** First matches after a position, at most so many. */
    public List<Match> after(Position position, Ledger ledger, int size) {
        List<Match> matches = new ArrayList<>();
        for (Map.Entry<String, NodeLedger> entry : ledger.from(position.node()).entrySet()) {
            if (matches.size() >= size) {
                break;
            }
            if (node.isEmpty() || node.equals(entry.getKey())) {
                collect(entry.getKey(), entry.getValue(), position, matches);
            }
        }
        return List.copyOf(matches.subList(0, Math.min(size, matches.size())));
    }

    private void collect(String name, NodeLedger ledger, Position after, List<Match> matches) {
        for (OpenUsageInterval open : ledger.open().values()) {
            var match = new Match(name, open);
            boolean accepted =
                    namespace.isEmpty() || open.holding().holder().namespace().equals(namespace);
            if (accepted && match.position().compareTo(after) > 0) {
                matches.add(match);
            }
        }
    }
}
