package io.gpufleet.health.app.remediation;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.app.remediation.RemediationClient.Found;
import io.gpufleet.health.app.remediation.RemediationClient.ObjectPhase;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Faults, boots, crashes, people and executors in any order: nothing is asked for twice, or while it is held back. */
class RemediationPropertyTest {
    private static final int STEPS = 60;

    private final RemediationHarness fleet = new RemediationHarness(
            TestPolicies.remediating(TestPolicies.standard(), RecommendedAction.RESET_GPU, RecommendedAction.REBOOT));

    @Property(tries = 500)
    void nothingIsAskedForTwiceOrWhileItIsHeldBack(@ForAll long seed) {
        var random = new Random(seed);
        for (int i = 0; i < STEPS; i++) {
            long before = fleet.objects.made.size();
            boolean heldBack = fleet.freeze.isPresent()
                    || !fleet.held
                    || fleet.node.state().maintenance().isPresent()
                    || fleet.node.state().quarantine() != null;
            happens(random);
            long made = fleet.objects.made.size() - before;

            assertThat(fleet.objects.made).doesNotHaveDuplicates();
            assertThat(made).isLessThanOrEqualTo(heldBack ? 0 : 1);
            // Of an open request there is one object, which nobody can confuse with a former one.
            assertThat(openObjects()).isLessThanOrEqualTo(1);
        }
    }

    private long openObjects() {
        fleet.held = true;
        fleet.commits = true;
        if (!fleet.progress().open()) {
            Optional<String> before = fleet.freeze;
            fleet.freeze = Optional.of("to end what is left only");
            fleet.run();
            fleet.freeze = before;
        }
        return fleet.objects.objects.values().stream()
                .filter(found -> !found.phase().ended())
                .count();
    }

    private void happens(Random random) {
        switch (random.nextInt(12)) {
            case 0 ->
                fleet.node.xid("gpu-" + random.nextInt(2), List.of(79, 95, 48).get(random.nextInt(3)));
            case 1 -> fleet.node.cleared("gpu-" + random.nextInt(2), FaultCode.xid(95));
            case 2 -> fleet.reboot();
            case 3 -> fleet.node.advance(Duration.ofMinutes(random.nextInt(40))).tick();
            case 4 -> fleet.freeze = random.nextBoolean() ? Optional.of("frozen") : Optional.empty();
            case 5 ->
                fleet.node.command(random.nextBoolean() ? Command.BEGIN_MAINTENANCE : Command.END_MAINTENANCE, "");
            case 6 -> executor(random);
            case 7 -> {
                fleet.commits = false;
                fleet.run();
                fleet.commits = true;
            }
            case 8 -> fleet.node.command(random.nextBoolean() ? Command.QUARANTINE : Command.RELEASE, "");
            default -> fleet.run();
        }
    }

    /** Claims, works, lies, gives up; what has ended it cannot write any more. */
    private void executor(Random random) {
        var remediation = fleet.progress().remediation();
        if (fleet.objects.find(remediation) instanceof Found found
                && !found.phase().ended()) {
            ObjectPhase next = List.of(
                            ObjectPhase.CLAIMED, ObjectPhase.RUNNING, ObjectPhase.SUCCEEDED, ObjectPhase.FAILED)
                    .get(random.nextInt(4));
            fleet.objects.status(remediation, next, "executor", "");
        }
    }
}
