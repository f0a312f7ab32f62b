package io.gpufleet.nodedaemon.model.fault;

import static io.gpufleet.nodedaemon.model.device.TestGpus.POLICY;
import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static io.gpufleet.nodedaemon.model.device.TestGpus.xid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The transition methods, the transitions that OpenFaults makes, and the diagram agree. */
class FaultCauseStateTest {
    private static final FaultKey KEY = new FaultKey(TestGpus.uuid(0), new FaultCode.Xid(79));
    private static final OpenFaults EMPTY = OpenFaults.restored(POLICY, List.of(), second(0));
    private static final String OUTSIDE = "[*]";

    private static OpenFaults detected(OpenFaults faults, FaultOrigin origin) {
        return faults.observe(xid(0, 79, origin), TestGpus.SUBJECT, second(10)).next();
    }

    private static OpenFaults monitored() {
        return detected(EMPTY, FaultOrigin.SIMULATION);
    }

    private static OpenFaults unmonitored() {
        return detected(EMPTY, FaultOrigin.KERNEL_LOG);
    }

    private static OpenFaults resolved() {
        return monitored().causeResolved(KEY, "reset", second(20));
    }

    /** All events, from any state of the fault. */
    private static Stream<UnaryOperator<OpenFaults>> allEvents() {
        return Stream.of(
                faults -> detected(faults, FaultOrigin.SIMULATION),
                faults -> detected(faults, FaultOrigin.KERNEL_LOG),
                faults -> faults.causeResolved(KEY, "reset", second(30)),
                faults -> faults.polled(GpuSampleBuilder.healthyGpu(0).build(), second(30)),
                faults -> faults.polled(
                        GpuSampleBuilder.healthyGpu(0)
                                .recoveryAction(RecoveryAction.GPU_RESET)
                                .build(),
                        second(30)),
                faults -> faults.driverReloaded(
                        Set.of(TestGpus.uuid(0)), second(15).nanos(), second(30)),
                faults -> OpenFaults.restored(POLICY, faults.open(), second(30)),
                faults -> faults.clearDue(second(1000)).next(),
                faults -> faults.afterReboot("boot-2").next());
    }

    @Test
    void everyDrawnTransitionOccursAndNoOther() {
        Set<String> made = new TreeSet<>();
        for (OpenFaults from : List.of(EMPTY, monitored(), unmonitored(), resolved())) {
            allEvents().forEach(happening -> {
                String before = state(from);
                String after = state(happening.apply(from));
                if (!before.equals(after)) {
                    made.add(before + " --> " + after);
                }
            });
        }

        Set<String> drawn = transitions()
                .map(arrow -> arrow.from() + " --> " + arrow.to())
                .filter(arrow -> !arrow.equals("Resolved --> Resolved"))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(made).isEqualTo(drawn);
    }

    @Test
    void dwellRestartsWithANewProcess() {
        assertThat(OpenFaults.restored(POLICY, resolved().open(), second(30)).nextDueNanos())
                .hasValue(second(330).nanos());
    }

    @Test
    void diagramMatchesTheMachine() throws IOException {
        String drawn = "```mermaid\nstateDiagram-v2\n"
                + transitions()
                        .map(arrow -> "    " + arrow.from() + " --> " + arrow.to() + " : " + arrow.label() + "\n")
                        .collect(Collectors.joining())
                + "```";

        assertThat(Files.readString(Path.of("fault-episode.md")))
                .as("fault-episode.md holds the diagram of the machine; it should hold:\n%s", drawn)
                .contains(drawn);
    }

    private static String state(OpenFaults faults) {
        return faults.find(KEY)
                .map(fault -> fault.state().getClass().getSimpleName())
                .orElse(OUTSIDE);
    }

    private record Transition(String from, String label, String to) {}

    private static Stream<Transition> transitions() {
        return Stream.concat(
                Stream.of(
                        new Transition(OUTSIDE, "detected by a monitoring source", "Monitored"),
                        new Transition(OUTSIDE, "detected in the kernel log", "Unmonitored")),
                Arrays.stream(FaultCauseState.class.getPermittedSubclasses())
                        .flatMap(type -> Arrays.stream(type.getDeclaredMethods())
                                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                                .filter(method -> FaultCauseState.class.isAssignableFrom(method.getReturnType())
                                        || method.getReturnType() == FaultCauseState.Closed.class)
                                .map(method -> new Transition(
                                        type.getSimpleName(),
                                        method.getName(),
                                        method.getReturnType() == FaultCauseState.Closed.class
                                                ? OUTSIDE
                                                : method.getReturnType().getSimpleName()))
                                .sorted(Comparator.comparing(Transition::label))));
    }
}
