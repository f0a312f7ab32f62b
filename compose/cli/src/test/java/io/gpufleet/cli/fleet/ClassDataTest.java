package io.gpufleet.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClassDataTest {
    private static final Instant BUILT = Instant.parse("2026-03-01T10:00:00Z");
    private static final List<String> JVM_FLAGS = List.of("-Xmx64m");

    @TempDir
    private Path tree;

    private Path archives;

    @BeforeEach
    void build() throws IOException {
        archives = tree.resolve(".gpufleet/cds");
        Files.createDirectories(tree.resolve("health-service/target/lib"));
        write(tree.resolve("health-service/target/health-service-1.jar"), BUILT);
    }

    @Test
    void firstProcessOfAProgramRecordsItsClassesAndLeavesTheCommandThatWritesTheArchive() throws IOException {
        var data = new ClassData(tree, archives);

        assertThat(flags(data)).first().isEqualTo("-XX:DumpLoadedClassList=" + archives.resolve("health.recording"));
        assertThat(flags(data)).isEmpty();

        assertThat(Files.readAllLines(archives.resolve("health.dump")))
                .containsSubsequence(
                        "-Xmx64m",
                        "-Xshare:dump",
                        "-XX:SharedClassListFile=" + archives.resolve("health.classes"),
                        "-XX:SharedArchiveFile=" + archives.resolve("health.part"),
                        "-cp",
                        "a.jar");
    }

    @Test
    void archiveOfThisBuildIsUsedAndNoneOfAnEarlierOne() throws IOException {
        Files.createDirectories(archives);
        Path archive = archives.resolve("health.jsa");

        write(archive, BUILT.plusSeconds(60));
        assertThat(flags(new ClassData(tree, archives))).contains("-XX:SharedArchiveFile=" + archive);
        assertThat(archives.resolve("health.dump")).doesNotExist();

        write(archive, BUILT.minusSeconds(60));
        assertThat(flags(new ClassData(tree, archives))).noneMatch(flag -> flag.contains(archive.toString()));
    }

    private static List<String> flags(ClassData data) {
        return data.flags(Program.HEALTH, JVM_FLAGS, "a.jar");
    }

    private static void write(Path file, Instant modified) throws IOException {
        Files.writeString(file, "content");
        Files.setLastModifiedTime(file, FileTime.from(modified));
    }
}
