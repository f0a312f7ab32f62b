package io.gpufleet.nodedaemon.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Registration.Event;
import io.gpufleet.nodedaemon.model.Registration.Phase;
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

/** Walks the registration machine through every event from every state that it can reach, and draws what it does. */
class RegistrationDiagramTest {
    private static final long STEP_NANOS = 60_000_000_000L;
    private static final int MOST_STREAMS = 2;
    private static final List<Event> EVENTS = List.of(
            new Event.SocketLooked(new KubeletSocket.Absent()),
            new Event.SocketLooked(new KubeletSocket.Present(1, 10, 1000)),
            new Event.SocketLooked(new KubeletSocket.Present(1, 11, 2000)),
            new Event.StreamOpened(),
            new Event.StreamEnded(),
            new Event.Answered(),
            new Event.Failed("refused"),
            new Event.ForeignPluginAlive("nvidia-gpu.sock"),
            new Event.ForeignPluginGone(),
            new Event.ForeignMoved(),
            new Event.Tick());

    /** A state without its clock readings and counts of attempts, which only stretch pauses. */
    private record Place(KubeletSocket socket, int streams, String phase, boolean missedOnce) {
        static Place of(Registration machine) {
            boolean missed = machine.phase() instanceof Phase.Beside beside && beside.missedOnce();
            return new Place(machine.socket(), machine.streams(), name(machine), missed);
        }
    }

    private record Visit(Registration machine, long nanos) {}

    private static String name(Registration machine) {
        return machine.phase().getClass().getSimpleName();
    }

    /** Labels by arrow, over everything that can be reached. */
    private static TreeMap<String, TreeSet<String>> walked() {
        var arrows = new TreeMap<String, TreeSet<String>>();
        Set<Place> known = new HashSet<>();
        var todo = new ArrayDeque<Visit>();
        todo.add(new Visit(Registration.INITIAL, 0));
        while (!todo.isEmpty()) {
            Visit at = todo.poll();
            if (known.add(Place.of(at.machine()))) {
                for (Event event : EVENTS) {
                    long nanos = at.nanos() + STEP_NANOS;
                    Registration next = at.machine().on(event, nanos).next();
                    if (!name(next).equals(name(at.machine()))) {
                        arrows.computeIfAbsent(name(at.machine()) + " --> " + name(next), _ -> new TreeSet<>())
                                .add(event.getClass().getSimpleName());
                    }
                    if (next.streams() <= MOST_STREAMS) {
                        todo.add(new Visit(next, nanos));
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
        var ends = walked().keySet().stream().map(arrow -> arrow.split(" --> ")).toList();

        assertThat(ends).extracting(arrow -> arrow[0]).containsAll(phases);
        assertThat(ends).extracting(arrow -> arrow[1]).containsAll(phases);
    }

    @Test
    void diagramIsMadeFromTheMachine() throws IOException {
        String drawn = "```mermaid\nstateDiagram-v2\n    [*] --> WaitingForKubelet\n"
                + walked().entrySet().stream()
                        .map(arrow -> "    " + arrow.getKey() + " : " + String.join(", ", arrow.getValue()) + "\n")
                        .collect(Collectors.joining())
                + "```";

        assertThat(Files.readString(Path.of("registration.md")))
                .as("registration.md holds the diagram of the machine; it should hold:\n%s", drawn)
                .contains(drawn);
    }
}
