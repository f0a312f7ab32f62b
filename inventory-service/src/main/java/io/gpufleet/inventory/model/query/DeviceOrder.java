package io.gpufleet.inventory.model.query;

import io.gpufleet.inventory.model.Fleet;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;

/** Order of GPUs in a list; equal GPUs by node and UUID. */
public record DeviceOrder(Key key, boolean descending) {
    /** By node and UUID. */
    public static final DeviceOrder BY_NODE = new DeviceOrder(Key.NODE, false);

    /** Ends the value in a position; sorts before every character of a value. */
    private static final char END = '\t';

    /** Property by which GPUs are ordered. */
    public enum Key {
        /** Node and UUID. */
        NODE("node"),
        /** Product name. */
        MODEL("model"),
        /** Health. */
        HEALTH("health");

        private final String field;

        Key(String field) {
            this.field = field;
        }

        /** Field of a device with its value. */
        public String field() {
            return field;
        }
    }

    /** Reads the name of a field, with a leading dash for the descending order; empty text is {@link #BY_NODE}. */
    public static Optional<DeviceOrder> parse(String text) {
        if (text.isEmpty()) {
            return Optional.of(BY_NODE);
        }
        boolean descending = text.startsWith("-");
        String field = descending ? text.substring(1) : text;
        return Arrays.stream(Key.values())
                .filter(key -> key.field().equals(field))
                .findFirst()
                .map(key -> new DeviceOrder(key, descending));
    }

    /** Whether a position is one of this order. */
    public boolean accepts(String position) {
        return position.isEmpty()
                || (equals(BY_NODE) ? position.indexOf('=') < 0 : position.startsWith(key.field() + '='));
    }

    /** Where a page continues after a GPU. */
    public String position(Fleet.GpuLocation location) {
        String place = FleetQuery.position(location);
        return equals(BY_NODE) ? place : key.field() + '=' + value(location) + END + place;
    }

    Comparator<String> comparator() {
        Comparator<String> ascending = Comparator.naturalOrder();
        return descending ? ascending.reversed() : ascending;
    }

    private String value(Fleet.GpuLocation location) {
        return switch (key) {
            case NODE -> "";
            case MODEL -> location.gpu().model();
            case HEALTH -> location.node().healthOf(location.gpu());
        };
    }
}
