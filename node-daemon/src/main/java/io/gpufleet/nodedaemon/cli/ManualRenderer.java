package io.gpufleet.nodedaemon.cli;

import io.gpufleet.kit.config.Setting;
import io.gpufleet.nodedaemon.cli.ManualPages.ManualItem;
import io.gpufleet.nodedaemon.cli.ManualPages.ManualPage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Renders the {@link ManualPages} for {@code --help}, 90 columns wide. */
public final class ManualRenderer {
    private static final int WIDTH = 90;
    private static final String INDENT = "    ";

    private final StringBuilder text = new StringBuilder();

    private ManualRenderer() {}

    /** The page of the given command, or of the program. */
    public static String page(CommandLine line) {
        return new ManualRenderer()
                .render(line.commandGiven() ? ManualPages.of(line.command()) : ManualPages.program());
    }

    private String render(ManualPage page) {
        heading("NAME");
        wrap(page.name() + " - " + page.summary(), INDENT);
        heading("SYNOPSIS");
        page.synopsis().forEach(form -> wrap(form, INDENT));
        heading("DESCRIPTION");
        paragraphs(page.description());
        items("COMMANDS", page.commands());
        items("OPTIONS", page.options());
        items(
                "ENVIRONMENT",
                page.settings().stream()
                        .sorted(Comparator.comparing(Setting::name))
                        .map(setting -> new ManualItem(setting.name() + defaultValue(setting), setting.description()))
                        .toList());
        page.furtherSections().forEach(section -> items(section.title(), section.items()));
        return text.toString();
    }

    private static String defaultValue(Setting setting) {
        if (setting.required()) {
            return " (required)";
        }
        return setting.defaultValue().isEmpty() ? "" : " [" + setting.defaultValue() + "]";
    }

    private void heading(String title) {
        text.append(text.isEmpty() ? "" : "\n").append(title).append('\n');
    }

    private void paragraphs(List<String> paragraphs) {
        for (int i = 0; i < paragraphs.size(); i++) {
            text.append(i == 0 ? "" : "\n");
            wrap(paragraphs.get(i), INDENT);
        }
    }

    private void items(String title, List<ManualItem> items) {
        if (items.isEmpty()) {
            return;
        }
        heading(title);
        int longest =
                items.stream().mapToInt(item -> item.term().length()).max().orElse(0);
        for (ManualItem item : items) {
            if (longest <= 14) {
                hangingItem(item, longest);
            } else {
                text.append(INDENT).append(item.term()).append('\n');
                wrap(item.description(), INDENT + INDENT);
            }
        }
    }

    /** Renders the term with its description beside it. */
    private void hangingItem(ManualItem item, int longest) {
        String indent = INDENT + " ".repeat(longest + 2);
        List<String> lines = lines(item.description(), WIDTH - indent.length());
        text.append(INDENT)
                .append(item.term())
                .append(" ".repeat(longest + 2 - item.term().length()))
                .append(lines.stream().collect(Collectors.joining("\n" + indent)))
                .append('\n');
    }

    private void wrap(String paragraph, String indent) {
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
