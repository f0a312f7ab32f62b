package io.gpufleet.runtime.leadership;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.runtime.simulation.SimulatedTime;
import java.time.Duration;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class BrokerContactTest {
    private final SimulatedTime time = new SimulatedTime();
    private final BrokerContact contact = new BrokerContact("broker:9092", Duration.ofSeconds(6), time::nanos);

    @Test
    void silentBrokerIsReportedBeforeTheSessionIsOver() {
        time.advance(Duration.ofSeconds(4));
        assertThat(contact.check()).isEqualTo(Duration.ofSeconds(1));
        assertThat(contact.silentFor()).isEmpty();

        // When
        time.advance(Duration.ofSeconds(1));
        contact.check();

        // Then
        assertThat(contact.silentFor()).contains(Duration.ofSeconds(5));
    }

    @Test
    void answerEndsTheSilenceAndCountsAnew() {
        time.advance(Duration.ofSeconds(7));
        contact.check();

        // When
        contact.answered();

        // Then
        assertThat(contact.silentFor()).isEmpty();
        assertThat(contact.check()).isEqualTo(Duration.ofSeconds(5));
    }
}
