package io.gpufleet.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.PartStatus;
import io.gpufleet.cli.fleet.Program;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Prints processes and addresses. */
@Command(name = "status", description = "Print processes and addresses.", mixinStandardHelpOptions = true)
final class StatusCommand implements Runnable {
    private static final List<String> SERVICES =
            List.of(Program.INVENTORY.name(), Program.HEALTH.name(), Program.ALLOCATION.name());

    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @Option(names = "--json", description = "print JSON: kafka, kubernetes, services, nodes, processes")
    private boolean json;

    @Override
    public void run() {
        FleetState state = FleetState.read(parent.stateDirectory().stateFile())
                .orElseThrow(() -> parent.stateDirectory().noFleet());
        System.out.println(json ? json(state) : StatusReport.render(state));
    }

    /** The keys are an interface: keys are added, none is renamed. */
    static String json(FleetState state) {
        var services = new LinkedHashMap<String, Object>();
        var processes = new ArrayList<Map<String, Object>>();
        for (FleetState.FleetProcess process : state.processes()) {
            if (SERVICES.contains(process.program())) {
                services.put(process.name(), StatusReport.addresses(process));
            }
            PartStatus status = PartStatus.of(process);
            processes.add(Map.of(
                    "name", process.name(),
                    "pid", process.identity().pid(),
                    "running", !(status instanceof PartStatus.Ended),
                    "ready", status instanceof PartStatus.Ready,
                    "log", process.log()));
        }
        var nodes = state.nodes().stream()
                .map(node -> Map.of(
                        "name", node.name(),
                        "gpus", node.gpus(),
                        "model", node.model(),
                        "socketDirectory", node.socketDirectory(),
                        "metrics", node.metrics()))
                .toList();
        var document = new LinkedHashMap<String, Object>();
        document.put("kafka", Map.of("bootstrap", state.bootstrap()));
        document.put("kubernetes", state.kubernetes());
        document.put("services", services);
        document.put("nodes", nodes);
        document.put("processes", processes);
        document.put("secondsToReady", state.secondsToReady());
        try {
            return new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(document);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
