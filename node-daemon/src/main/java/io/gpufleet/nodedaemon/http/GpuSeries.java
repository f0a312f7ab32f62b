package io.gpufleet.nodedaemon.http;

import io.gpufleet.nodedaemon.http.DcgmField.Kind;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Meters;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.SliceVitals;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The series of one GPU: under which labels its values stand.
 *
 * @param board labels of the GPU, without any pod
 * @param vitals what it last said of itself; empty when it said nothing
 * @param whole the GPU as one part
 * @param slices its MIG instances; empty unless it is partitioned
 */
record GpuSeries(Gpu gpu, String board, Optional<Vitals> vitals, Part whole, List<Part> slices) {
    /**
     * Something that is held: a GPU, or a MIG instance.
     *
     * @param labels its own, without any pod
     * @param holders its own with those of a holder, one entry a holder
     * @param shared whether several may hold it
     * @param meters what the part says of itself
     */
    record Part(String labels, List<String> holders, boolean shared, Meters meters) {
        /** Writes a value of this part so that sums over all its series are right; see decision 14. */
        void write(TextPage page, String name, Kind kind, double value) {
            switch (kind) {
                case STATE -> everyHolder(page, name, "", value);
                case AMOUNT -> everyHolder(page, name, "", value / Math.max(1, holders.size()));
                case COUNT -> once(page, name, "", value);
            }
        }

        void everyHolder(TextPage page, String name, String more, double value) {
            if (holders.isEmpty()) {
                page.sample(name, labels + more, value);
            }
            for (String holder : holders) {
                page.sample(name, holder + more, value);
            }
        }

        /** With the pod where it can only be this one. */
        void once(TextPage page, String name, String more, double value) {
            page.sample(name, (shared || holders.isEmpty() ? labels : holders.getFirst()) + more, value);
        }
    }

    /** The series of a GPU. */
    static GpuSeries of(Gpu gpu, String board, Optional<Vitals> vitals, Holders holders) {
        Part whole = part(board, gpu.uuid(), holders, Meters.NONE);
        var slices = new ArrayList<Part>();
        for (MigInstance instance : gpu.instances()) {
            String labels = Labels.after(board)
                    .with("GPU_I_PROFILE", instance.profile())
                    .with("GPU_I_ID", Integer.toString(instance.gpuInstance()))
                    .text();
            // A partitioned GPU may still be handed out as a whole.
            String held = holders.of(instance.uuid()).isEmpty() ? gpu.uuid() : instance.uuid();
            slices.add(part(labels, held, holders, meters(vitals, instance)));
        }
        return new GpuSeries(gpu, board, vitals, whole, List.copyOf(slices));
    }

    private static Part part(String labels, String uuid, Holders holders, Meters meters) {
        List<Holders.Held> held = holders.of(uuid);
        List<String> with =
                held.stream().map(one -> one.labels(labels)).distinct().toList();
        boolean shared = held.stream().anyMatch(one -> !one.replica().isEmpty()) || with.size() > 1;
        return new Part(labels, with, shared, meters);
    }

    private static Meters meters(Optional<Vitals> vitals, MigInstance instance) {
        return vitals.flatMap(its -> its.slices().stream()
                        .filter(slice -> slice.migUuid().equals(instance.uuid()))
                        .findFirst())
                .map(SliceVitals::meters)
                .orElse(Meters.NONE);
    }

    /** Writes one metric of the GPU, or of its instances where they are asked for it. */
    void write(TextPage page, DcgmField field) {
        if (vitals.isEmpty()) {
            return;
        }
        boolean asked = false;
        for (Part slice : slices) {
            if (field.ofSlice().apply(slice.meters()) instanceof Reading.Known<Double>(Double value)) {
                slice.write(page, field.name(), field.kind(), value);
                asked = true;
            }
        }
        if (!asked && field.ofGpu().apply(vitals.get()) instanceof Reading.Known<Double>(Double value)) {
            if (field.kind() == Kind.STATE) {
                state(page, field.name(), "", value);
            } else if (slices.isEmpty()) {
                whole.write(page, field.name(), field.kind(), value);
            } else {
                page.sample(field.name(), board, value);
            }
        }
    }

    /** A state of the board, shown to everybody who holds some of it. */
    void state(TextPage page, String name, String more, double value) {
        for (Part part : slices.isEmpty() ? List.of(whole) : slices) {
            part.everyHolder(page, name, more, value);
        }
    }

    /** A count of the board. */
    void count(TextPage page, String name, String more, double value) {
        if (slices.isEmpty()) {
            whole.once(page, name, more, value);
        } else {
            page.sample(name, board + more, value);
        }
    }
}
