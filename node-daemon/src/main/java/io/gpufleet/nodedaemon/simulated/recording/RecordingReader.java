package io.gpufleet.nodedaemon.simulated.recording;

import io.gpufleet.kit.config.ConfigurationException;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** Reads a recording; rejects a bad one with one line that names the file and the reason. */
final class RecordingReader {
    private RecordingReader() {}

    static List<RecordingEntry> read(Path file) {
        var entries = new ArrayList<RecordingEntry>();
        int number = 1;
        try (BufferedReader lines = lines(file)) {
            String line = lines.readLine();
            if (line == null || new JsonObject(line).getInteger("recording", 0) != RecordingSource.FORMAT) {
                throw rejected(file, "its first line has no \"recording\":" + RecordingSource.FORMAT);
            }
            for (line = next(lines); line != null; ) {
                number++;
                String following = next(lines);
                // The last line may be incomplete where the recording was killed.
                if (following != null || line.endsWith("}")) {
                    entries.add(RecordingEntry.parse(line));
                }
                line = following;
            }
        } catch (NoSuchFileException absent) {
            throw rejected(file, "there is no such file");
        } catch (ConfigurationException already) {
            throw already;
        } catch (IOException failed) {
            throw rejected(file, "it cannot be read, " + failed.getClass().getSimpleName());
        } catch (IllegalArgumentException wrong) {
            throw rejected(file, "line " + number + " is not an entry: " + wrong.getMessage());
        } catch (RuntimeException _) {
            throw rejected(file, "line " + number + " is not an entry");
        }
        if (entries.isEmpty()) {
            throw rejected(file, "it has no entries");
        }
        return entries;
    }

    /** The next line; null at the end, also where a compressed file is truncated. */
    private static @Nullable String next(BufferedReader lines) throws IOException {
        try {
            return lines.readLine();
        } catch (EOFException cutOff) {
            return null;
        }
    }

    private static BufferedReader lines(Path file) throws IOException {
        InputStream in = Files.newInputStream(file);
        return new BufferedReader(new InputStreamReader(
                file.toString().endsWith(".gz") ? new GZIPInputStream(in) : in, StandardCharsets.UTF_8));
    }

    private static ConfigurationException rejected(Path file, String why) {
        return new ConfigurationException("GPUFLEET_DEVICES=recording:" + file + " is not usable, " + why
                + "; make one with 'node-daemon record FILE'");
    }
}
