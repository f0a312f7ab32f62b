package io.gpufleet.nodedaemon.cdi;

import io.gpufleet.nodedaemon.app.RuntimeSpecs;
import io.gpufleet.nodedaemon.model.CdiNames;
import io.gpufleet.nodedaemon.model.HostPlaces;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Our CDI spec file, replaced whole by a rename. It is left behind at the end: a container that runs may be started
 * again while the daemon is away.
 */
public final class SpecFile implements RuntimeSpecs {
    private static final Logger LOG = LoggerFactory.getLogger(SpecFile.class);

    private final HostPlaces places;
    private final Path file;
    private String trouble = "";

    /** A file in a directory that container runtimes read. */
    public SpecFile(Path directory, HostPlaces places) {
        this.places = places;
        this.file = directory.resolve("gpufleet.io-gpu.json");
    }

    @Override
    public CdiNames describe(Devices devices) {
        var driver = DriverFiles.of(new DriverRoot(places, devices.driverRoot()), devices.driverVersion());
        var spec = new SpecText(devices, driver);
        try {
            if (spec.names().isEmpty()) {
                Files.deleteIfExists(file);
            } else {
                keep(spec, devices, driver);
            }
            trouble = "";
            return new CdiNames(spec.names(), "");
        } catch (IOException refused) {
            return new CdiNames(Set.of(), troubled(refused));
        }
    }

    private void keep(SpecText spec, Devices devices, DriverFiles driver) throws IOException {
        byte[] text = spec.text().getBytes(StandardCharsets.UTF_8);
        if (Arrays.equals(text, written())) {
            return;
        }
        replace(text);
        LOG.atInfo()
                .addKeyValue("file", file)
                .addKeyValue("devices", spec.names().size())
                .addKeyValue("driver", devices.driverVersion())
                .addKeyValue(
                        "mounts", driver.libraries().size() + driver.others().size())
                .log("CDI spec is written");
        if (driver.libraries().isEmpty()) {
            LOG.atWarn()
                    .addKeyValue("root", devices.driverRoot())
                    .addKeyValue("driver", devices.driverVersion())
                    .log("no library of the driver's version is below the driver root, containers get none by CDI;"
                            + " set GPUFLEET_DRIVER_ROOT and GPUFLEET_HOST_ROOT");
        }
    }

    private byte[] written() throws IOException {
        try {
            return Files.readAllBytes(file);
        } catch (NoSuchFileException first) {
            return new byte[0];
        }
    }

    private void replace(byte[] text) throws IOException {
        Files.createDirectories(file.getParent());
        // Runtimes read *.json and *.yaml, also those that begin with a dot: half a file must not be called so.
        Path next = file.resolveSibling("gpufleet.io-gpu.next");
        try (var channel = FileChannel.open(
                next, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            var bytes = ByteBuffer.wrap(text);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(false);
        }
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private String troubled(IOException refused) {
        String line = "the CDI spec " + file + " can not be written (" + refused + "); make the directory writable to"
                + " the daemon, name another by GPUFLEET_CDI_DIR, or choose a strategy other than cdi-annotations and"
                + " cdi-cri";
        if (!line.equals(trouble)) {
            trouble = line;
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", refused.toString())
                    .log("the CDI spec can not be written, devices are not handed out by CDI");
        }
        return line;
    }
}
