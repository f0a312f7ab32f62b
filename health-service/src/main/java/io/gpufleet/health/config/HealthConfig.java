package io.gpufleet.health.config;

import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.ReadsMode;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.kit.tls.CertificateSettings;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * Configuration of the health-service, beside its connection to the bus.
 *
 * @param http address of the HTTP server
 * @param reads who may read
 * @param maxActionAge older faults are recorded and withdraw nothing
 * @param reconcileInterval how often every Node is reconciled without a change
 * @param policy name of a bundled policy pack, or path of a policy file
 * @param mode of the nodes that no pool selects
 * @param pools {@code standard}, {@code unlimited}, or path of a file with pools and limits
 * @param shadowPolicy pack or path of a policy that only shows what it would decide; empty for none
 */
public record HealthConfig(
        Http http,
        ReadsMode reads,
        Duration maxActionAge,
        Duration reconcileInterval,
        String policy,
        Mode mode,
        String pools,
        String shadowPolicy) {
    private static final Duration MIN_INTERVAL = Duration.ofSeconds(1);
    private static final List<Setting> OWN = List.of(
            Setting.optional("GPUFLEET_HTTP_HOST", "0.0.0.0", "address of the HTTP server"),
            Setting.optional("GPUFLEET_HTTP_PORT", "8080", "port of the HTTP server; 0 takes a free one"),
            Setting.optional("GPUFLEET_GRPC_PORT", "9090", "read by every service; this one serves no gRPC"),
            ReadsMode.setting("list nodes.gpufleet.io"),
            Setting.optional("GPUFLEET_MAX_ACTION_AGE", "10m", "events older than this withdraw nothing"),
            Setting.optional(
                    "GPUFLEET_RECONCILE_INTERVAL", "5m", "how often every Node is reconciled without a change"),
            Setting.optional(
                    "GPUFLEET_POLICY",
                    "nvidia",
                    "policy pack: nvidia, conservative, aggressive, or the path of a YAML file, read again every 2s"),
            Setting.optional(
                    "GPUFLEET_MODE",
                    "observe",
                    "observe: decisions are recorded and shown only; enforce: devices are withdrawn, nodes tainted"),
            Setting.optional(
                    "GPUFLEET_POOLS",
                    "standard",
                    "budgets: standard (10 % of nodes and devices), unlimited, or the path of a YAML file"),
            Setting.optional(
                    "GPUFLEET_SHADOW_POLICY",
                    "",
                    "policy pack or path of a second policy, of which is only shown what it would decide otherwise"),
            Setting.optional("GPUFLEET_LOG_FORMAT", "text", "text or json"),
            Setting.optional("GPUFLEET_LOG_LEVEL", "INFO", "ERROR, WARN, INFO, DEBUG or TRACE"));

    /** Host, port and certificate; port 0 takes a free one. */
    public record Http(String host, int port, CertificateSettings certificate) {}

    /** Rejects values that cannot work. */
    public HealthConfig {
        if (reconcileInterval.compareTo(MIN_INTERVAL) < 0) {
            throw new ConfigurationException("GPUFLEET_RECONCILE_INTERVAL='" + reconcileInterval
                    + "' is not usable: it takes a duration of at least 1s");
        }
        if (maxActionAge.isZero()) {
            throw new ConfigurationException(
                    "GPUFLEET_MAX_ACTION_AGE is zero, so that no fault would be acted upon: it takes a duration"
                            + " such as 10m");
        }
    }

    /** The variables that {@link #of} reads, and those that every service takes. */
    public static List<Setting> settings() {
        return Stream.concat(CertificateSettings.settings().stream(), OWN.stream())
                .toList();
    }

    /** Reads and checks the environment. */
    public static HealthConfig of(Environment environment) {
        return new HealthConfig(
                new Http(
                        environment.text("GPUFLEET_HTTP_HOST"),
                        environment.integer("GPUFLEET_HTTP_PORT", 0, 65535),
                        CertificateSettings.of(environment)),
                ReadsMode.of(environment, environment.text("GPUFLEET_HTTP_HOST")),
                environment.duration("GPUFLEET_MAX_ACTION_AGE"),
                environment.duration("GPUFLEET_RECONCILE_INTERVAL"),
                environment.text("GPUFLEET_POLICY"),
                mode(environment.text("GPUFLEET_MODE")),
                environment.text("GPUFLEET_POOLS"),
                environment.text("GPUFLEET_SHADOW_POLICY"));
    }

    private static Mode mode(String name) {
        return switch (name) {
            case "observe" -> Mode.OBSERVE;
            case "enforce" -> Mode.ENFORCE;
            default -> throw new ConfigurationException("GPUFLEET_MODE='" + name + "' takes observe or enforce");
        };
    }
}
