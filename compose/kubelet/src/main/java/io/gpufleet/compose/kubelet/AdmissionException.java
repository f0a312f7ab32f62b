package io.gpufleet.compose.kubelet;

/** A container can not have its devices; the message is worded as the kubelet words it. */
public final class AdmissionException extends Exception {
    private static final long serialVersionUID = 1L;

    /** With the text that becomes the pod's status message. */
    public AdmissionException(String message) {
        super(message);
    }
}
