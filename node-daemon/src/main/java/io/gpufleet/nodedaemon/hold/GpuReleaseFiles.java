package io.gpufleet.nodedaemon.hold;

import io.gpufleet.kit.files.AtomicFile;
import io.gpufleet.kit.files.DirectoryWatch;
import io.gpufleet.nodedaemon.app.device.GpuReleaseRequestSource;
import io.gpufleet.nodedaemon.model.hold.GpuReleaseRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files of the run directory by which GPUs are requested and released:
 *
 * <pre>
 * hold      written and removed by others: "reason: TEXT" and "deadline: INSTANT or LENGTH", a line each
 * released  written by the daemon while the GPUs are released: "reason: ", "deadline: " and "pid: ", a line each
 * </pre>
 */
public final class GpuReleaseFiles implements GpuReleaseRequestSource, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GpuReleaseFiles.class);
    private static final String HOLD = "hold";
    /** Longest part of the hold file that is read. */
    private static final int MAX_BYTES = 4096;

    private final Path directory;
    private final Path hold;
    private final Path released;
    private final OpenGpuFiles openGpuFiles;
    private final Runnable otherFiles;
    private @Nullable DirectoryWatch watch;
    private volatile String fileVersion = "";
    private @Nullable GpuReleaseRequest lastRequest;
    private String lastWarning = "";

    /**
     * Uses a directory, which is created where it does not exist.
     *
     * @param gpuNodes prefix of the paths that must be closed before the GPUs count as released
     * @param otherFiles looks at other files of the node: called after each change in the directory and once a second, on the
     *     thread that watches
     */
    public GpuReleaseFiles(Path directory, String gpuNodes, Runnable otherFiles) {
        this.directory = directory;
        this.otherFiles = otherFiles;
        this.hold = directory.resolve(HOLD);
        this.released = directory.resolve("released");
        this.openGpuFiles = new OpenGpuFiles(gpuNodes);
    }

    @Override
    public void onChange(Runnable changed) {
        try {
            Files.createDirectories(directory);
        } catch (IOException notOurs) {
            LOG.atDebug().addKeyValue("directory", directory).log("directory of the hold file cannot be created");
        }
        watch = new DirectoryWatch(directory, names -> directoryChanged(names, changed));
    }

    private void directoryChanged(Set<String> names, Runnable changed) {
        String now = fileVersion();
        if (names.contains(HOLD) || !now.equals(fileVersion)) {
            fileVersion = now;
            changed.run();
        }
        otherFiles.run();
    }

    private String fileVersion() {
        try {
            BasicFileAttributes file = Files.readAttributes(hold, BasicFileAttributes.class);
            return file.fileKey() + " " + file.lastModifiedTime() + " " + file.size();
        } catch (IOException notThere) {
            return "";
        }
    }

    @Override
    public Optional<GpuReleaseRequest> request() {
        try {
            Instant written = Files.getLastModifiedTime(hold).toInstant();
            lastRequest = read(written);
        } catch (NoSuchFileException noRequest) {
            lastRequest = null;
        } catch (IOException unknown) {
            warnOnce("hold file cannot be read, last request stays in force", unknown.toString());
        }
        return Optional.ofNullable(lastRequest);
    }

    private GpuReleaseRequest read(Instant written) throws NoSuchFileException {
        try (var file = Files.newInputStream(hold)) {
            return GpuReleaseRequest.parse(new String(file.readNBytes(MAX_BYTES), StandardCharsets.UTF_8), written);
        } catch (NoSuchFileException goneMeanwhile) {
            throw goneMeanwhile;
        } catch (IOException unreadable) {
            return GpuReleaseRequest.unreadable(written, "the file cannot be read: " + unreadable.getMessage());
        }
    }

    @Override
    public boolean confirmReleased(GpuReleaseRequest request) {
        List<String> open = openGpuFiles.open();
        if (!open.isEmpty()) {
            warnOnce("GPUs cannot be released yet, this process still has them open", String.join(" ", open));
            return false;
        }
        try {
            String text = "reason: " + request.reason() + "\ndeadline: " + request.deadline() + "\npid: "
                    + ProcessHandle.current().pid() + "\n";
            AtomicFile.write(released, text.getBytes(StandardCharsets.UTF_8), AtomicFile.Durability.PROCESS);
        } catch (IOException failed) {
            warnOnce("released file cannot be written", failed.toString());
            return false;
        }
        lastWarning = "";
        LOG.atInfo().addKeyValue("file", released).log("GPUs released");
        return true;
    }

    @Override
    public void withdrawConfirmation() {
        try {
            Files.deleteIfExists(released);
        } catch (IOException failed) {
            warnOnce("released file cannot be removed", failed.toString());
        }
    }

    /** Logs a problem once. */
    private void warnOnce(String what, String why) {
        if (!lastWarning.equals(what + why)) {
            lastWarning = what + why;
            LOG.atWarn()
                    .addKeyValue("directory", directory)
                    .addKeyValue("what", what)
                    .addKeyValue("why", why)
                    .log("hold files");
        }
    }

    @Override
    public void close() {
        if (watch != null) {
            watch.close();
        }
    }
}
