package io.gpufleet.nodedaemon.cdi;

/**
 * A file, directory or socket of the host that containers get.
 *
 * @param hostPath where it is on the host
 * @param containerPath where containers see it
 */
record HostFile(String hostPath, String containerPath) {}
