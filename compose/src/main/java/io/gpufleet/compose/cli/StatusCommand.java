package io.gpufleet.compose.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.gpufleet.compose.fleet.FleetState;
import io.gpufleet.compose.fleet.Program;
import io.gpufleet.kit.config.ConfigurationException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Tells what runs where. */
@Command(name = "status", description = "What runs where.", mixinStandardHelpOptions = true)
final class StatusCommand implements Runnable {
    private static final List<String> SERVICES =
            List.of(Program.INVENTORY.name(), Program.HEALTH.name(), Program.ALLOCATION.name());

    @ParentCommand
    private Gpufleet parent = new Gpufleet();

    @Option(names = "--json", description = "for programs: kafka, kubernetes, services, nodes, processes")
    private boolean json;

    @Override
    public void run() {
        FleetState state = FleetState.read(parent.directory().stateFile())
                .orElseThrow(() -> new ConfigurationException("no fleet runs here; './gpufleet up' starts one"));
        System.out.println(json ? json(state) : Overview.of(state));
    }

    /** The keys are an interface; later ones are added, none is renamed. */
    static String json(FleetState state) {
        var services = new LinkedHashMap<String, Object>();
        var processes = new ArrayList<Map<String, Object>>();
        for (FleetState.Started part : state.processes()) {
            if (SERVICES.contains(part.program())) {
                services.put(part.name(), Overview.addresses(part));
            }
            processes.add(Map.of(
                    "name", part.name(),
                    "pid", part.identity().pid(),
                    "running", part.identity().find().isPresent(),
                    "log", part.log()));
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
