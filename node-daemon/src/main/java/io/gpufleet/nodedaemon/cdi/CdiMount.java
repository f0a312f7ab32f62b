package io.gpufleet.nodedaemon.cdi;

/**
 * A file, directory or socket of the host that is mounted into containers.
 *
 * @param hostPath path on the host
 * @param containerPath path in containers
 */
record CdiMount(String hostPath, String containerPath) {}
