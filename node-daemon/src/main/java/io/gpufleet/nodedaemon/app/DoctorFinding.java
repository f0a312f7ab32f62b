package io.gpufleet.nodedaemon.app;

/**
 * One finding of the node's examination.
 *
 * @param subject what was examined, in a few words
 * @param status severity
 * @param found the observation, one line
 * @param remedy what to do about it; empty when nothing
 */
public record DoctorFinding(String subject, Status status, String found, String remedy) {
    /** Severity of a finding. */
    public enum Status {
        /** No problem. */
        OK,
        /** The daemon works, but with restrictions or not for long. */
        WARN,
        /** GPUs are not offered, or events are not sent. */
        FAIL
    }

    /** Makes a finding without a problem. */
    public static DoctorFinding ok(String subject, String found) {
        return new DoctorFinding(subject, Status.OK, found, "");
    }

    /** Makes a warning. */
    public static DoctorFinding warn(String subject, String found, String remedy) {
        return new DoctorFinding(subject, Status.WARN, found, remedy);
    }

    /** Makes a finding that prevents the daemon from working. */
    public static DoctorFinding fail(String subject, String found, String remedy) {
        return new DoctorFinding(subject, Status.FAIL, found, remedy);
    }
}
