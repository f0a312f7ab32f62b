package io.gpufleet.cli;

import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.PartStatus;
import io.gpufleet.cli.fleet.Processes;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.cli.fleet.TextTable;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** The table of processes and addresses. */
final class StatusReport {
    private StatusReport() {}

    /** A row for each process, and a line for each that is not ready or has ended. */
    static String render(FleetState state) {
        var reasons = new StringBuilder();
        var table = new TextTable("NAME", "STATE", "PID", "RSS", "WHERE");
        for (FleetState.FleetProcess process : state.processes()) {
            PartStatus status = PartStatus.of(process);
            boolean lives = !(status instanceof PartStatus.Ended);
            reasons.append(reason(process, status));
            table.row(
                    process.name(),
                    status.text(),
                    lives ? Long.toString(process.identity().pid()) : "-",
                    lives ? megabytes(process.identity().pid()) : "-",
                    where(process));
        }
        String kubernetes = state.kubernetes().fake()
                ? ""
                : "Kubernetes API: " + state.kubernetes().url() + "\n";
        return table.render() + reasons + kubernetes + "kubeconfig: "
                + state.kubernetes().kubeconfig()
                + (state.started()
                        ? String.format(Locale.ROOT, "%nready after %.1f s", state.secondsToReady())
                        : "\nthe fleet is still starting");
    }

    private static String reason(FleetState.FleetProcess process, PartStatus status) {
        return switch (status) {
            case PartStatus.Ready() -> "";
            case PartStatus.NotReady(String reason) -> process.name() + " is not ready: " + reason + "\n";
            case PartStatus.Ended(String lastLine) ->
                process.name() + " ended; its log, " + process.log()
                        + (lastLine.isEmpty() ? ", has no line" : ", ends with: " + lastLine) + "\n";
        };
    }

    /** Commands to try next, and the address of the dashboard. */
    static String suggestions(FleetState state, boolean detached) {
        String dashboard = state.processes().stream()
                .filter(process -> process.program().equals(Program.INVENTORY.name()))
                .findFirst()
                .map(inventory ->
                        "dashboard: http://127.0.0.1:" + inventory.ports().get("http") + "/\n")
                .orElse("");
        String node =
                state.nodes().isEmpty() ? "node-1" : state.nodes().getFirst().name();
        return dashboard
                + """

            Try:
              ./gpufleet fault %1$s 3 79        GPU 3 of %1$s falls off the bus
              ./gpufleet why %1$s
              ./gpufleet events health verdicts decisions
              kubectl --kubeconfig $(./gpufleet kubeconfig) describe node %1$s
              ./gpufleet clear %1$s 3
              ./gpufleet pod create team-a/train --gpus 2
              ./gpufleet status
            %2$s\
            """.formatted(
                                node,
                                detached
                                        ? "  ./gpufleet down"
                                        : "Ctrl-C here, or './gpufleet down' elsewhere, stops the fleet.");
    }

    private static String where(FleetState.FleetProcess process) {
        if (process.program().equals("KAFKA")) {
            return "127.0.0.1:" + process.ports().get("kafka");
        }
        String http = "http://127.0.0.1:" + process.ports().get("http");
        String others = process.ports().entrySet().stream()
                .filter(port -> !port.getKey().equals("http"))
                .map(port -> "  " + port.getKey() + " 127.0.0.1:" + port.getValue())
                .collect(Collectors.joining());
        return http + (process.program().equals(Program.NODE_DAEMON.name()) ? "/metrics" : "") + others;
    }

    private static String megabytes(long pid) {
        OptionalLong bytes = Processes.residentBytes(pid);
        return bytes.isEmpty() ? "-" : bytes.getAsLong() / (1024 * 1024) + " MiB";
    }

    /** Addresses by port name, HTTP ones as URL. */
    static Map<String, String> addresses(FleetState.FleetProcess process) {
        return process.ports().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        port -> (port.getKey().equals("http") ? "http://" : "") + "127.0.0.1:" + port.getValue(),
                        (a, b) -> a,
                        java.util.TreeMap::new));
    }
}
