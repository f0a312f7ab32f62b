package io.gpufleet.inventory.model.query;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Presence;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;

/** Order of nodes in a list; equal nodes by name. */
public record NodeOrder(Key key, boolean descending) {
    /** By name. */
    public static final NodeOrder BY_NAME = new NodeOrder(Key.NAME, false);

    /** Property by which nodes are ordered. */
    public enum Key {
        /** Name. */
        NAME("name"),
        /** Last change of the presence. */
        PRESENCE_SINCE("presenceSince"),
        /** Last changed announcement. */
        ANNOUNCED_AT("announcedAt");

        private final String field;

        Key(String field) {
            this.field = field;
        }

        /** Field of a node with its value. */
        public String field() {
            return field;
        }
    }

    /** Reads the name of a field, with a leading dash for the descending order; empty text is {@link #BY_NAME}. */
    public static Optional<NodeOrder> parse(String text) {
        if (text.isEmpty()) {
            return Optional.of(BY_NAME);
        }
        boolean descending = text.startsWith("-");
        String field = descending ? text.substring(1) : text;
        return Arrays.stream(Key.values())
                .filter(key -> key.field().equals(field))
                .findFirst()
                .map(key -> new NodeOrder(key, descending));
    }

    /** Whether a position is one of this order. */
    public boolean accepts(String position) {
        return position.isEmpty()
                || (equals(BY_NAME) ? position.indexOf('/') < 0 : position.startsWith(key.field() + '='));
    }

    /** Where a page continues after a node. */
    public String position(NodeState node) {
        return equals(BY_NAME) ? node.name() : key.field() + '=' + sortable(node) + '/' + node.name();
    }

    Comparator<String> comparator() {
        Comparator<String> ascending = Comparator.naturalOrder();
        return descending ? ascending.reversed() : ascending;
    }

    private String sortable(NodeState node) {
        return switch (key) {
            case NAME -> "";
            case PRESENCE_SINCE -> digits(node.livePresence().map(Presence::since));
            case ANNOUNCED_AT -> digits(node.lastAnnouncement().map(Announcement::appendedAt));
        };
    }

    /** Milliseconds in as many digits as each has, so that texts order as times do. */
    private static String digits(Optional<Instant> time) {
        return Long.toString(
                1_000_000_000_000_000L + time.map(Instant::toEpochMilli).orElse(0L));
    }
}
