package io.gpufleet.nodedaemon.holdfiles;

import io.gpufleet.kit.files.DirectoryWatch;
import io.gpufleet.nodedaemon.app.HoldDoor;
import io.gpufleet.nodedaemon.model.HoldRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@code hold}, which others write and remove, and {@code released}, which is ours. */
public final class HoldFiles implements HoldDoor, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HoldFiles.class);
    private static final String HOLD = "hold";
    /** Nobody needs more to say why and until when. */
    private static final int MOST_BYTES = 4096;

    private final Path directory;
    private final Path hold;
    private final Path released;
    private final OwnDescriptors descriptors;
    private @Nullable DirectoryWatch watch;
    private volatile String stamp = "";
    private @Nullable HoldRequest last;
    private String complained = "";

    /**
     * Files of a directory, which is made where it is not there.
     *
     * @param gpuNodes how the paths begin that must be closed before it is said that all is released
     */
    public HoldFiles(Path directory, String gpuNodes) {
        this.directory = directory;
        this.hold = directory.resolve(HOLD);
        this.released = directory.resolve("released");
        this.descriptors = new OwnDescriptors(gpuNodes);
    }

    @Override
    public void onChange(Runnable changed) {
        try {
            Files.createDirectories(directory);
        } catch (IOException notOurs) {
            LOG.atDebug().addKeyValue("directory", directory).log("the directory of the hold file can not be made");
        }
        watch = new DirectoryWatch(directory, names -> moved(names, changed));
    }

    private void moved(Set<String> names, Runnable changed) {
        String now = stamp();
        if (names.contains(HOLD) || !now.equals(stamp)) {
            stamp = now;
            changed.run();
        }
    }

    private String stamp() {
        try {
            BasicFileAttributes file = Files.readAttributes(hold, BasicFileAttributes.class);
            return file.fileKey() + " " + file.lastModifiedTime() + " " + file.size();
        } catch (IOException notThere) {
            return "";
        }
    }

    @Override
    public Optional<HoldRequest> asked() {
        try {
            Instant written = Files.getLastModifiedTime(hold).toInstant();
            last = read(written);
        } catch (NoSuchFileException nobodyAsks) {
            last = null;
        } catch (IOException unknown) {
            complain("the hold file can not be looked at, what it said last counts", unknown.toString());
        }
        return Optional.ofNullable(last);
    }

    private HoldRequest read(Instant written) throws NoSuchFileException {
        try (var file = Files.newInputStream(hold)) {
            return HoldRequest.read(new String(file.readNBytes(MOST_BYTES), StandardCharsets.UTF_8), written);
        } catch (NoSuchFileException goneMeanwhile) {
            throw goneMeanwhile;
        } catch (IOException unreadable) {
            return HoldRequest.unreadable(written, "the file can not be read: " + unreadable.getMessage());
        }
    }

    @Override
    public boolean released(HoldRequest request) {
        List<String> open = descriptors.open();
        if (!open.isEmpty()) {
            complain("the GPUs can not be let go of yet, this process still has them open", String.join(" ", open));
            return false;
        }
        Path next = directory.resolve("released.next");
        try {
            Files.writeString(
                    next,
                    "reason: " + request.reason() + "\ndeadline: " + request.deadline() + "\npid: "
                            + ProcessHandle.current().pid() + "\n");
            Files.move(next, released, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failed) {
            complain("it can not be said that the GPUs were let go", failed.toString());
            return false;
        }
        complained = "";
        LOG.atInfo().addKeyValue("file", released).log("the GPUs were let go");
        return true;
    }

    @Override
    public void takenBack() {
        try {
            Files.deleteIfExists(released);
        } catch (IOException failed) {
            complain("the word that the GPUs were let go can not be taken back", failed.toString());
        }
    }

    /** The same trouble is told once. */
    private void complain(String what, String why) {
        if (!complained.equals(what + why)) {
            complained = what + why;
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
