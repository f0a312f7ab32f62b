package io.gpufleet.nodedaemon.cdi;

import io.gpufleet.kit.files.AtomicFile;
import io.gpufleet.nodedaemon.app.device.CdiSpecWriter;
import io.gpufleet.nodedaemon.model.allocation.CdiNames;
import io.gpufleet.nodedaemon.model.allocation.HostPaths;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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
    private final DrmNodes drm;
    private final Path file;
    private String lastError = "";

    /** Creates a writer for a directory that container runtimes read. */
    public CdiSpecFile(Path directory, HostPaths hostPaths) {
        this(directory, hostPaths, Path.of("/sys"));
    }

    CdiSpecFile(Path directory, HostPaths hostPaths, Path sysfs) {
        this.hostPaths = hostPaths;
        this.drm = new DrmNodes(sysfs);
        this.file = directory.resolve("gpufleet.io-gpu.json");
    }

    @Override
    public CdiNames write(Devices devices) {
        var driver = DriverFiles.of(new DriverRoot(hostPaths, devices.driverRoot()), devices.driverVersion());
        var spec = new CdiSpec(devices, driver, drm);
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
        // Runtimes read every *.json, even hidden ones: the temporary file ends in .next.
        if (!AtomicFile.writeIfChanged(file, text, AtomicFile.Durability.POWER_CUT)) {
            return;
        }
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
