package io.gpufleet.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.cli.health.HealthClient;
import io.gpufleet.cli.health.WhyReport;
import io.gpufleet.kit.config.ConfigurationException;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Explains the health of a node. */
@Command(
        name = "why",
        description = "Explain why a node and its GPUs are in service or not: fact, rule, budget, effect, pods.",
        mixinStandardHelpOptions = true)
final class WhyCommand implements Callable<Integer> {
    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Parameters(paramLabel = "NODE", description = "name of a node")
    private String node = "";

    @Option(
            names = "--server",
            paramLabel = "URL",
            description = "another health-service, for example after 'kubectl port-forward'; its token is read from"
                    + " GPUFLEET_TOKEN [the one of the fleet]")
    private String server = "";

    @Option(names = "--json", description = "print the answer of the service")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        String token = Optional.ofNullable(System.getenv("GPUFLEET_TOKEN")).orElse("");
        JsonNode why = server.isEmpty()
                ? new HealthClient(ofFleet(parent.runningFleet()), "").why(node)
                : new HealthClient(server, token).why(node);
        System.out.print(json ? why.toPrettyString() + "\n" : WhyReport.render(why));
        return 0;
    }

    /** Address of a health-service of the fleet. */
    static String ofFleet(FleetState fleet) {
        return fleet.processes().stream()
                .filter(process -> process.program().equals(Program.HEALTH.name()))
                .map(process -> "http://127.0.0.1:" + process.ports().get("http"))
                .findFirst()
                .orElseThrow(() -> new ConfigurationException(
                        "the fleet has no health-service; './gpufleet start health-service-0' starts it"));
    }
}
