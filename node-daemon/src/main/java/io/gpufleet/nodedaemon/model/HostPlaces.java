package io.gpufleet.nodedaemon.model;

/**
 * Where things of the host are, and where this process sees them: in a pod the two differ.
 *
 * @param hostRoot where this process sees the host's root directory; {@code /} outside of a pod
 * @param devRoot directory of the host whose {@code /dev} has the GPUs' nodes; empty: the driver root where it has them,
 *     else {@code /}
 */
public record HostPlaces(String hostRoot, String devRoot) {
    /** Where this process sees a path of the host. */
    public String seen(String hostPath) {
        return below(hostRoot, hostPath);
    }

    /** A path below a directory that may be the root. */
    public static String below(String directory, String path) {
        return (directory.equals("/") ? "" : directory) + (path.startsWith("/") ? path : "/" + path);
    }
}
