package io.gpufleet.nodedaemon.cdi;

import io.gpufleet.nodedaemon.model.device.PciAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The nodes below {@code /dev/dri} of each GPU, by which EGL, Vulkan and video programs open it. */
record DrmNodes(Path sysfs) {
    /** Nodes of the GPU at a PCI address; none where its kernel module {@code nvidia-drm} is not loaded. */
    List<String> of(String pciBusId) {
        String address = PciAddress.parse(pciBusId).map(PciAddress::sysfs).orElse(pciBusId);
        try (Stream<Path> entries =
                Files.list(sysfs.resolve("bus/pci/devices").resolve(address).resolve("drm"))) {
            return entries.map(entry -> entry.getFileName().toString())
                    .filter(name -> name.matches("card\\d+|renderD\\d+"))
                    .map(name -> "/dev/dri/" + name)
                    .sorted()
                    .toList();
        } catch (IOException none) {
            return List.of();
        }
    }
}
