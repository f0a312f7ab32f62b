package io.gpufleet.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ServiceMetricsTest {
    private static final String BEFORE = """
            # TYPE hop_seconds histogram
            hop_seconds_bucket{hop="a",topic="health",le="0.01"} 5
            hop_seconds_bucket{hop="a",topic="health",le="0.02"} 5
            hop_seconds_bucket{hop="a",topic="health",le="+Inf"} 5
            patches_total 2.0
            """;
    private static final String AFTER = """
            hop_seconds_bucket{hop="a",topic="health",le="0.01"} 5
            hop_seconds_bucket{hop="a",topic="health",le="0.02"} 105
            hop_seconds_bucket{hop="a",topic="health",le="+Inf"} 105
            hop_seconds_bucket{hop="a",topic="signals",le="+Inf"} 70
            patches_total 7.0
            """;

    private final ServiceMetrics difference = ServiceMetrics.parse(AFTER).since(ServiceMetrics.parse(BEFORE));

    @Test
    void counterIsTheDifferenceOfTwoTimes() {
        assertThat(difference.value("patches_total")).isEqualTo(5);
        assertThat(difference.value("unknown_total")).isZero();
    }

    @Test
    void percentileIsLinearWithinItsBucketAndOfItsSeriesOnly() {
        var labels = Map.of("hop", "a", "topic", "health");

        assertThat(difference.millis("hop_seconds", labels, 50)).contains(15.0);
        assertThat(difference.millis("hop_seconds", Map.of("hop", "b"), 50)).isEmpty();
    }
}
