package io.gpufleet.nodedaemon.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AotCacheTest {
    @TempDir
    private Path directory;

    private Path maps(String lines) throws IOException {
        return Files.writeString(directory.resolve("maps"), lines);
    }

    @Test
    void mappedCacheIsUsed() throws IOException {
        Path maps = maps("""
            7f0000000000-7f0000100000 rw-p 00001000 fe:00 77  /opt/node-daemon/node-daemon.aot
            7f1000000000-7f1000100000 r-xp 00000000 fe:00 78  /opt/node-daemon/runtime/lib/server/libjvm.so
            """);

        assertThat(AotCache.isMapped("/opt/node-daemon/node-daemon.aot", maps)).isTrue();
    }

    @Test
    void cacheThatIsNotMappedIsUnused() throws IOException {
        Path maps = maps("7f1000000000-7f1000100000 r-xp 00000000 fe:00 78  /opt/node-daemon/lib/jffi.so\n");

        assertThat(AotCache.isMapped("/opt/node-daemon/node-daemon.aot", maps)).isFalse();
    }

    @Test
    void ownLibrariesOfThisProcessAreMapped() {
        assertThat(AotCache.isMapped("libjvm.so", Path.of("/proc/self/maps"))).isTrue();
    }

    @Test
    void nothingIsSaidWhereMapsCannotBeRead() {
        assertThat(AotCache.isMapped("/opt/a.aot", directory.resolve("absent"))).isTrue();
    }
}
