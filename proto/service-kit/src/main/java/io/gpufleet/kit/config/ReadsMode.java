package io.gpufleet.kit.config;

/** Modes of authorization for reads over HTTP and gRPC: {@code GPUFLEET_READS}. */
public enum ReadsMode {
    /** Whom Kubernetes authorizes. */
    KUBERNETES,
    /** Everybody, which is every program of this machine. */
    OFF;

    private static final String NAME = "GPUFLEET_READS";

    /** The setting; {@code right} says what a reader must be allowed to do. */
    public static Setting setting(String right) {
        return Setting.optional(
                NAME,
                "auto",
                "kubernetes: reads need a token and the right to " + right
                        + "; off: none, only on a loopback address; auto: off there, else kubernetes");
    }

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
