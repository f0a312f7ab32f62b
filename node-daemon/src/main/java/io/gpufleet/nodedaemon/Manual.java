package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.Setting;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** {@code --help} as a manual page, 90 columns wide. Its words are in {@link Pages}. */
final class Manual {
    private static final int WIDTH = 90;
    private static final String INDENT = "    ";

    private final StringBuilder text = new StringBuilder();

    /**
     * A page.
     *
     * @param name what stands before the dash, for example {@code node-daemon probe}
     * @param summary what stands behind it
     * @param synopsis one line a form
     * @param description paragraphs
     * @param commands of the program, on its own page only
     * @param options of the command
     * @param settings environment variables that it reads
     */
    record Page(
            String name,
            String summary,
            List<String> synopsis,
            List<String> description,
            List<Item> commands,
            List<Item> options,
            List<Setting> settings,
            List<Section> rest) {}

    /** A section of items. */
    record Section(String title, List<Item> items) {}

    /** A word and what it means. */
    record Item(String word, String about) {}

    private Manual() {}

    /** The page of the command that was named, or of the program. */
    static String page(CommandLine line) {
        return new Manual().render(line.named() ? Pages.of(line.command()) : Pages.program());
    }

    private String render(Page page) {
        heading("NAME");
        wrapped(page.name() + " - " + page.summary(), INDENT);
        heading("SYNOPSIS");
        page.synopsis().forEach(form -> wrapped(form, INDENT));
        heading("DESCRIPTION");
        paragraphs(page.description());
        items("COMMANDS", page.commands());
        items("OPTIONS", page.options());
        items(
                "ENVIRONMENT",
                page.settings().stream()
                        .sorted(Comparator.comparing(Setting::name))
                        .map(setting -> new Item(setting.name() + extra(setting), setting.about()))
                        .toList());
        page.rest().forEach(section -> items(section.title(), section.items()));
        return text.toString();
    }

    private static String extra(Setting setting) {
        if (setting.required()) {
            return " (required)";
        }
        return setting.fallback().isEmpty() ? "" : " [" + setting.fallback() + "]";
    }

    private void heading(String title) {
        text.append(text.isEmpty() ? "" : "\n").append(title).append('\n');
    }

    private void paragraphs(List<String> paragraphs) {
        for (int i = 0; i < paragraphs.size(); i++) {
            text.append(i == 0 ? "" : "\n");
            wrapped(paragraphs.get(i), INDENT);
        }
    }

    private void items(String title, List<Item> items) {
        if (items.isEmpty()) {
            return;
        }
        heading(title);
        int longest =
                items.stream().mapToInt(item -> item.word().length()).max().orElse(0);
        for (Item item : items) {
            if (longest <= 14) {
                hanging(item, longest);
            } else {
                text.append(INDENT).append(item.word()).append('\n');
                wrapped(item.about(), INDENT + INDENT);
            }
        }
    }

    /** The word, and what it means beside it. */
    private void hanging(Item item, int longest) {
        String indent = INDENT + " ".repeat(longest + 2);
        List<String> lines = lines(item.about(), WIDTH - indent.length());
        text.append(INDENT)
                .append(item.word())
                .append(" ".repeat(longest + 2 - item.word().length()))
                .append(lines.stream().collect(Collectors.joining("\n" + indent)))
                .append('\n');
    }

    private void wrapped(String paragraph, String indent) {
        lines(paragraph, WIDTH - indent.length())
                .forEach(line -> text.append(indent).append(line).append('\n'));
    }

    private static List<String> lines(String paragraph, int width) {
        var lines = new ArrayList<String>();
        var line = new StringBuilder();
        for (String word : Arrays.asList(paragraph.strip().split("\\s+"))) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        lines.add(line.toString());
        return lines;
    }
}
