package io.gpufleet.health.app.remediation;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.remediation.RemediationClient.Absent;
import io.gpufleet.health.app.remediation.RemediationClient.Failed;
import io.gpufleet.health.app.remediation.RemediationClient.Found;
import io.gpufleet.health.app.remediation.RemediationClient.ObjectPhase;
import io.gpufleet.health.app.remediation.RemediationClient.RemediationResponse;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.runtime.simulation.CommittedFold;
import io.gpufleet.runtime.simulation.Link;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Objects in memory, and the executors that claim them, get stuck, give up, or do what is asked for. No object is made twice, nor
 * beside another one of its node, nor without its committed request.
 */
public final class SimulatedExecutors {
    private static final String EXECUTOR = "executor";

    private final Random random;
    private final CommittedFold<NodeState> fold;
    /** Does what is asked for about a node. */
    private final BiConsumer<String, Remediation> effect;

    private final Map<String, Asked> objects = new TreeMap<>();
    private final Set<String> stuck = new HashSet<>();
    private int versions;

    private record Asked(String node, Remediation remediation, Found found) {}

    /** No objects yet. */
    public SimulatedExecutors(Random random, CommittedFold<NodeState> fold, BiConsumer<String, Remediation> effect) {
        this.random = random;
        this.fold = fold;
        this.effect = effect;
    }

    /** An executor does something about an object, or stops for ever. */
    public void act() {
        List<String> open = open();
        if (open.isEmpty()) {
            return;
        }
        String name = open.get(random.nextInt(open.size()));
        switch (random.nextInt(6)) {
            case 0 -> stuck.add(name);
            case 1 -> put(name, phase(name) == ObjectPhase.PENDING ? ObjectPhase.CLAIMED : ObjectPhase.FAILED);
            default -> goOn(name);
        }
    }

    /** Every executor that is not stuck does what is asked for. */
    public void finish() {
        open().forEach(this::goOn);
    }

    private List<String> open() {
        var names = new ArrayList<String>();
        objects.forEach((name, asked) -> {
            if (!asked.found().phase().ended() && !stuck.contains(name)) {
                names.add(name);
            }
        });
        return names;
    }

    private void goOn(String name) {
        switch (phase(name)) {
            case PENDING -> put(name, ObjectPhase.CLAIMED);
            case CLAIMED -> put(name, ObjectPhase.RUNNING);
            case RUNNING -> {
                put(name, ObjectPhase.SUCCEEDED);
                Asked asked = asked(name);
                effect.accept(asked.node(), asked.remediation());
            }
            case SUCCEEDED, FAILED, TIMED_OUT, WITHDRAWN -> throw new AssertionError(name + " has ended");
        }
    }

    private Asked asked(String name) {
        return Objects.requireNonNull(objects.get(name));
    }

    private ObjectPhase phase(String name) {
        return asked(name).found().phase();
    }

    private void put(String name, ObjectPhase phase) {
        Asked before = asked(name);
        versions++;
        objects.put(
                name,
                new Asked(
                        before.node(),
                        before.remediation(),
                        new Found(phase, EXECUTOR, "", Integer.toString(versions))));
    }

    /** Objects that were made so far. */
    public int made() {
        return objects.size();
    }

    /**
     * A client of one process.
     *
     * @param mayWrite whether its process may act now; each change is checked against it
     */
    public RemediationClient client(Link link, BooleanSupplier mayWrite) {
        return new RemediationClient() {
            @Override
            public RemediationResponse create(String node, Remediation remediation) {
                return call(link, () -> {
                    assertThat(mayWrite.getAsBoolean())
                            .as("a remediation is asked for by a replica that may not act")
                            .isTrue();
                    if (!objects.containsKey(remediation.name())) {
                        make(node, remediation);
                    }
                    return asked(remediation.name()).found();
                });
            }

            @Override
            public RemediationResponse find(Remediation remediation) {
                return call(
                        link,
                        () -> Optional.ofNullable(objects.get(remediation.name()))
                                .<RemediationResponse>map(Asked::found)
                                .orElseGet(Absent::new));
            }

            @Override
            public RemediationResponse end(Remediation remediation, Found found, ObjectPhase phase, String message) {
                return call(link, () -> {
                    assertThat(mayWrite.getAsBoolean())
                            .as("a remediation is ended by a replica that may not act")
                            .isTrue();
                    String name = remediation.name();
                    if (!asked(name).found().equals(found) || found.phase().ended()) {
                        return new Failed("409");
                    }
                    put(name, phase);
                    return asked(name).found();
                });
            }
        };
    }

    private static RemediationResponse call(Link link, Supplier<RemediationResponse> request) {
        try {
            return link.call(request, () -> new IllegalStateException("no answer"));
        } catch (IllegalStateException lost) {
            return new Failed("no answer");
        }
    }

    private void make(String node, Remediation remediation) {
        assertThat(fold.get(node).orElseThrow().acting().remediation().remediation())
                .as("committed request of %s", node)
                .isEqualTo(remediation);
        assertThat(objects.values())
                .filteredOn(asked -> asked.node().equals(node))
                .as("objects of %s beside %s", node, remediation)
                .allMatch(asked -> asked.found().phase().ended());
        versions++;
        objects.put(
                remediation.name(),
                new Asked(node, remediation, new Found(ObjectPhase.PENDING, "", "", Integer.toString(versions))));
    }
}
