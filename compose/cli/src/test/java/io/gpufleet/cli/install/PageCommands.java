package io.gpufleet.cli.install;

import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Commands of the pages as tests run them, so that no page has others. */
public final class PageCommands {
    private static final Pattern BLOCK = Pattern.compile("(?s)\n```[a-z]*\n(.*?)\n```(?=\n)");
    private static final Pattern COMMENT = Pattern.compile("\\s+#.*");
    private static final String KUBECTL = "kubectl ";

    private PageCommands() {}

    /** Arguments of each {@code kubectl} in the one block of a page that has a line which begins so. */
    public static List<List<String>> kubectl(String page, String line) {
        return block(page, line)
                .lines()
                .filter(each -> each.startsWith(KUBECTL))
                .map(each -> COMMENT.matcher(each.substring(KUBECTL.length())).replaceFirst(""))
                .map(each -> List.of(each.replace("'", "").split(" +")))
                .toList();
    }

    /** The one block of a page that has a line which begins so. */
    public static String block(String page, String line) {
        List<String> blocks = BLOCK.matcher(text(page))
                .results()
                .map((MatchResult found) -> found.group(1))
                .filter(block -> block.lines().anyMatch(each -> each.startsWith(line)))
                .toList();
        if (blocks.size() != 1) {
            throw new AssertionError(page + " has " + blocks.size() + " blocks with the line: " + line);
        }
        return blocks.getFirst();
    }

    public static String text(String page) {
        try {
            return Files.readString(Repository.module(page));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
