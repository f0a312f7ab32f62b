package io.gpufleet.compose.cli;

import io.gpufleet.compose.fleet.FleetState;
import io.gpufleet.compose.fleet.Processes;
import io.gpufleet.compose.fleet.Program;
import io.gpufleet.compose.fleet.Table;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** What runs where, for people. */
final class Overview {
    private Overview() {}

    /** One row a process. */
    static String of(FleetState state) {
        var table = new Table("PART", "STATE", "PID", "RSS", "WHERE");
        for (FleetState.Started part : state.processes()) {
            boolean lives = part.identity().find().isPresent();
            table.row(
                    part.name(),
                    lives ? "runs" : "ended",
                    lives ? Long.toString(part.identity().pid()) : "-",
                    lives ? megabytes(part.identity().pid()) : "-",
                    where(part));
        }
        String kubernetes = state.kubernetes().standIn()
                ? ""
                : "Kubernetes API: " + state.kubernetes().url() + "\n";
        return table.render() + kubernetes + "kubeconfig: " + state.kubernetes().kubeconfig()
                + (state.secondsToReady() > 0
                        ? String.format(Locale.ROOT, "%nready after %.1f s", state.secondsToReady())
                        : "");
    }

    /** What to try now. */
    static String next(FleetState state, boolean detached) {
        String node =
                state.nodes().isEmpty() ? "node-1" : state.nodes().getFirst().name();
        return """

                Try:
                  ./gpufleet fault %1$s 3 79        GPU 3 of %1$s falls off the bus
                  ./gpufleet events health verdicts decisions
                  kubectl --kubeconfig $(./gpufleet kubeconfig) describe node %1$s
                  ./gpufleet clear %1$s 3
                  ./gpufleet pod create team-a/train --gpus 2
                  ./gpufleet status
                %2$s""".formatted(
                node, detached ? "  ./gpufleet down" : "Ctrl-C here, or './gpufleet down' elsewhere, ends the fleet.");
    }

    private static String where(FleetState.Started part) {
        if (part.program().equals("KAFKA")) {
            return "127.0.0.1:" + part.ports().get("kafka");
        }
        String http = "http://127.0.0.1:" + part.ports().get("http");
        String others = part.ports().entrySet().stream()
                .filter(port -> !port.getKey().equals("http"))
                .map(port -> "  " + port.getKey() + " 127.0.0.1:" + port.getValue())
                .collect(Collectors.joining());
        return http + (part.program().equals(Program.NODE_DAEMON.name()) ? "/metrics" : "") + others;
    }

    private static String megabytes(long pid) {
        OptionalLong bytes = Processes.residentBytes(pid);
        return bytes.isEmpty() ? "-" : bytes.getAsLong() / (1024 * 1024) + " MiB";
    }

    /** The names of the ports that a program listens on, with scheme where it has one. */
    static Map<String, String> addresses(FleetState.Started part) {
        return part.ports().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        port -> (port.getKey().equals("http") ? "http://" : "") + "127.0.0.1:" + port.getValue(),
                        (a, b) -> a,
                        java.util.TreeMap::new));
    }
}
