package io.gpufleet.cli.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What the pages of the checkout name is there: files, headings and subcommands. */
class PagesTest {
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern SUBCOMMAND = Pattern.compile("\\./gpufleet ([a-z]+)");
    private static final Pattern KUSTOMIZATION = Pattern.compile("-k (k8s/[a-z0-9/-]+)");
    private static final Pattern HELP = Pattern.compile("(?m)^ {4}([a-z]+)(?: [^ ].*)?$");
    private static final Pattern SETTING = Pattern.compile("\\b(GPUFLEET_[A-Z0-9_]*[A-Z0-9])\\b");
    private static final Pattern TEST = Pattern.compile("`([A-Z][A-Za-z0-9]*(?:Test|IT)(?:#[a-zA-Z0-9]+)?)`");
    private static final Pattern PACKAGE_INFO = Pattern.compile("package-info\\.java");
    /** Files that read or pass a variable. */
    private static final Pattern READERS = Pattern.compile(".*\\.(java|sh|yaml|xml)|gpufleet|run|Dockerfile");

    private static final Set<String> UNVISITED = Set.of(".git", ".gpufleet", "target", "node_modules");
    /** The reader's own copies of {@code k8s/overlays/example} and {@code example-purge}. */
    private static final Map<String, String> OWN_OVERLAYS = Map.of(
            "k8s/overlays/mine", "k8s/overlays/example", "k8s/overlays/mine-purge", "k8s/overlays/example-purge");

    static List<Path> pages() throws IOException {
        return files(Pattern.compile(".*\\.md"));
    }

    private static List<Path> files(Pattern name) throws IOException {
        return files(Repository.root(), name);
    }

    private static List<Path> files(Path below, Pattern name) throws IOException {
        var found = new ArrayList<Path>();
        Files.walkFileTree(below, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                return UNVISITED.contains(directory.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (name.matcher(file.getFileName().toString()).matches()) {
                    found.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }

    @ParameterizedTest
    @MethodSource("pages")
    void linksLeadToFilesAndHeadings(Path page) throws IOException {
        for (String link : found(LINK, Files.readString(page))) {
            if (!link.contains("://")) {
                assertLeadsSomewhere(page, link);
            }
        }
    }

    @Test
    void everyDecisionIsLinkedFromTheFirstPage() throws IOException {
        Path root = Repository.root();
        Set<String> links = found(LINK, Files.readString(root.resolve("README.md")));

        List<String> decisions = pages().stream()
                .map(page -> root.relativize(page).toString())
                .filter(page -> page.contains("decisions/"))
                .toList();

        assertThat(links).containsAll(decisions);
    }

    private static void assertLeadsSomewhere(Path page, String link) throws IOException {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]);
        assertThat(target).as("%s of %s", link, page).exists();
        if (parts.length == 2) {
            assertThat(anchors(target)).as("%s of %s", link, page).contains(parts[1]);
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void subcommandsAreInTheHelp(Path page) throws IOException {
        Set<String> help = found(HELP, Files.readString(Repository.root().resolve("gpufleet")));
        // "start PART, stop PART, restart PART" is one line of the help.
        help.addAll(List.of("stop", "restart"));

        assertThat(help).as(page.toString()).containsAll(found(SUBCOMMAND, Files.readString(page)));
    }

    @Test
    void settingsThatPagesNameAreRead() throws IOException {
        var read = new HashSet<String>();
        for (Path file : files(READERS)) {
            read.addAll(found(SETTING, Files.readString(file)));
        }
        for (Path page : pages()) {
            assertThat(read).as(page.toString()).containsAll(found(SETTING, Files.readString(page)));
        }
    }

    @Test
    void testsThatPagesNameExist() throws IOException {
        Map<String, List<Path>> classes = files(Pattern.compile(".*(Test|IT)\\.java")).stream()
                .collect(Collectors.groupingBy(
                        file -> file.getFileName().toString().replace(".java", "")));
        for (Path page : pages()) {
            for (String name : found(TEST, Files.readString(page))) {
                String[] parts = name.split("#", 2);
                assertThat(classes).as(page.toString()).containsKey(parts[0]);
                assertThat(source(classes.getOrDefault(parts[0], List.of())))
                        .as("%s of %s", name, page)
                        .contains(parts.length == 1 ? "class " + parts[0] : "void " + parts[1] + "(");
            }
        }
    }

    private static String source(List<Path> files) throws IOException {
        var text = new StringBuilder();
        for (Path file : files) {
            text.append(Files.readString(file));
        }
        return text.toString();
    }

    @ParameterizedTest
    @CsvSource({
        "proto, io/gpufleet",
        "proto/service-kit, io/gpufleet/kit",
        "proto/service-runtime, io/gpufleet/runtime",
        "node-daemon, io/gpufleet/nodedaemon",
        "inventory-service, io/gpufleet/inventory",
        "health-service, io/gpufleet/health",
        "allocation-service, io/gpufleet/allocation",
        "compose/bench, io/gpufleet/bench"
    })
    void packagesOfAModuleAreOnItsPage(String module, String root) throws IOException {
        String page = Files.readString(Repository.module(module).resolve("README.md"));
        Path sources = Repository.module(module).resolve("src/main/java").resolve(root);

        for (Path info : files(sources, PACKAGE_INFO)) {
            // The root package has the composition alone.
            String name = sources.relativize(info.getParent()).toString().replace('/', '.');
            assertThat(name.isEmpty() || page.contains("`" + name + "`") || page.contains("." + name + "`"))
                    .as(name)
                    .isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void kustomizationsThatAreAppliedExist(Path page) throws IOException {
        for (String directory : found(KUSTOMIZATION, Files.readString(page))) {
            String shipped = OWN_OVERLAYS.getOrDefault(directory, directory);
            assertThat(Repository.module(shipped).resolve("kustomization.yaml"))
                    .as(page.toString())
                    .exists();
        }
    }

    /** The anchors that a Markdown viewer makes of headings: lower case, hyphens for spaces, no punctuation. */
    private static Set<String> anchors(Path page) throws IOException {
        try (Stream<String> lines = Files.lines(page)) {
            return lines.filter(line -> line.startsWith("#"))
                    .map(line -> line.replaceFirst("^#+ ", "").toLowerCase(Locale.ROOT))
                    .map(heading -> heading.replaceAll("[^a-z0-9 _-]", "").replace(' ', '-'))
                    .collect(Collectors.toSet());
        }
    }

    private static Set<String> found(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map(result -> result.group(1))
                .collect(Collectors.toCollection(HashSet::new));
    }
}
