package io.gpufleet.nodedaemon.model.registration;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.registration.Registration.Event;
import io.gpufleet.nodedaemon.model.registration.Registration.Phase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Applies every event to every reachable state of the registration, and draws the transitions. */
class RegistrationDiagramTest {
    private static final long STEP_NANOS = 60_000_000_000L;
    private static final int MOST_STREAMS = 2;
    private static final List<Event> EVENTS = List.of(
            new Event.SocketObserved(new KubeletSocket.Absent()),
            new Event.SocketObserved(new KubeletSocket.Present(1, 10, 1000)),
            new Event.SocketObserved(new KubeletSocket.Present(1, 11, 2000)),
            new Event.StreamOpened(),
            new Event.StreamEnded(),
            new Event.RegisterSucceeded(),
            new Event.RegisterFailed("refused"),
            new Event.ForeignPluginAlive("nvidia-gpu.sock"),
            new Event.ForeignPluginGone(),
            new Event.ForeignPluginChanged(),
            new Event.OptionsChanged(),
            new Event.Tick());

    /** A state without its clock readings and attempt counts, which only lengthen pauses. */
    private record ReachedState(
            KubeletSocket socket, int streams, String phase, boolean missedOnce, boolean sameKubelet) {
        static ReachedState of(Registration machine) {
            boolean missed = machine.phase() instanceof Phase.Superseded beside && beside.missedOnce();
            boolean same = machine.phase() instanceof Phase.Draining draining && draining.sameKubelet();
            return new ReachedState(machine.socket(), machine.streams(), name(machine), missed, same);
        }
    }

    private record PendingVisit(Registration machine, long nanos) {}

    private static String name(Registration machine) {
        return machine.phase().getClass().getSimpleName();
    }

    /** Labels by arrow, over all reachable states. */
    private static TreeMap<String, TreeSet<String>> reachableTransitions() {
        var arrows = new TreeMap<String, TreeSet<String>>();
        Set<ReachedState> known = new HashSet<>();
        var todo = new ArrayDeque<PendingVisit>();
        todo.add(new PendingVisit(Registration.INITIAL, 0));
        while (!todo.isEmpty()) {
            PendingVisit at = todo.poll();
            if (known.add(ReachedState.of(at.machine()))) {
                for (Event event : EVENTS) {
                    long nanos = at.nanos() + STEP_NANOS;
                    Registration next = at.machine().handle(event, nanos).next();
                    if (!name(next).equals(name(at.machine()))) {
                        arrows.computeIfAbsent(name(at.machine()) + " --> " + name(next), _ -> new TreeSet<>())
                                .add(event.getClass().getSimpleName());
                    }
                    if (next.streams() <= MOST_STREAMS) {
                        todo.add(new PendingVisit(next, nanos));
                    }
                }
            }
        }
        return arrows;
    }

    @Test
    void everyPhaseIsReachedAndLeft() {
        Set<String> phases = Arrays.stream(Phase.class.getPermittedSubclasses())
                .map(Class::getSimpleName)
                .collect(Collectors.toSet());
        var ends = reachableTransitions().keySet().stream()
                .map(arrow -> arrow.split(" --> "))
                .toList();

        assertThat(ends).extracting(arrow -> arrow[0]).containsAll(phases);
        assertThat(ends).extracting(arrow -> arrow[1]).containsAll(phases);
    }

    @Test
    void diagramMatchesTheMachine() throws IOException {
        String drawn = "```mermaid\nstateDiagram-v2\n    [*] --> WaitingForKubelet\n"
                + reachableTransitions().entrySet().stream()
                        .map(arrow -> "    " + arrow.getKey() + " : " + String.join(", ", arrow.getValue()) + "\n")
                        .collect(Collectors.joining())
                + "```";

        assertThat(Files.readString(Path.of("registration.md")))
                .as("registration.md holds the diagram of the machine; it should hold:\n%s", drawn)
                .contains(drawn);
    }
}
