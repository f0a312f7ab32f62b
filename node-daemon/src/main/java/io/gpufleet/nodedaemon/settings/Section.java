package io.gpufleet.nodedaemon.settings;

import java.io.StringReader;
import java.util.ArrayList;
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
 * A mapping of a YAML file that knows where it stands, and which of its keys nobody asked for. Values are read as they
 * are written: YAML's own types would make a number of the MIG index {@code 0:1}.
 */
final class Section {
    private final String file;
    private final String path;
    private final Map<String, Node> values = new LinkedHashMap<>();
    private final Set<String> asked = new LinkedHashSet<>();

    private Section(String file, String path) {
        this.file = file;
        this.path = path;
    }

    /** The whole file. */
    static Section of(String file, String text) {
        try {
            Node root = new Yaml(new LoaderOptions()).compose(new StringReader(text));
            var section = new Section(file, "");
            if (root != null) {
                section.fill(root);
            }
            return section;
        } catch (MarkedYAMLException broken) {
            var mark = broken.getProblemMark();
            throw new BadSettingsException(file + ":" + (mark.getLine() + 1) + ":" + (mark.getColumn() + 1) + ": "
                    + broken.getProblem() + "; correct the YAML");
        } catch (YAMLException broken) {
            throw new BadSettingsException(file + ": "
                    + String.valueOf(broken.getMessage()).lines().findFirst().orElse("") + "; correct the YAML");
        }
    }

    private void fill(Node node) {
        if (!(node instanceof MappingNode mapping)) {
            throw bad(node, path.isEmpty() ? "the file" : path, "it takes a mapping, key: value");
        }
        for (NodeTuple tuple : mapping.getValue()) {
            if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
                throw bad(tuple.getKeyNode(), path, "it takes words for keys");
            }
            if (values.putIfAbsent(key.getValue(), tuple.getValueNode()) != null) {
                throw bad(key, within(key.getValue()), "it stands there twice; remove one");
            }
        }
    }

    /** A mapping below a key; empty where there is none. */
    Section section(String key) {
        asked.add(key);
        var section = new Section(file, within(key));
        value(key).ifPresent(section::fill);
        return section;
    }

    /** Whether a key is there with a value. */
    boolean has(String key) {
        return value(key).isPresent();
    }

    private Optional<Node> value(String key) {
        return Optional.ofNullable(values.get(key))
                .filter(node -> !(node instanceof ScalarNode scalar && scalar.getTag() == Tag.NULL));
    }

    /** Hands on the text of a key where it is there; what the reader refuses is answered with the position. */
    void word(String key, Consumer<String> reader) {
        asked.add(key);
        value(key).ifPresent(node -> read(node, within(key), () -> reader.accept(scalar(node, within(key)))));
    }

    /** Like {@link #word}, for a list of words; one text with commas is a list too. */
    void words(String key, Consumer<List<String>> reader) {
        asked.add(key);
        value(key).ifPresent(node -> read(node, within(key), () -> reader.accept(list(node, within(key)))));
    }

    private List<String> list(Node node, String name) {
        return node instanceof SequenceNode sequence
                ? sequence.getValue().stream().map(item -> scalar(item, name)).toList()
                : Words.list(scalar(node, name));
    }

    /** Whether the value is a list rather than one word. */
    boolean isList(String key) {
        return value(key).filter(SequenceNode.class::isInstance).isPresent();
    }

    /** The mappings of a list; none where the key is not there. */
    List<Section> sections(String key) {
        asked.add(key);
        var sections = new ArrayList<Section>();
        value(key).ifPresent(node -> {
            if (!(node instanceof SequenceNode sequence)) {
                throw bad(node, within(key), "it takes a list, each entry behind a dash");
            }
            for (Node item : sequence.getValue()) {
                var section = new Section(file, within(key) + "[" + sections.size() + "]");
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
            throw bad(node, name, String.valueOf(wrong.getMessage()));
        }
    }

    private String scalar(Node node, String name) {
        if (node instanceof ScalarNode scalar) {
            return scalar.getValue().strip();
        }
        throw bad(node, name, "it takes one word");
    }

    /** What is to be said where a key is there that is not honoured. */
    List<Note> ignored(String key, String why) {
        asked.add(key);
        return value(key).map(node -> new Note(at(node) + ": " + within(key), why)).stream()
                .toList();
    }

    /** What is to be said of keys that nobody asked for. */
    List<Note> unknown() {
        return values.entrySet().stream()
                .filter(entry -> !asked.contains(entry.getKey()))
                .map(entry -> new Note(
                        at(entry.getValue()) + ": " + within(entry.getKey()),
                        "no such key; there are " + asked.stream().sorted().collect(Collectors.joining(", "))))
                .toList();
    }

    /** The answer to a key that contradicts another. */
    BadSettingsException wrong(String key, String remedy) {
        return value(key).map(node -> bad(node, within(key), remedy)).orElseGet(() -> missing(key, remedy));
    }

    /** The answer to a key that is missing. */
    BadSettingsException missing(String key, String remedy) {
        return new BadSettingsException(file + ": " + within(key) + " is missing; " + remedy);
    }

    private String within(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }

    private String at(Node node) {
        return file + ":" + (node.getStartMark().getLine() + 1) + ":"
                + (node.getStartMark().getColumn() + 1);
    }

    private BadSettingsException bad(Node node, String name, String remedy) {
        String value = node instanceof ScalarNode scalar ? " '" + shown(scalar.getValue()) + "'" : "";
        return new BadSettingsException(at(node) + ": " + name + value + " is not usable: " + remedy);
    }

    private static String shown(String untrusted) {
        String line = untrusted.replace('\n', ' ');
        return line.length() <= 80 ? line : line.substring(0, 80) + "…";
    }
}
