package io.gpufleet.allocation.model.quota;

import java.util.List;

/** Decision on the creation of a pod. */
public sealed interface AdmissionDecision {
    /** The pod may be created; the API server shows the warnings to its creator. */
    record Admitted(List<String> warnings) implements AdmissionDecision {
        /** Admission without warnings. */
        public static final Admitted WITHOUT_WARNINGS = new Admitted(List.of());
    }

    /** The pod is denied; the message names the reason and the remedy in one line. */
    record Denied(String message) implements AdmissionDecision {}

    /** Nothing was decided on the pod, because there are too many; its creator tries again in a second. */
    record Throttled(String message) implements AdmissionDecision {}

    /** No replica can decide now; the API server applies the failure policy of the webhook. */
    record Unavailable(String message) implements AdmissionDecision {}
}
