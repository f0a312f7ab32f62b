package io.gpufleet.nodedaemon.settings;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.model.SettingsChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the operator's files and the Node's label, and hands on what they choose. Bad settings stop a start; later the
 * ones before stay in force. The label is kept on disk: devices must not change their ids at every start until Kafka
 * answers.
 */
public final class SettingsDesk implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SettingsDesk.class);
    private static final long LOOK_SECONDS = 2;

    private final SettingsPlaces places;
    private final SettingsReader reader;
    private final Consumer<SettingsChoice> changed;
    private final Path kept;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;
    private WrittenFiles written = new WrittenFiles("", Map.of());
    private List<Note> said = List.of();
    private SettingsChoice choice;
    private String label;
    private String complaint = "";

    /** Reads what is written; what is bad is answered with a {@link ConfigurationException}. */
    public SettingsDesk(SettingsPlaces places, NvidiaEnvironment nvidia, Consumer<SettingsChoice> changed) {
        this.places = places;
        this.reader = new SettingsReader(places, nvidia);
        this.changed = changed;
        this.kept = places.stateDirectory().resolve("chosen-config");
        this.label = keptLabel();
        this.choice = first();
        this.thread = Thread.ofPlatform().name("settings").daemon(true).unstarted(this::follow);
    }

    /** What held at the start. */
    public SettingsChoice choice() {
        return choice;
    }

    /** What was read at the start and is not honoured, with what happens instead, one line each. */
    public List<String> ignored() {
        return said.stream().map(note -> note.where() + ": " + note.why()).toList();
    }

    /** Begins to follow the files. */
    public void start() {
        thread.start();
    }

    private SettingsChoice first() {
        try {
            written = WrittenFiles.read(reader.file(), places.directory());
            boolean known = label.isEmpty() || written.fileOf(label).isPresent();
            if (!known) {
                sayBad("the Node's label asked for the configuration '" + label + "', which is not in '"
                        + places.directory() + "' any more; it is chosen as without a label");
            }
            return adopt(reader.read(written, known ? label : ""));
        } catch (BadSettingsException bad) {
            throw new ConfigurationException(String.valueOf(bad.getMessage()));
        }
    }

    private void follow() {
        try {
            while (!closed.await(LOOK_SECONDS, TimeUnit.SECONDS)) {
                look();
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Looks at the files once. */
    synchronized void look() {
        try {
            var now = WrittenFiles.read(reader.file(), places.directory());
            if (!now.equals(written)) {
                written = now;
                take(reader.read(now, label));
            }
        } catch (BadSettingsException bad) {
            sayBad(String.valueOf(bad.getMessage()));
        }
    }

    /** The Node's label names a configuration, which may be written later; empty where it names none. */
    public synchronized void labelled(String name) {
        if (name.equals(label)) {
            return;
        }
        label = name;
        keep(name);
        try {
            take(reader.read(written, name));
        } catch (BadSettingsException bad) {
            sayBad(String.valueOf(bad.getMessage()));
        }
    }

    private void take(SettingsReader.Read read) {
        complaint = "";
        SettingsChoice before = choice;
        choice = adopt(read);
        if (!choice.equals(before)) {
            changed.accept(choice);
        }
    }

    private SettingsChoice adopt(SettingsReader.Read read) {
        read.notes().stream()
                .filter(note -> !said.contains(note))
                .forEach(note -> LOG.atWarn()
                        .addKeyValue("setting", note.where())
                        .addKeyValue("why", note.why())
                        .log("a setting is not honoured"));
        said = read.notes();
        return read.choice();
    }

    private void sayBad(String line) {
        if (!line.equals(complaint)) {
            LOG.atError().addKeyValue("error", line).log("settings can not be used, those before stay in force");
        }
        complaint = line;
    }

    private String keptLabel() {
        try {
            return Files.readString(kept).strip();
        } catch (IOException nothingKept) {
            return "";
        }
    }

    private void keep(String name) {
        try {
            Files.createDirectories(kept.getParent());
            Path next = Files.writeString(kept.resolveSibling("chosen-config.next"), name + "\n");
            Files.move(next, kept, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failed) {
            LOG.atWarn()
                    .addKeyValue("file", kept)
                    .addKeyValue("error", failed.toString())
                    .log("the label's choice can not be kept; a restart without Kafka would not know it");
        }
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
