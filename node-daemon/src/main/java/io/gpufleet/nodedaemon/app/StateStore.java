package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.OpenFault;
import java.util.List;

/** What the daemon knows of its devices, kept over a restart. */
public interface StateStore {
    /** What was kept; nothing where nothing was, or where it can not be read. */
    Remembered load();

    /** Keeps it soon; the newest counts, a broken disk is reported and otherwise ignored. */
    void save(Remembered state);

    /**
     * What is kept.
     *
     * @param bootId boot in which it was kept; empty when nothing was
     * @param faults open faults
     * @param gpus every known GPU
     */
    record Remembered(String bootId, List<OpenFault> faults, List<Gpu> gpus) {
        /** Nothing. */
        public static final Remembered NOTHING = new Remembered("", List.of(), List.of());

        /** Copies the lists. */
        public Remembered {
            faults = List.copyOf(faults);
            gpus = List.copyOf(gpus);
        }
    }
}
