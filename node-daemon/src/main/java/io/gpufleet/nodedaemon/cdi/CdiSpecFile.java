package io.gpufleet.nodedaemon.cdi;

import io.gpufleet.nodedaemon.app.device.CdiSpecWriter;
import io.gpufleet.nodedaemon.model.allocation.CdiNames;
import io.gpufleet.nodedaemon.model.allocation.HostPaths;
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
 * Our CDI spec file, replaced atomically by a rename. It is not deleted at the end: a container may be restarted while the
 * daemon is down.
 */
public final class CdiSpecFile implements CdiSpecWriter {
    private static final Logger LOG = LoggerFactory.getLogger(CdiSpecFile.class);

    private final HostPaths hostPaths;
    private final Path file;
    private String lastError = "";

    /** Creates a writer for a directory that container runtimes read. */
    public CdiSpecFile(Path directory, HostPaths hostPaths) {
        this.hostPaths = hostPaths;
        this.file = directory.resolve("gpufleet.io-gpu.json");
    }

    @Override
    public CdiNames write(Devices devices) {
        var driver = DriverFiles.of(new DriverRoot(hostPaths, devices.driverRoot()), devices.driverVersion());
        var spec = new CdiSpec(devices, driver);
        try {
            if (spec.names().isEmpty()) {
                Files.deleteIfExists(file);
            } else {
                writeIfChanged(spec, devices, driver);
            }
            lastError = "";
            return new CdiNames(spec.names(), "");
        } catch (IOException failed) {
            return new CdiNames(Set.of(), reportError(failed));
        }
    }

    private void writeIfChanged(CdiSpec spec, Devices devices, DriverFiles driver) throws IOException {
        byte[] text = spec.text().getBytes(StandardCharsets.UTF_8);
        if (Arrays.equals(text, currentBytes())) {
            return;
        }
        replace(text);
        LOG.atInfo()
                .addKeyValue("file", file)
                .addKeyValue("devices", spec.names().size())
                .addKeyValue("driver", devices.driverVersion())
                .addKeyValue(
                        "mounts", driver.libraries().size() + driver.others().size())
                .log("CDI spec written");
        if (driver.libraries().isEmpty()) {
            LOG.atWarn()
                    .addKeyValue("root", devices.driverRoot())
                    .addKeyValue("driver", devices.driverVersion())
                    .log("no library of the driver's version found below the driver root, CDI injects none;"
                            + " set GPUFLEET_DRIVER_ROOT and GPUFLEET_HOST_ROOT");
        }
    }

    private byte[] currentBytes() throws IOException {
        try {
            return Files.readAllBytes(file);
        } catch (NoSuchFileException first) {
            return new byte[0];
        }
    }

    private void replace(byte[] text) throws IOException {
        Files.createDirectories(file.getParent());
        // Runtimes read all *.json and *.yaml, even hidden ones, so the temporary file must have another suffix.
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

    private String reportError(IOException failed) {
        String line = "CDI spec " + file + " cannot be written (" + failed + "); make the directory writable for"
                + " the daemon, set another GPUFLEET_CDI_DIR, or choose a strategy other than cdi-annotations and"
                + " cdi-cri";
        if (!line.equals(lastError)) {
            lastError = line;
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", failed.toString())
                    .log("CDI spec cannot be written, devices are not injected by CDI");
        }
        return line;
    }
}
