package io.gpufleet.health.app.remediation;

import io.gpufleet.health.model.remediation.Remediation;

/** Port: the objects that executors claim. Every method blocks, none throws. */
public interface RemediationClient {
    /** Makes the object of a remediation; answers with the one that has its name already, where there is one. */
    RemediationResponse create(String node, Remediation remediation);

    /** The object as it is now. */
    RemediationResponse find(Remediation remediation);

    /** Ends the object, unless it has ended or changed since it was found; executors cannot claim it any more. */
    RemediationResponse end(Remediation remediation, Found found, ObjectPhase phase, String message);

    /** Phase in the status of an object. */
    enum ObjectPhase {
        /** Nobody claimed it. */
        PENDING,
        /** An executor claimed it. */
        CLAIMED,
        /** An executor works on it. */
        RUNNING,
        /** An executor says that it is done, or effect proved it. */
        SUCCEEDED,
        /** An executor gave up. */
        FAILED,
        /** Its deadline passed. */
        TIMED_OUT,
        /** It was taken back. */
        WITHDRAWN;

        /** True when no executor works on it any more. */
        boolean ended() {
            return compareTo(SUCCEEDED) >= 0;
        }
    }

    /** Answer to a call. */
    sealed interface RemediationResponse permits Found, Absent, Failed, LeaseEnded {}

    /**
     * It is there.
     *
     * @param phase as its status says
     * @param executor who claimed it; empty when nobody did
     * @param message what its executor says; empty when nothing
     * @param version resource version
     */
    record Found(ObjectPhase phase, String executor, String message, String version) implements RemediationResponse {}

    /** There is no such object. */
    record Absent() implements RemediationResponse {}

    /** There is no answer, or a refusal; one line. */
    record Failed(String reason) implements RemediationResponse {}

    /** No call was made, since the lease is not held. */
    record LeaseEnded() implements RemediationResponse {}
}
