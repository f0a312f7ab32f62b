package io.gpufleet.cli.images;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Licences of the jars of every program, by the poms that Maven built it with: no network is needed. */
class LicencesIT {
    /** What a program under the Apache licence may carry. */
    private static final Pattern ALLOWED = Pattern.compile(
            "(?i).*(apache|\\bmit\\b|bsd|eclipse public license|\\bepl\\b|\\bedl\\b|eclipse distribution|public domain|cc0).*");

    private static final Pattern LICENCES = Pattern.compile("(?s)<licenses>(.*?)</licenses>");
    private static final Pattern NAME = Pattern.compile("<name>\\s*([^<]*?)\\s*</name>");
    private static final Pattern PARENT = Pattern.compile("(?s)<parent>(.*?)</parent>");

    private static Map<String, Path> poms = Map.of();

    @BeforeAll
    static void findPoms() throws IOException {
        Path repository = Path.of(System.getProperty(
                "maven.repo.local",
                Path.of(System.getProperty("user.home"), ".m2", "repository").toString()));
        var found = new HashMap<String, Path>();
        try (Stream<Path> files = Files.walk(repository)) {
            files.filter(file -> file.toString().endsWith(".pom"))
                    .forEach(file -> found.put(file.getFileName().toString().replaceFirst("\\.pom$", ""), file));
        }
        poms = found;
    }

    @ParameterizedTest
    @ValueSource(strings = {"node-daemon", "inventory-service", "health-service", "allocation-service", "compose/cli"})
    void everyLibraryOfAProgramHasALicenceThatMayBePassedOn(String module) throws IOException {
        Map<String, String> licences = licences(module);

        assertThat(licences).hasSizeGreaterThan(10);
        assertThat(licences)
                .allSatisfy((jar, licence) -> assertThat(licence).as(jar).matches(ALLOWED));
    }

    @Test
    void licenceThatMayNotBePassedOnIsFound() {
        assertThat("GNU Affero General Public License").doesNotMatch(ALLOWED);
        assertThat("").doesNotMatch(ALLOWED);
    }

    private static Map<String, String> licences(String module) throws IOException {
        try (Stream<Path> jars = Files.list(Repository.module(module).resolve("target/lib"))) {
            return jars.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".jar") && !name.contains("-SNAPSHOT"))
                    .collect(Collectors.toMap(name -> name, LicencesIT::licence, (one, _) -> one, TreeMap::new));
        }
    }

    /** By the pom of the jar, whose name may end with a classifier. */
    private static String licence(String jar) {
        String name = jar.replaceFirst("\\.jar$", "");
        while (!poms.containsKey(name) && name.contains("-")) {
            name = name.substring(0, name.lastIndexOf('-'));
        }
        Path pom = poms.get(name);
        return pom == null ? "" : licenceOf(pom);
    }

    /** Its own, or that of its parent. */
    private static String licenceOf(Path pom) {
        String text = read(pom);
        Matcher own = LICENCES.matcher(text);
        if (own.find()) {
            return NAME.matcher(own.group(1))
                    .results()
                    .map(found -> found.group(1))
                    .collect(Collectors.joining(", "));
        }
        Matcher parent = PARENT.matcher(text);
        if (!parent.find()) {
            return "";
        }
        Path above = poms.get(element(parent.group(1), "artifactId") + "-" + element(parent.group(1), "version"));
        return above == null ? "" : licenceOf(above);
    }

    private static String element(String xml, String name) {
        Matcher found =
                Pattern.compile("<" + name + ">\\s*([^<]*?)\\s*</" + name + ">").matcher(xml);
        return found.find() ? found.group(1) : "";
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
