package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Finding;
import io.gpufleet.nodedaemon.model.Finding.Grade;
import io.gpufleet.nodedaemon.model.KubeletManners;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A kubelet that is there, that is gone, and a plugin of somebody else. */
class KubeletCheckTest {
    @TempDir
    private Path directory;

    private static ServerSocketChannel listen(Path socket) throws IOException {
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket));
    }

    private List<Grade> grades(Path plugins) {
        return check(plugins, KubeletManners.USUAL).examine(directory.resolve("pods.sock")).stream()
                .map(Finding::grade)
                .toList();
    }

    private KubeletCheck check(Path plugins, KubeletManners manners) {
        return new KubeletCheck(plugins, directory.resolve("registry"), manners);
    }

    @Test
    void whatTheOperatorChoseIsExaminedAndNoMore() throws IOException {
        var registry = new KubeletManners(KubeletManners.Plugin.AUTO, KubeletManners.Way.PLUGINS_REGISTRY);
        var off = new KubeletManners(KubeletManners.Plugin.OFF, KubeletManners.Way.DEVICE_PLUGINS);
        Path pods = directory.resolve("pods.sock");
        assertThat(check(directory, registry).examine(pods).getFirst().remedy())
                .contains("GPUFLEET_PLUGINS_REGISTRY_DIR");
        Files.createDirectory(directory.resolve("registry"));
        assertThat(check(directory, registry).examine(pods).getFirst().grade()).isEqualTo(Grade.OK);

        try (var _ = listen(directory.resolve("nvidia-gpu.sock"))) {
            assertThat(check(directory, off).examine(pods))
                    .extracting(Finding::grade)
                    .containsExactly(Grade.OK, Grade.OK, Grade.WARN);
        }
    }

    @Test
    void eachSocketIsTriedAndALivePluginOfSomebodyElseIsNamed() throws IOException {
        // Given nothing, then a socket that a dead kubelet left
        assertThat(grades(directory.resolve("nowhere"))).containsExactly(Grade.FAIL, Grade.OK, Grade.WARN);
        assertThat(grades(directory)).containsExactly(Grade.FAIL, Grade.OK, Grade.WARN);
        Path kubelet = directory.resolve("kubelet.sock");
        listen(kubelet).close();
        assertThat(check(directory, KubeletManners.USUAL)
                        .examine(kubelet)
                        .getFirst()
                        .found())
                .endsWith("does not answer");

        // When all answer
        Files.delete(kubelet);
        try (var _ = listen(kubelet);
                var _ = listen(directory.resolve("pods.sock"))) {
            assertThat(grades(directory)).containsExactly(Grade.OK, Grade.OK, Grade.OK);

            // And somebody else does too
            try (var _ = listen(directory.resolve("nvidia-gpu.sock"))) {
                Finding foreign =
                        check(directory, KubeletManners.USUAL).examine(kubelet).get(1);
                assertThat(foreign.grade()).isEqualTo(Grade.WARN);
                assertThat(foreign.found()).startsWith("nvidia-gpu.sock is alive");
            }
        }
    }
}
