package io.gpufleet.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.cli.health.WhyReport;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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

    @Mixin
    private HealthServerOption server = new HealthServerOption();

    @Option(names = "--json", description = "print the answer of the service")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        JsonNode why = server.client(parent, "").why(node);
        System.out.print(json ? why.toPrettyString() + "\n" : WhyReport.render(why));
        return 0;
    }
}
