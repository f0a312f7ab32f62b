package io.gpufleet.nodedaemon.model.allocation;

/**
 * Maps paths of the host to paths of this process: in a pod the two differ.
 *
 * @param hostRoot where this process sees the host's root directory; {@code /} outside of a pod
 * @param devRoot directory of the host whose {@code /dev} has the GPUs' nodes; empty: the driver root when it has them,
 *     else {@code /}
 */
public record HostPaths(String hostRoot, String devRoot) {
    /** Returns the path of this process for a path of the host. */
    public String processPath(String hostPath) {
        return resolve(hostRoot, hostPath);
    }

    /** Joins a path to a directory that may be the root. */
    public static String resolve(String directory, String path) {
        return (directory.equals("/") ? "" : directory) + (path.startsWith("/") ? path : "/" + path);
    }
}
