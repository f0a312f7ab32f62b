package io.gpufleet.nodedaemon.pluginconfig;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * A mapping of a YAML file with the positions of its values; reports keys that were not read. Values are read as text:
 * with YAML's types the MIG index {@code 0:1} would be a number.
 */
final class YamlSection {
    private final String file;
    private final String path;
    private final Map<String, Node> values = new LinkedHashMap<>();
    private final Set<String> knownKeys = new LinkedHashSet<>();

    private YamlSection(String file, String path) {
        this.file = file;
        this.path = path;
    }

    /** The whole file. */
    static YamlSection of(String file, String text) {
        try {
            Node root = new Yaml(new LoaderOptions()).compose(new StringReader(text));
            var section = new YamlSection(file, "");
            if (root != null) {
                section.fill(root);
            }
            return section;
        } catch (MarkedYAMLException broken) {
            var mark = broken.getProblemMark();
            throw new InvalidSettingsException(file + ":" + (mark.getLine() + 1) + ":" + (mark.getColumn() + 1) + ": "
                    + broken.getProblem() + "; correct the YAML");
        } catch (YAMLException broken) {
            throw new InvalidSettingsException(file + ": "
                    + String.valueOf(broken.getMessage()).lines().findFirst().orElse("") + "; correct the YAML");
        }
    }

    private void fill(Node node) {
        if (!(node instanceof MappingNode mapping)) {
            throw invalid(node, path.isEmpty() ? "the file" : path, "it takes a mapping, key: value");
        }
        for (NodeTuple tuple : mapping.getValue()) {
            if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
                throw invalid(tuple.getKeyNode(), path, "keys must be scalars");
            }
            if (values.putIfAbsent(key.getValue(), tuple.getValueNode()) != null) {
                throw invalid(key, pathOf(key.getValue()), "duplicate key; remove one");
            }
        }
    }

    /** The mapping of a key; empty if there is none. */
    YamlSection section(String key) {
        knownKeys.add(key);
        var section = new YamlSection(file, pathOf(key));
        value(key).ifPresent(section::fill);
        return section;
    }

    /** Whether a key has a value. */
    boolean has(String key) {
        return value(key).isPresent();
    }

    private Optional<Node> value(String key) {
        return Optional.ofNullable(values.get(key))
                .filter(node -> !(node instanceof ScalarNode scalar && scalar.getTag() == Tag.NULL));
    }

    /** Passes the text of a key to the reader, if it exists; adds the position to errors of the reader. */
    void text(String key, Consumer<String> reader) {
        knownKeys.add(key);
        value(key).ifPresent(node -> read(node, pathOf(key), () -> reader.accept(scalar(node, pathOf(key)))));
    }

    /** Like {@link #text}, for a list; a text with commas is a list too. */
    void texts(String key, Consumer<List<String>> reader) {
        knownKeys.add(key);
        value(key).ifPresent(node -> read(node, pathOf(key), () -> reader.accept(list(node, pathOf(key)))));
    }

    /** Splits at commas, without empty values. */
    static List<String> list(String values) {
        return Arrays.stream(values.split(",", -1))
                .map(String::strip)
                .filter(value -> !value.isEmpty())
                .toList();
    }

    private List<String> list(Node node, String name) {
        return node instanceof SequenceNode sequence
                ? sequence.getValue().stream().map(item -> scalar(item, name)).toList()
                : list(scalar(node, name));
    }

    /** Whether the value is a list. */
    boolean isList(String key) {
        return value(key).filter(SequenceNode.class::isInstance).isPresent();
    }

    /** The mappings of a list; empty if the key does not exist. */
    List<YamlSection> sections(String key) {
        knownKeys.add(key);
        var sections = new ArrayList<YamlSection>();
        value(key).ifPresent(node -> {
            if (!(node instanceof SequenceNode sequence)) {
                throw invalid(node, pathOf(key), "it takes a list, each entry after a dash");
            }
            for (Node item : sequence.getValue()) {
                var section = new YamlSection(file, pathOf(key) + "[" + sections.size() + "]");
                section.fill(item);
                sections.add(section);
            }
        });
        return sections;
    }

    private void read(Node node, String name, Runnable reader) {
        try {
            reader.run();
        } catch (IllegalArgumentException wrong) {
            throw invalid(node, name, String.valueOf(wrong.getMessage()));
        }
    }

    private String scalar(Node node, String name) {
        if (node instanceof ScalarNode scalar) {
            return scalar.getValue().strip();
        }
        throw invalid(node, name, "it takes a single value");
    }

    /** Reports a key that is ignored, if it exists. */
    List<IgnoredSetting> ignored(String key, String why) {
        knownKeys.add(key);
        return value(key).map(node -> new IgnoredSetting(position(node) + ": " + pathOf(key), why)).stream()
                .toList();
    }

    /** Reports the keys that were not read. */
    List<IgnoredSetting> unknown() {
        return values.entrySet().stream()
                .filter(entry -> !knownKeys.contains(entry.getKey()))
                .map(entry -> new IgnoredSetting(
                        position(entry.getValue()) + ": " + pathOf(entry.getKey()),
                        "unknown key; known keys: "
                                + knownKeys.stream().sorted().collect(Collectors.joining(", "))))
                .toList();
    }

    /** The exception for a key that conflicts with another. */
    InvalidSettingsException conflict(String key, String remedy) {
        return value(key).map(node -> invalid(node, pathOf(key), remedy)).orElseGet(() -> missing(key, remedy));
    }

    /** The exception for a missing key. */
    InvalidSettingsException missing(String key, String remedy) {
        return new InvalidSettingsException(file + ": " + pathOf(key) + " is missing; " + remedy);
    }

    private String pathOf(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }

    private String position(Node node) {
        return file + ":" + (node.getStartMark().getLine() + 1) + ":"
                + (node.getStartMark().getColumn() + 1);
    }

    private InvalidSettingsException invalid(Node node, String name, String remedy) {
        String value = node instanceof ScalarNode scalar ? " '" + excerpt(scalar.getValue()) + "'" : "";
        return new InvalidSettingsException(position(node) + ": " + name + value + " is not usable: " + remedy);
    }

    private static String excerpt(String untrusted) {
        String line = untrusted.replace('\n', ' ');
        return line.length() <= 80 ? line : line.substring(0, 80) + "…";
    }
}
