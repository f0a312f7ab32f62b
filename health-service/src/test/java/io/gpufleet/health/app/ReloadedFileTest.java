package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReloadedFileTest {
    private final ReloadedFile<HealthMachine> policy = new ReloadedFile<>("policy", "one", text -> {
        if (text.startsWith("bad")) {
            throw new IllegalArgumentException("line 1 is bad");
        }
        return new HealthMachine(TestPolicies.standard(), Duration.ofMinutes(10));
    });
    private final HealthMachine first = policy.get();

    @Test
    void changedTextReplacesThePolicy() {
        policy.reload(() -> "two");

        assertThat(policy.get()).isNotSameAs(first);
        assertThat(policy.problems()).isEmpty();
    }

    @Test
    void sameTextReplacesNothing() {
        policy.reload(() -> "one");

        assertThat(policy.get()).isSameAs(first);
    }

    @Test
    void badTextKeepsTheFormerPolicyAndSaysSo() {
        policy.reload(() -> "bad");

        assertThat(policy.get()).isSameAs(first);
        assertThat(policy.problems()).containsExactly("policy: line 1 is bad");
    }

    @Test
    void unreadableFileKeepsTheFormerPolicyAndSaysSo() {
        policy.reload(() -> {
            throw new IllegalStateException("the file is gone");
        });

        assertThat(policy.get()).isSameAs(first);
        assertThat(policy.problems()).containsExactly("policy: the file is gone");
    }

    @Test
    void mendedTextEndsTheProblem() {
        policy.reload(() -> "bad");
        policy.reload(() -> "one");

        assertThat(policy.problems()).isEmpty();
    }
}
