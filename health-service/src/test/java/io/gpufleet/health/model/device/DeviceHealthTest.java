package io.gpufleet.health.model.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.device.DeviceHealth.Healthy;
import io.gpufleet.health.model.device.DeviceHealth.Lost;
import io.gpufleet.health.model.device.DeviceHealth.Quarantined;
import io.gpufleet.health.model.device.DeviceHealth.Recovering;
import io.gpufleet.health.model.device.DeviceHealth.Retired;
import io.gpufleet.health.model.device.DeviceHealth.Suspect;
import io.gpufleet.health.model.device.DeviceHealth.Unhealthy;
import io.gpufleet.health.model.fault.RecommendedAction;
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

/** Transition methods, the transitions that {@link Transitions} makes, and the diagram are the same. */
class DeviceHealthTest {
    private static final Instant AT = Instant.parse("2026-03-01T10:00:00Z");
    private static final Path PAGE = Path.of("device-health.md");
    private static final Cause CAUSE = new Cause("Xid48", RecommendedAction.RESET_GPU);
    private static final Cause OTHER = new Cause("Xid95", RecommendedAction.RESET_GPU);
    private static final List<DeviceHealth> STATES = List.of(
            new Healthy(AT),
            new Suspect(AT, CAUSE),
            new Unhealthy(AT, CAUSE),
            new Recovering(AT, "Xid48"),
            new Quarantined(AT, "ada: because"),
            new Retired(AT, "ada: because"),
            new Lost(AT));
    private static final List<DesiredDeviceHealth> TARGETS = List.of(
            new DesiredDeviceHealth.Healthy(),
            new DesiredDeviceHealth.Suspect(OTHER),
            new DesiredDeviceHealth.Unhealthy(OTHER),
            new DesiredDeviceHealth.Lost());

    @Test
    void everyLegalTransitionIsMadeAndNoOther() {
        // Given
        Set<String> legal = methods().map(Transition::withoutLabel).collect(Collectors.toCollection(TreeSet::new));

        // When
        Set<String> made = new TreeSet<>();
        for (DeviceHealth from : STATES) {
            TARGETS.forEach(target -> addTransition(made, from, Transitions.next(from, target, Duration.ZERO, AT)));
            addTransition(made, from, Transitions.quarantine(from, "ada: because", AT));
            addTransition(made, from, Transitions.release(from, AT));
            addTransition(made, from, Transitions.retire(from, "ada: because", AT));
        }

        // Then
        assertThat(made).isEqualTo(legal);
    }

    @Test
    void everyStateIsTested() {
        assertThat(STATES.stream().map(Object::getClass).collect(Collectors.toSet()))
                .containsExactlyInAnyOrder(DeviceHealth.class.getPermittedSubclasses());
    }

    @Test
    void onlyHealthyAndSuspectAreTrusted() {
        assertThat(STATES.stream().filter(DeviceHealth::trusted).map(DeviceHealth::state))
                .containsExactly(HealthState.HEALTHY, HealthState.SUSPECT);
    }

    @Test
    void diagramShowsTheTransitions() throws IOException {
        // Given
        String drawn = "```mermaid\nstateDiagram-v2\n    [*] --> Healthy\n"
                + methods()
                        .map(made -> "    " + made.from() + " --> " + made.to() + " : " + made.label() + "\n")
                        .collect(Collectors.joining())
                + "```";

        // When
        String page = Files.readString(PAGE);
        String expected = page.substring(0, page.indexOf("```mermaid")) + drawn + "\n";
        if (Boolean.getBoolean("pages.write")) {
            Files.writeString(PAGE, expected);
        }

        // Then
        assertThat(Files.readString(PAGE))
                .as("run 'mvn -pl health-service test -Dtest=DeviceHealthTest -Dpages.write=true' and commit %s", PAGE)
                .isEqualTo(expected);
    }

    private static void addTransition(Set<String> made, DeviceHealth from, DeviceHealth to) {
        if (!to.equals(from)) {
            made.add(new Transition(name(from.getClass()), "", name(to.getClass())).withoutLabel());
        }
    }

    private record Transition(String from, String label, String to) {
        String withoutLabel() {
            return from + " -> " + to;
        }
    }

    private static java.util.stream.Stream<Transition> methods() {
        return STATES.stream()
                .map(Object::getClass)
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods())
                        .filter(method -> DeviceHealth.class.isAssignableFrom(method.getReturnType()))
                        .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                        .map(method -> new Transition(name(type), method.getName(), name(method.getReturnType())))
                        .sorted(java.util.Comparator.comparing(Transition::label)));
    }

    private static String name(Class<?> type) {
        return type.getSimpleName();
    }
}
