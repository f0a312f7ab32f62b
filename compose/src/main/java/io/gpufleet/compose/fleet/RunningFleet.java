package io.gpufleet.compose.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The state file of a fleet, kept true while processes come and go. Safe for use by several threads. */
public final class RunningFleet {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    /** The order of ending: whoever needs another goes first. */
    private static final List<String> ORDER = List.of(
            Program.NODE_DAEMON.name(),
            Program.INVENTORY.name() + Program.HEALTH.name() + Program.ALLOCATION.name(),
            Program.KUBELETS.name(),
            Program.KUBE_API.name() + "KAFKA");

    private final StateDirectory directory;
    private FleetState state;
    private boolean ending;

    /** Takes over a state and writes it. */
    public RunningFleet(StateDirectory directory, FleetState state) {
        this.directory = directory;
        this.state = state;
        state.write(directory.stateFile());
    }

    /** The state now. */
    public synchronized FleetState state() {
        return state;
    }

    /** From now on what is still being started is ended again at once. */
    public synchronized void noMore() {
        ending = true;
    }

    /** A process was started; one of the same name is replaced. */
    public synchronized FleetState.Started started(FleetState.Started part) {
        if (ending) {
            part.identity().find().ifPresent(ProcessHandle::destroyForcibly);
            throw new IllegalStateException(part.name() + " came too late: the fleet ends");
        }
        var processes = new ArrayList<>(state.processes());
        processes.removeIf(each -> each.name().equals(part.name()));
        processes.add(part);
        replace(new FleetState(
                state.startedAt(),
                state.secondsToReady(),
                state.supervisor(),
                state.bootstrap(),
                state.kubernetes(),
                state.gpus(),
                state.model(),
                processes,
                state.nodes()));
        return part;
    }

    /** Everything is ready. */
    public synchronized void ready(double seconds) {
        replace(new FleetState(
                state.startedAt(),
                seconds,
                state.supervisor(),
                state.bootstrap(),
                state.kubernetes(),
                state.gpus(),
                state.model(),
                state.processes(),
                state.nodes()));
    }

    /** Ends every process of a state, in order; a process of another identity is left alone. */
    public static void end(FleetState state, Progress progress) {
        for (String group : ORDER) {
            List<ProcessHandle> handles = state.processes().stream()
                    .filter(part -> group.contains(part.program()))
                    .map(part -> part.identity().find())
                    .flatMap(Optional::stream)
                    .toList();
            if (!handles.isEmpty()) {
                Processes.end(handles, PATIENCE);
            }
        }
        progress.say("ended " + state.processes().size() + " processes");
    }

    private void replace(FleetState next) {
        state = next;
        next.write(directory.stateFile());
    }
}
