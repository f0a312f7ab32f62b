package io.gpufleet.nodedaemon.metrics;

import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.GpuMetricReadings;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.util.function.Function;

/**
 * One of dcgm-exporter's metrics.
 *
 * @param name the name in dashboards
 * @param kind how it is split over the holders of a shared device
 * @param help one line, with the unit
 * @param ofGpu reading of a GPU
 * @param ofMigInstance reading of a MIG instance; unavailable for metrics of the whole GPU
 */
record DcgmField(
        String name,
        MetricKind kind,
        String help,
        Function<GpuSample, Reading<Double>> ofGpu,
        Function<GpuMetricReadings, Reading<Double>> ofMigInstance) {
    private static final Reading<Double> PER_GPU_ONLY = new Reading.Unavailable<>("measured per GPU only");

    /** How a value is split over the holders of a shared device. */
    enum MetricKind {
        /** The same value for every holder, never summed: degrees, MHz, percent, ratios. */
        STATE("gauge"),
        /** Sums up to the device's value: watts, bytes. Each of n holders has one nth of it. */
        AMOUNT("gauge"),
        /** A counter since the driver was loaded. Has one series: a share of it would jump with every new holder. */
        COUNT("counter");

        private final String type;

        MetricKind(String type) {
            this.type = type;
        }

        String type() {
            return type;
        }
    }

    /** A metric of the whole GPU. */
    static <N extends Number> DcgmField ofBoard(
            String name, MetricKind kind, String help, Function<GpuSample, Reading<N>> reading) {
        return new DcgmField(
                name, kind, help, sample -> reading.apply(sample).map(Number::doubleValue), _ -> PER_GPU_ONLY);
    }

    /** A metric that MIG instances have as well. */
    static DcgmField ofMetric(String name, MetricKind kind, String help, GpuMetric metric) {
        return scaled(name, kind, help, metric, 1);
    }

    /** A metric in a unit that is a multiple of the {@link GpuMetric}'s unit. */
    static DcgmField scaled(String name, MetricKind kind, String help, GpuMetric metric, double unit) {
        Function<GpuMetricReadings, Reading<Double>> reading =
                metrics -> metrics.of(metric).map(value -> value / unit);
        return new DcgmField(name, kind, help, sample -> reading.apply(sample.metrics()), reading);
    }

    /** The same field with another reading of the GPU. */
    DcgmField withBoardReading(Function<GpuSample, Reading<Double>> ofGpu) {
        return new DcgmField(name, kind, help, ofGpu, ofMigInstance);
    }
}
