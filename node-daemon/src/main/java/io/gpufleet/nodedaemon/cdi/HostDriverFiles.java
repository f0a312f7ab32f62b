package io.gpufleet.nodedaemon.cdi;

import io.gpufleet.nodedaemon.app.device.DriverFileFinder;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Mount;
import io.gpufleet.nodedaemon.model.allocation.HostPaths;
import java.util.List;
import java.util.stream.Stream;

/**
 * The files that a CDI spec would mount, for {@code host-mounts}: libraries in the library path of NVIDIA's images, programs
 * in their path of programs.
 *
 * @param hostPaths maps paths of the host to paths of this process
 */
public record HostDriverFiles(HostPaths hostPaths) implements DriverFileFinder {
    private static final String LIBRARIES = "/usr/local/nvidia/lib64/";
    private static final String PROGRAMS = "/usr/bin/";

    @Override
    public List<Mount> find(String driverRoot, String driverVersion) {
        DriverFiles files = DriverFiles.of(new DriverRoot(hostPaths, driverRoot), driverVersion);
        return Stream.concat(
                        files.libraries().stream()
                                .filter(file -> file.containerPath().startsWith(LIBRARIES))
                                .map(file -> new Mount(file.hostPath(), file.containerPath())),
                        files.others().stream()
                                .filter(file -> file.containerPath().startsWith(PROGRAMS))
                                .map(file -> new Mount(
                                        file.hostPath(),
                                        file.containerPath().replace(PROGRAMS, "/usr/local/nvidia/bin/"))))
                .toList();
    }
}
