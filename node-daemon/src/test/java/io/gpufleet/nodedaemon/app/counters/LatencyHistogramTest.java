package io.gpufleet.nodedaemon.app.counters;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class LatencyHistogramTest {
    @Test
    void bucketsAreCumulative() {
        var latencies = new LatencyHistogram();
        latencies.observe(Duration.ofNanos(25_000).toNanos());
        latencies.observe(Duration.ofNanos(26_000).toNanos());
        latencies.observe(Duration.ofSeconds(60).toNanos());

        LatencyHistogram.Snapshot read = latencies.read();

        assertThat(read.buckets().get(0)).isEqualTo(new LatencyHistogram.Bucket(0.000025, 1));
        assertThat(read.buckets().get(1)).isEqualTo(new LatencyHistogram.Bucket(0.00005, 2));
        assertThat(read.buckets().getLast()).isEqualTo(new LatencyHistogram.Bucket(Double.POSITIVE_INFINITY, 3));
        assertThat(read.count()).isEqualTo(3);
        assertThat(read.sumSeconds()).isEqualTo(60.000051);
    }
}
