package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Path token of the webhook. */
class AdmissionProofTest {
    private static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");

    private static AdmissionProof at(Duration later, String key) {
        var proof = new AdmissionProof(Clock.fixed(NOW.plus(later), ZoneOffset.UTC));
        proof.replace(key);
        return proof;
    }

    @ParameterizedTest
    @CsvSource({"P0D, true", "P1D, true", "P-1D, true", "P2D, false", "P-2D, false"})
    void clockMayBeWrongByADay(Duration later, boolean accepted) {
        AdmissionProof proof = at(Duration.ZERO, "key");
        AdmissionProof other = at(later, "key");
        assertThat(other.acceptsPathToken(proof.pathToken())).isEqualTo(accepted);
    }

    @Test
    void proofOfAnotherKeyIsRefused() {
        AdmissionProof proof = at(Duration.ZERO, "key");
        AdmissionProof stranger = at(Duration.ZERO, "other");
        assertThat(proof.acceptsPathToken(stranger.pathToken())).isFalse();
        assertThat(proof.acceptsPathToken("")).isFalse();
    }

    @Test
    void nothingIsAcceptedBeforeTheFirstKey() {
        var proof = new AdmissionProof(Clock.fixed(NOW, ZoneOffset.UTC));
        assertThat(proof.acceptsPathToken("")).isFalse();
        assertThatThrownBy(proof::pathToken).hasMessage("the webhook has no key yet");
    }
}
