package io.gpufleet.nodedaemon.model;

/**
 * What an examination of the node found about one thing.
 *
 * @param subject the thing, in a few words
 * @param grade how bad it is
 * @param found what was seen, one line
 * @param remedy what to do about it; empty where there is nothing to do
 */
public record Finding(String subject, Grade grade, String found, String remedy) {
    /** How bad it is. */
    public enum Grade {
        /** As it should be. */
        OK,
        /** It works, but not as it could, or not for long. */
        WARN,
        /** GPUs are not offered, or events not sent. */
        FAIL
    }

    /** Nothing to do. */
    public static Finding ok(String subject, String found) {
        return new Finding(subject, Grade.OK, found, "");
    }

    /** Worth a look. */
    public static Finding warn(String subject, String found, String remedy) {
        return new Finding(subject, Grade.WARN, found, remedy);
    }

    /** Keeps the daemon from its work. */
    public static Finding fail(String subject, String found, String remedy) {
        return new Finding(subject, Grade.FAIL, found, remedy);
    }
}
