package io.gpufleet.kit.files;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * Replaces a file so that a reader sees the old content or the new, never a part. The new content is written to {@code
 * <file>.next} in the same directory, which is then renamed. One writer for each file.
 */
public final class AtomicFile {
    /** Failure that the new content survives once the call has returned. */
    public enum Durability {
        /** The end of this process. The operating system writes the data when it likes. */
        PROCESS,
        /** A power failure: the data is forced before the rename and the directory after it. */
        POWER_CUT
    }

    private AtomicFile() {}

    /**
     * Replaces the content and creates the directory where it is missing. After a failure the old content is in place.
     */
    public static void write(Path file, byte[] content, Durability durability) throws IOException {
        Path directory = directoryOf(file);
        Files.createDirectories(directory);
        Path draft = directory.resolve(file.getFileName() + ".next");
        try {
            writeDraft(draft, content, durability);
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failed) {
            deleteDraft(draft, failed);
            throw failed;
        }
        if (durability == Durability.POWER_CUT) {
            try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }

    /**
     * Replaces the content unless the file has it already.
     *
     * @return whether the file was written
     */
    public static boolean writeIfChanged(Path file, byte[] content, Durability durability) throws IOException {
        try {
            if (Arrays.equals(Files.readAllBytes(file), content)) {
                return false;
            }
        } catch (NoSuchFileException missing) {
            // Written below.
        }
        write(file, content, durability);
        return true;
    }

    private static Path directoryOf(Path file) {
        Path directory = file.toAbsolutePath().getParent();
        if (directory == null) {
            throw new IllegalArgumentException(file + " is not a file");
        }
        return directory;
    }

    /** Writes by a stream, since an interrupt of the calling thread would close a channel. */
    private static void writeDraft(Path draft, byte[] content, Durability durability) throws IOException {
        try (var out = new FileOutputStream(draft.toFile())) {
            out.write(content);
            if (durability == Durability.POWER_CUT) {
                out.getFD().sync();
            }
        }
    }

    private static void deleteDraft(Path draft, IOException failed) {
        try {
            Files.deleteIfExists(draft);
        } catch (IOException alsoFailed) {
            failed.addSuppressed(alsoFailed);
        }
    }
}
