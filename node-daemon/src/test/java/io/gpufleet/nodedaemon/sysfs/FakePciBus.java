package io.gpufleet.nodedaemon.sysfs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** PCI devices below a directory, as sysfs shows them. */
public record FakePciBus(Path sysfs) {
    /** Plugs in a GPU, or leaves it, and binds it to a driver: {@code nvidia}, {@code vfio-pci}. */
    public FakePciBus bind(String address, String driver) {
        Path link = plug(address).resolve("driver");
        try {
            Files.deleteIfExists(link);
            Files.createSymbolicLink(
                    link, Path.of("../../../../bus/pci/drivers").resolve(driver));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /** Plugs in a GPU that is bound to no driver. */
    public Path plug(String address) {
        Path device = device(address);
        try {
            Files.createDirectories(device);
            Files.writeString(device.resolve("vendor"), "0x10de\n");
            Files.writeString(device.resolve("class"), "0x030200\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return device;
    }

    /** Takes out a GPU. */
    public FakePciBus remove(String address) {
        Path device = device(address);
        try {
            for (String file : new String[] {"driver", "vendor", "class", ""}) {
                Files.deleteIfExists(device.resolve(file));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    private Path device(String address) {
        return sysfs.resolve("bus/pci/devices").resolve(address);
    }
}
