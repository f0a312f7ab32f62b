package io.gpufleet.kit.config;

/** Who may read over HTTP and gRPC: {@code GPUFLEET_READS}. */
public enum ReadsMode {
    /** Whom Kubernetes authorizes. */
    KUBERNETES,
    /** Everybody, which is every program of this machine. */
    OFF;

    private static final String NAME = "GPUFLEET_READS";

    /** The variable that {@link #of} reads. */
    public static final Setting SETTING = Setting.optional(
            NAME,
            "auto",
            "kubernetes: reads need a token and the right to list nodes.gpufleet.io; off: none, only on a"
                    + " loopback address; auto: off there, else kubernetes");

    /** Reads the variable for a server at the host; {@code off} anywhere but on a loopback address is refused. */
    public static ReadsMode of(Environment environment, String host) {
        boolean loopback = loopback(host);
        return switch (environment.text(NAME)) {
            case "kubernetes" -> KUBERNETES;
            case "auto" -> loopback ? OFF : KUBERNETES;
            case "off" -> {
                if (!loopback) {
                    throw environment.invalid(NAME, "kubernetes, since GPUFLEET_HTTP_HOST is no loopback address");
                }
                yield OFF;
            }
            default -> throw environment.invalid(NAME, "kubernetes, off or auto");
        };
    }

    /** By its text: what a name resolves to may change. */
    private static boolean loopback(String host) {
        return host.equals("localhost") || host.equals("::1") || host.matches("127(\\.\\d{1,3}){3}");
    }
}
