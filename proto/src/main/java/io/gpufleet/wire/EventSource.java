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
            for (int at = name.indexOf(service); at >= 0 && at < name.length(); at = name.indexOf(service, at + 1)) {
                if (isBetweenDashes(at, at + service.length())) {
                    return true;
                }
            }
            return false;
        }

        private boolean isBetweenDashes(int from, int to) {
            return (from == 0 || name.charAt(from - 1) == '-') && (to == name.length() || name.charAt(to) == '-');
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
        int begin = "/clusters/".length();
        int end = text.startsWith("/clusters/") ? text.indexOf('/', begin) : -1;
        int last = end < 0 ? -1 : text.indexOf('/', end + 1);
        if (end > begin && last > 0 && last < text.length() - 1 && text.indexOf('/', last + 1) < 0) {
            String cluster = text.substring(begin, end);
            if (text.startsWith("/nodes/", end)) {
                return new Node(cluster, text.substring(last + 1));
            }
            if (text.startsWith("/services/", end)) {
                return new Service(cluster, text.substring(last + 1));
            }
        }
        throw new IllegalArgumentException("ce_source '" + text + "' is not /clusters/<cluster>/nodes/<node> or"
                + " /clusters/<cluster>/services/<instance>");
    }
}
