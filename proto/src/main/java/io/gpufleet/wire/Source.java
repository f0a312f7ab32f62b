package io.gpufleet.wire;

/** Who wrote an event: {@code /clusters/<cluster>/nodes/<node>} or {@code /clusters/<cluster>/services/<instance>}. */
public sealed interface Source {
    /** The cluster of the writer. */
    String cluster();

    /** Node name, or instance name of the service; first part of the event id. */
    String name();

    /** A node-daemon. */
    record Node(String cluster, String name) implements Source {
        @Override
        public String toString() {
            return "/clusters/" + cluster + "/nodes/" + name;
        }
    }

    /** One replica of a service, by its instance name, for example {@code health-service-0}. */
    record Service(String cluster, String name) implements Source {
        @Override
        public String toString() {
            return "/clusters/" + cluster + "/services/" + name;
        }
    }

    /** Reads a CloudEvents source; refuses other forms with {@link IllegalArgumentException}. */
    static Source parse(String text) {
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
