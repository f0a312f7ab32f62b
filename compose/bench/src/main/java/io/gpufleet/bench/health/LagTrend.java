package io.gpufleet.bench.health;

import java.util.ArrayList;
import java.util.List;

/** How many events waited during a load, by the time of each sample. */
final class LagTrend {
    /** Growth up to which a lag counts as flat, as a share of the rate of the events. */
    private static final double FLAT = 0.01;

    private record Sample(double seconds, double lag) {}

    private final List<Sample> samples = new ArrayList<>();

    void add(double seconds, double lag) {
        samples.add(new Sample(seconds, lag));
    }

    List<Double> lags() {
        return samples.stream().map(Sample::lag).toList();
    }

    /** Events by which it grows in a second: the slope of the line of least squares; 0 of less than two samples. */
    double growth() {
        double meanSeconds =
                samples.stream().mapToDouble(Sample::seconds).average().orElse(0);
        double meanLag = samples.stream().mapToDouble(Sample::lag).average().orElse(0);
        double together = 0;
        double spread = 0;
        for (Sample sample : samples) {
            together += (sample.seconds() - meanSeconds) * (sample.lag() - meanLag);
            spread += (sample.seconds() - meanSeconds) * (sample.seconds() - meanSeconds);
        }
        return spread == 0 ? 0 : together / spread;
    }

    /** Whether it does not grow at that many events a second. */
    boolean flat(double perSecond) {
        return growth() <= FLAT * perSecond;
    }
}
