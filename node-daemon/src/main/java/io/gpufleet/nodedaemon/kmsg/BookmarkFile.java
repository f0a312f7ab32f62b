package io.gpufleet.nodedaemon.kmsg;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps the bookmark over a restart. */
final class BookmarkFile {
    private static final Logger LOG = LoggerFactory.getLogger(BookmarkFile.class);

    private final Path file;
    private boolean broken;

    BookmarkFile(Path stateDirectory) {
        this.file = stateDirectory.resolve("kmsg");
    }

    Optional<Bookmark> load(String bootId) {
        try {
            return Bookmark.read(Files.readString(file), bootId);
        } catch (NoSuchFileException never) {
            return Optional.empty();
        } catch (IOException unreadable) {
            complain(unreadable);
            return Optional.empty();
        }
    }

    void keep(Bookmark bookmark) {
        Path next = file.resolveSibling("kmsg.next");
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(next, bookmark.written());
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            broken = false;
        } catch (IOException failed) {
            complain(failed);
        }
    }

    private void complain(IOException why) {
        if (!broken) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", why.toString())
                    .log("the place in the kernel log can not be kept, a restart would skip what it has not read");
        }
        broken = true;
    }
}
