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

/** Reads a recording; a bad one is refused in a line that names the file and what is wrong. */
final class RecordingFile {
    private RecordingFile() {}

    static List<Entry> read(Path file) {
        var entries = new ArrayList<Entry>();
        int number = 1;
        try (BufferedReader lines = lines(file)) {
            String line = lines.readLine();
            if (line == null || new JsonObject(line).getInteger("recording", 0) != RecordingSource.FORMAT) {
                throw refused(file, "its first line does not say \"recording\":" + RecordingSource.FORMAT);
            }
            for (line = next(lines); line != null; ) {
                number++;
                String following = next(lines);
                // The last line of a recording that was killed may be half a line.
                if (following != null || line.endsWith("}")) {
                    entries.add(Entry.parse(line));
                }
                line = following;
            }
        } catch (NoSuchFileException absent) {
            throw refused(file, "there is no such file");
        } catch (ConfigurationException already) {
            throw already;
        } catch (IOException failed) {
            throw refused(file, "it can not be read, " + failed.getClass().getSimpleName());
        } catch (RuntimeException _) {
            throw refused(file, "line " + number + " is no entry");
        }
        if (entries.isEmpty()) {
            throw refused(file, "nothing is recorded in it");
        }
        return entries;
    }

    /** The next line; none also where a compressed file was cut off. */
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

    private static ConfigurationException refused(Path file, String why) {
        return new ConfigurationException("GPUFLEET_DEVICES=recording:" + file + " is not usable, " + why
                + "; make one with 'node-daemon record FILE'");
    }
}
