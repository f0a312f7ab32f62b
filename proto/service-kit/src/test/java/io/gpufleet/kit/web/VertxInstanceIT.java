package io.gpufleet.kit.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class VertxInstanceIT {
    /** A program that is killed while Vert.x runs. */
    static final class KilledMain {
        private KilledMain() {}

        public static void main(String[] arguments) {
            VertxInstance.open();
            Runtime.getRuntime().halt(3);
        }
    }

    @Test
    void killedProgramLeavesNothingInTheTemporaryDirectory(@TempDir Path dir) throws Exception {
        var killed = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djava.io.tmpdir=" + dir,
                        "-cp",
                        System.getProperty("java.class.path"),
                        KilledMain.class.getName())
                .inheritIO()
                .start();

        assertThat(killed.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(killed.exitValue()).isEqualTo(3);
        assertThat(dir).isEmptyDirectory();
    }
}
