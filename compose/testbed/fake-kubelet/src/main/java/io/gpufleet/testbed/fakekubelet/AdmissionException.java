package io.gpufleet.testbed.fakekubelet;

/** A container cannot be given its devices; the message is that of the kubelet. */
public final class AdmissionException extends Exception {
    private static final long serialVersionUID = 1L;

    /** The text becomes the pod's status message. */
    public AdmissionException(String message) {
        super(message);
    }
}
