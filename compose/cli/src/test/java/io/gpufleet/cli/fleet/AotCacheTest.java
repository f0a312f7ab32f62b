package io.gpufleet.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AotCacheTest {
    private static final Instant BUILT = Instant.parse("2026-03-01T10:00:00Z");

    @TempDir
    private Path tree;

    private Path library;

    @BeforeEach
    void build() throws IOException {
        library = tree.resolve("health-service/target/lib/a.jar");
        Files.createDirectories(library.getParent());
        write(library, BUILT);
        write(tree.resolve("health-service/target/health-service-1.jar"), BUILT);
    }

    private static void write(Path file, Instant modified) throws IOException {
        Files.writeString(file, "content");
        Files.setLastModifiedTime(file, FileTime.from(modified));
    }

    @Test
    void cacheOfThisBuildIsUsed() throws IOException {
        assertThat(AotCache.fresh(tree, Program.HEALTH)).isFalse();

        write(AotCache.of(tree, Program.HEALTH), BUILT.plusSeconds(60));

        assertThat(AotCache.fresh(tree, Program.HEALTH)).isTrue();
    }

    @Test
    void cacheOfAnEarlierBuildIsNotUsed() throws IOException {
        write(AotCache.of(tree, Program.HEALTH), BUILT.plusSeconds(60));

        write(library, BUILT.plusSeconds(120));

        assertThat(AotCache.fresh(tree, Program.HEALTH)).isFalse();
    }
}
