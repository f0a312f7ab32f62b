package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.LearnedGpus;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import java.util.List;

/** Stores the state that outlives the process. */
public interface StateStore {
    /** Loads the state; empty when none was stored or it cannot be read. */
    StoredState load();

    /** Stores the state soon; only the newest is kept, a disk error is logged and otherwise ignored. */
    void save(StoredState state);

    /**
     * The stored state.
     *
     * @param bootId boot in which it was stored; empty when none was
     * @param faults open faults
     * @param gpus every known GPU
     * @param learned the GPUs that the node had, over boots
     * @param sinceEpoch epoch of the daemon that stored state first; 0 when that was one of a former release
     */
    record StoredState(String bootId, List<OpenFault> faults, List<Gpu> gpus, LearnedGpus learned, long sinceEpoch) {
        /** Nothing was stored before the daemon of this epoch. */
        public static StoredState empty(long sinceEpoch) {
            return new StoredState("", List.of(), List.of(), LearnedGpus.NONE, sinceEpoch);
        }

        /** Copies the lists. */
        public StoredState {
            faults = List.copyOf(faults);
            gpus = List.copyOf(gpus);
        }
    }
}
