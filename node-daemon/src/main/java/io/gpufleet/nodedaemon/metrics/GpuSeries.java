package io.gpufleet.nodedaemon.metrics;

import io.gpufleet.nodedaemon.metrics.DcgmField.MetricKind;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuMetricReadings;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.MigInstanceSample;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The series of one GPU with their labels.
 *
 * @param board labels of the GPU, without a pod
 * @param sample its newest sample, if it has one
 * @param whole the GPU as one device
 * @param migInstances its MIG instances; empty unless it is partitioned
 */
record GpuSeries(
        Gpu gpu, String board, Optional<GpuSample> sample, DeviceSeries whole, List<DeviceSeries> migInstances) {
    /**
     * The series of a GPU or a MIG instance.
     *
     * @param labels labels of the device, without a pod
     * @param holders labels of the device and of a holder, one entry per holder
     * @param shared whether it may have several holders
     * @param metrics readings of the device
     */
    record DeviceSeries(String labels, List<String> holders, boolean shared, GpuMetricReadings metrics) {
        /** Writes a value so that the sum over all series of the device is right; see decision 14. */
        void write(PrometheusTextWriter page, String name, MetricKind kind, double value) {
            switch (kind) {
                case STATE -> writePerHolder(page, name, "", value);
                case AMOUNT -> writePerHolder(page, name, "", value / Math.max(1, holders.size()));
                case COUNT -> writeOnce(page, name, "", value);
            }
        }

        void writePerHolder(PrometheusTextWriter page, String name, String more, double value) {
            if (holders.isEmpty()) {
                page.sample(name, labels + more, value);
            }
            for (String holder : holders) {
                page.sample(name, holder + more, value);
            }
        }

        /** Writes one series, with the holder if there can be only one. */
        void writeOnce(PrometheusTextWriter page, String name, String more, double value) {
            page.sample(name, (shared || holders.isEmpty() ? labels : holders.getFirst()) + more, value);
        }
    }

    /** Creates the series of a GPU. */
    static GpuSeries of(Gpu gpu, String board, Optional<GpuSample> sample, HoldersByDevice holders) {
        DeviceSeries whole = deviceSeries(board, gpu.uuid(), holders, GpuMetricReadings.NONE);
        var migInstances = new ArrayList<DeviceSeries>();
        for (MigInstance instance : gpu.instances()) {
            String labels = MetricLabels.after(board)
                    .with("GPU_I_PROFILE", instance.profile())
                    .with("GPU_I_ID", Integer.toString(instance.gpuInstance()))
                    .text();
            // A partitioned GPU may still be allocated as a whole.
            String held = holders.of(instance.uuid()).isEmpty() ? gpu.uuid() : instance.uuid();
            migInstances.add(deviceSeries(labels, held, holders, metrics(sample, instance)));
        }
        return new GpuSeries(gpu, board, sample, whole, List.copyOf(migInstances));
    }

    private static DeviceSeries deviceSeries(
            String labels, String uuid, HoldersByDevice holders, GpuMetricReadings metrics) {
        List<HoldersByDevice.DeviceHolder> held = holders.of(uuid);
        List<String> with =
                held.stream().map(one -> one.labels(labels)).distinct().toList();
        boolean shared = held.stream().anyMatch(one -> !one.replica().isEmpty()) || with.size() > 1;
        return new DeviceSeries(labels, with, shared, metrics);
    }

    private static GpuMetricReadings metrics(Optional<GpuSample> sample, MigInstance instance) {
        return sample.flatMap(its -> its.migInstances().stream()
                        .filter(of -> of.migUuid().equals(instance.uuid()))
                        .findFirst())
                .map(MigInstanceSample::metrics)
                .orElse(GpuMetricReadings.NONE);
    }

    /** Writes one metric of the MIG instances, or of the GPU if they do not have it. */
    void write(PrometheusTextWriter page, DcgmField field) {
        if (sample.isEmpty()) {
            return;
        }
        boolean written = false;
        for (DeviceSeries instance : migInstances) {
            if (field.ofMigInstance().apply(instance.metrics()) instanceof Reading.Known<Double>(Double value)) {
                instance.write(page, field.name(), field.kind(), value);
                written = true;
            }
        }
        if (!written && field.ofGpu().apply(sample.get()) instanceof Reading.Known<Double>(Double value)) {
            if (field.kind() == MetricKind.STATE) {
                writeState(page, field.name(), "", value);
            } else if (migInstances.isEmpty()) {
                whole.write(page, field.name(), field.kind(), value);
            } else {
                page.sample(field.name(), board, value);
            }
        }
    }

    /** Writes a state of the GPU, one series per holder of any of its devices. */
    void writeState(PrometheusTextWriter page, String name, String more, double value) {
        for (DeviceSeries device : migInstances.isEmpty() ? List.of(whole) : migInstances) {
            device.writePerHolder(page, name, more, value);
        }
    }

    /** Writes a counter of the GPU. */
    void writeCount(PrometheusTextWriter page, String name, String more, double value) {
        if (migInstances.isEmpty()) {
            whole.writeOnce(page, name, more, value);
        } else {
            page.sample(name, board + more, value);
        }
    }
}
