package io.gpufleet.wire;

/** Writer of an event: {@code /clusters/<cluster>/nodes/<node>} or {@code /clusters/<cluster>/services/<instance>}. */
public sealed interface EventSource {
    /** Returns the cluster of the writer. */
    String cluster();

    /** Returns the node name or the instance name of the service; the first part of the event id. */
    String name();

    /** A node-daemon. */
    record Node(String cluster, String name) implements EventSource {
        @Override
        public String toString() {
            return "/clusters/" + cluster + "/nodes/" + name;
        }
    }

    /** One replica of a service, by its instance name, for example {@code health-service-0}. */
    record Service(String cluster, String name) implements EventSource {
        /** True when the instance name contains the service's name between dashes, as the name of its pod does. */
        public boolean isReplicaOf(String service) {
            return ("-" + name + "-").contains("-" + service + "-");
        }

        @Override
        public String toString() {
            return "/clusters/" + cluster + "/services/" + name;
        }
    }

    /** The names of clusters and instances that a source can have, for messages. */
    String NAME_FORM = "1 to 128 letters, digits, dots, dashes and underscores";

    /** True for a name of that form. */
    static boolean isName(String text) {
        return text.matches("[A-Za-z0-9._-]{1,128}");
    }

    /** Parses a CloudEvents source; throws {@link IllegalArgumentException} for any other form. */
    static EventSource parse(String text) {
        String[] parts = text.split("/", -1);
        if (parts.length == 5
                && parts[0].isEmpty()
                && parts[1].equals("clusters")
                && !parts[2].isEmpty()
                && !parts[4].isEmpty()) {
            if (parts[3].equals("nodes")) {
                return new Node(parts[2], parts[4]);
            }
            if (parts[3].equals("services")) {
                return new Service(parts[2], parts[4]);
            }
        }
        throw new IllegalArgumentException("ce_source '" + text + "' is not /clusters/<cluster>/nodes/<node> or"
                + " /clusters/<cluster>/services/<instance>");
    }
}
