package io.gpufleet.nodedaemon.settings;

import io.gpufleet.nodedaemon.model.SettingsChoice;
import io.gpufleet.nodedaemon.model.SettingsChoice.Chosen;
import io.gpufleet.nodedaemon.model.SettingsChoice.Rule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Turns what is written into the choice of this node. Over the files stand NVIDIA's variables, over those ours. */
final class SettingsReader {
    static final String SELECT = "select.yaml";

    private final SettingsPlaces places;
    private final NvidiaEnvironment nvidia;

    /** What was read, with what is to be said of it. */
    record Read(SettingsChoice choice, List<Note> notes) {}

    SettingsReader(SettingsPlaces places, NvidiaEnvironment nvidia) {
        this.places = places;
        this.nvidia = nvidia;
    }

    /** The one configuration file; empty where none is named. */
    String file() {
        return places.file().isEmpty() ? nvidia.configFile() : places.file();
    }

    /** What holds for a label; an empty one leaves the choice to {@code select.yaml}. */
    Read read(WrittenFiles written, String label) {
        var notes = new LinkedHashSet<>(nvidia.notes());
        var otherwise = file().isEmpty()
                ? chosen("", "", "environment", notes)
                : chosen(file(), written.single(), file(), notes);
        if (!label.isEmpty()) {
            String file = fileOf(written, label)
                    .orElseThrow(() -> new BadSettingsException("the Node's label asks for the configuration '" + label
                            + "', which is not in " + shown(places.directory()) + "; there are "
                            + written.named().keySet()));
            return new Read(
                    new SettingsChoice(List.of(), named(written, file, "label " + label, notes)), List.copyOf(notes));
        }
        return new Read(new SettingsChoice(rules(written, notes), otherwise), List.copyOf(notes));
    }

    private static Optional<String> fileOf(WrittenFiles written, String name) {
        return name.equals(SELECT) ? Optional.empty() : written.fileOf(name);
    }

    private static String shown(String directory) {
        return directory.isEmpty() ? "any directory (GPUFLEET_CONFIG_DIR is not set)" : directory;
    }

    private List<Rule> rules(WrittenFiles written, Set<Note> notes) {
        if (!written.named().containsKey(SELECT)) {
            return List.of();
        }
        var rules = new ArrayList<Rule>();
        Section root = Section.of(path(SELECT), written.textOf(SELECT));
        for (Section section : root.sections("rules")) {
            var line = new RuleLine();
            section.word("node", word -> line.node = word);
            section.word("model", word -> line.model = word);
            section.word("gpus", word -> line.gpus = Words.count(word));
            if (!section.has("config")) {
                throw section.missing("config", "name a file of the same directory");
            }
            section.word("config", word -> {
                line.file = fileOf(written, word)
                        .orElseThrow(
                                () -> new IllegalArgumentException("it takes a file of the same directory, there are "
                                        + written.named().keySet()));
            });
            notes.addAll(section.unknown());
            // Files that only other nodes use are none of ours, and may be as broken as they like.
            if (SettingsChoice.like(line.node, places.node())) {
                rules.add(new Rule(line.model, line.gpus, named(written, line.file, SELECT + ": " + line.file, notes)));
            }
        }
        notes.addAll(root.unknown());
        return rules;
    }

    private static final class RuleLine {
        private String node = "*";
        private String model = "";
        private int gpus;
        private String file = "";
    }

    private Chosen named(WrittenFiles written, String fileName, String origin, Set<Note> notes) {
        return chosen(path(fileName), written.textOf(fileName), origin, notes);
    }

    private String path(String fileName) {
        return Path.of(places.directory(), fileName).toString();
    }

    private Chosen chosen(String file, String text, String origin, Set<Note> notes) {
        var draft = new SettingsDraft(places.driverRoot());
        if (!file.isEmpty()) {
            PluginFile.read(file, text, draft);
        }
        nvidia.apply(draft);
        if (!places.strategies().isEmpty()) {
            draft.strategies = places.strategies();
        }
        notes.addAll(draft.notes);
        try {
            return new Chosen(draft.settings(), origin);
        } catch (IllegalArgumentException contradiction) {
            String where = file.isEmpty() ? "" : file + ": ";
            throw new BadSettingsException(where + contradiction.getMessage());
        }
    }
}
