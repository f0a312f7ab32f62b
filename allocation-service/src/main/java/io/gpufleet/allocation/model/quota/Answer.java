package io.gpufleet.allocation.model.quota;

import java.util.List;

/** What a pod's creator is told. */
public sealed interface Answer {
    /** Come in; warnings are shown to the creator. */
    record Admitted(List<String> warnings) implements Answer {
        /** Nothing to warn of. */
        public static final Admitted PLAINLY = new Admitted(List.of());
    }

    /** Refused, with one line that says why and what to do. */
    record Denied(String line) implements Answer {}

    /** Nobody can decide now; whoever asked applies its failure policy. */
    record Unavailable(String line) implements Answer {}
}
