package io.gpufleet.cli.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Keeps the state file of a fleet up to date. Safe for use by several threads. */
public final class RunningFleet {
    /** Program name of the broker, which is no program of this repository. */
    static final String KAFKA = "KAFKA";

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration TRAINING_STOP_TIMEOUT = Duration.ofMinutes(5);
    /** Programs in stop order: a program stops before those that it uses. */
    private static final List<Set<String>> STOP_ORDER = List.of(
            Set.of(Program.NODE_DAEMON.name()),
            Set.of(Program.INVENTORY.name(), Program.HEALTH.name(), Program.ALLOCATION.name()),
            Set.of(Program.FAKE_KUBELETS.name()),
            Set.of(Program.FAKE_API_SERVER.name(), KAFKA));

    private final StateDirectory directory;
    private FleetState state;
    private boolean ending;

    /** Starts from a state and writes it. */
    public RunningFleet(StateDirectory directory, FleetState state) {
        this.directory = directory;
        this.state = state;
        state.write(directory.stateFile());
    }

    /** The state now. */
    public synchronized FleetState state() {
        return state;
    }

    /** From now on a process that is added is killed at once. */
    public synchronized void rejectNewProcesses() {
        ending = true;
    }

    /** Adds a started process; it replaces one of the same name. */
    public synchronized FleetState.FleetProcess add(FleetState.FleetProcess process) {
        if (ending) {
            process.identity().find().ifPresent(ProcessHandle::destroyForcibly);
            throw new IllegalStateException(process.name() + " started while the fleet stops");
        }
        var processes = new ArrayList<>(state.processes());
        processes.removeIf(each -> each.name().equals(process.name()));
        processes.add(process);
        replace(new FleetState(
                state.startedAt(),
                state.secondsToReady(),
                state.supervisor(),
                state.bootstrap(),
                state.kubernetes(),
                processes,
                state.nodes()));
        return process;
    }

    /** Records the time to readiness. */
    public synchronized void markReady(double seconds) {
        replace(new FleetState(
                state.startedAt(),
                seconds,
                state.supervisor(),
                state.bootstrap(),
                state.kubernetes(),
                state.processes(),
                state.nodes()));
    }

    /** Stops every process of a state, in order; a process of another identity is not touched. */
    public static void stopAll(FleetState state, ConsoleProgress progress) {
        progress.print(
                "stopping " + state.processes().size() + " processes: daemons, services, kubelets, API server, Kafka");
        for (Set<String> group : STOP_ORDER) {
            List<ProcessHandle> handles = state.processes().stream()
                    .filter(process -> group.contains(process.program()))
                    .map(process -> process.identity().find())
                    .flatMap(Optional::stream)
                    .toList();
            if (!handles.isEmpty()) {
                Processes.terminate(handles, training(state) ? TRAINING_STOP_TIMEOUT : STOP_TIMEOUT);
            }
        }
        progress.print("ended " + state.processes().size() + " processes");
    }

    /** Its programs write an AOT cache at their end. */
    private static boolean training(FleetState state) {
        return state.processes().stream()
                .flatMap(process -> process.command().stream())
                .anyMatch(argument -> argument.startsWith("-XX:AOTCacheOutput="));
    }

    private void replace(FleetState next) {
        state = next;
        next.write(directory.stateFile());
    }
}
