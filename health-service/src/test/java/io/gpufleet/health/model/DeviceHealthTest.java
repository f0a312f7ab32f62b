package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.DeviceHealth.Healthy;
import io.gpufleet.health.model.DeviceHealth.Lost;
import io.gpufleet.health.model.DeviceHealth.Quarantined;
import io.gpufleet.health.model.DeviceHealth.Recovering;
import io.gpufleet.health.model.DeviceHealth.Retired;
import io.gpufleet.health.model.DeviceHealth.Suspect;
import io.gpufleet.health.model.DeviceHealth.Unhealthy;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The transitions as methods, the transitions as made, and the diagram say the same. */
class DeviceHealthTest {
    private static final Instant AT = Story.START;
    private static final Cause CAUSE = new Cause("Xid48", NextStep.RESET_GPU);
    private static final Cause OTHER = new Cause("Xid95", NextStep.RESET_GPU);
    private static final List<DeviceHealth> STATES = List.of(
            new Healthy(AT),
            new Suspect(AT, CAUSE),
            new Unhealthy(AT, CAUSE),
            new Recovering(AT, "Xid48"),
            new Quarantined(AT, "ada: because"),
            new Retired(AT, "ada: because"),
            new Lost(AT));
    private static final List<Aim> AIMS =
            List.of(new Aim.Well(), new Aim.Doubt(OTHER), new Aim.Out(OTHER), new Aim.Gone());

    @Test
    void everyLegalTransitionIsMadeAndNoOther() {
        // Given
        Set<String> legal = methods().map(Arrow::withoutLabel).collect(Collectors.toCollection(TreeSet::new));

        // When
        Set<String> made = new TreeSet<>();
        for (DeviceHealth from : STATES) {
            AIMS.forEach(aim -> note(made, from, Course.step(from, aim, Duration.ZERO, AT)));
            note(made, from, Course.quarantine(from, "ada: because", AT));
            note(made, from, Course.release(from, AT));
            note(made, from, Course.retire(from, "ada: because", AT));
        }

        // Then
        assertThat(made).isEqualTo(legal);
    }

    @Test
    void everyStateIsAmongThoseTried() {
        assertThat(STATES.stream().map(Object::getClass).collect(Collectors.toSet()))
                .containsExactlyInAnyOrder(DeviceHealth.class.getPermittedSubclasses());
    }

    @Test
    void onlyTheHealthyAndTheSuspectAreTrusted() {
        assertThat(STATES.stream().filter(DeviceHealth::trusted).map(DeviceHealth::state))
                .containsExactly(HealthState.HEALTHY, HealthState.SUSPECT);
    }

    @Test
    void theDiagramIsMadeFromTheMachine() throws IOException {
        // Given
        String drawn = "```mermaid\nstateDiagram-v2\n    [*] --> Healthy\n"
                + methods()
                        .map(arrow -> "    " + arrow.from() + " --> " + arrow.to() + " : " + arrow.label() + "\n")
                        .collect(Collectors.joining())
                + "```";

        // When
        String page = Files.readString(Path.of("device-health.md"));

        // Then
        assertThat(page)
                .as("device-health.md holds the diagram of the machine; it should hold:\n%s", drawn)
                .contains(drawn);
    }

    private static void note(Set<String> made, DeviceHealth from, DeviceHealth to) {
        if (!to.equals(from)) {
            made.add(new Arrow(name(from.getClass()), "", name(to.getClass())).withoutLabel());
        }
    }

    private record Arrow(String from, String label, String to) {
        String withoutLabel() {
            return from + " -> " + to;
        }
    }

    private static java.util.stream.Stream<Arrow> methods() {
        return STATES.stream()
                .map(Object::getClass)
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods())
                        .filter(method -> DeviceHealth.class.isAssignableFrom(method.getReturnType()))
                        .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                        .map(method -> new Arrow(name(type), method.getName(), name(method.getReturnType())))
                        .sorted(java.util.Comparator.comparing(Arrow::label)));
    }

    private static String name(Class<?> type) {
        return type.getSimpleName();
    }
}
