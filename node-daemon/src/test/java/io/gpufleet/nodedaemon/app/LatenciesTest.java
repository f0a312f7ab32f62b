package io.gpufleet.nodedaemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LatenciesTest {
    @Test
    void bucketsCountUpwardsAndTheLastHoldsAll() {
        var latencies = new Latencies();
        latencies.took(Duration.ofNanos(25_000).toNanos());
        latencies.took(Duration.ofNanos(26_000).toNanos());
        latencies.took(Duration.ofSeconds(60).toNanos());

        Latencies.Histogram read = latencies.read();

        assertThat(read.buckets().get(0)).isEqualTo(new Latencies.Bucket(0.000025, 1));
        assertThat(read.buckets().get(1)).isEqualTo(new Latencies.Bucket(0.00005, 2));
        assertThat(read.buckets().getLast()).isEqualTo(new Latencies.Bucket(Double.POSITIVE_INFINITY, 3));
        assertThat(read.count()).isEqualTo(3);
        assertThat(read.sumSeconds()).isEqualTo(60.000051);
    }
}
