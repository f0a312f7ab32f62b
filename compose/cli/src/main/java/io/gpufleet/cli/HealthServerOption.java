package io.gpufleet.cli;

import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.cli.health.HealthClient;
import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The options {@code --server} and {@code --ca} of commands that ask a health-service. */
final class HealthServerOption {
    @Option(
            names = "--server",
            paramLabel = "URL",
            description = "another health-service, for example https://127.0.0.1:8080 after 'kubectl port-forward'; its"
                    + " token is read from GPUFLEET_TOKEN [the one of the fleet]")
    private String server = "";

    @Option(
            names = "--ca",
            paramLabel = "FILE",
            description =
                    "PEM file with the CA of that service, in a cluster that of the ConfigMap gpufleet-ca [those that"
                            + " Java trusts]")
    private String ca = "";

    /** The chosen service, or one of the fleet, whose token is {@code tokenOfFleet} where the environment has none. */
    HealthClient client(GpufleetCommand command, String tokenOfFleet) {
        Optional<String> token = Optional.ofNullable(System.getenv("GPUFLEET_TOKEN"));
        if (server.isEmpty()) {
            return new HealthClient(ofFleet(command.runningFleet()), token.orElse(tokenOfFleet));
        }
        return ca.isEmpty()
                ? new HealthClient(server, token.orElse(""))
                : new HealthClient(server, token.orElse(""), Path.of(ca));
    }

    /** Address of a health-service of the fleet. */
    private static String ofFleet(FleetState fleet) {
        return fleet.processes().stream()
                .filter(process -> process.program().equals(Program.HEALTH.name()))
                .map(process -> "http://127.0.0.1:" + process.ports().get("http"))
                .findFirst()
                .orElseThrow(() -> new ConfigurationException(
                        "the fleet has no health-service; './gpufleet start health-service-0' starts it"));
    }
}
