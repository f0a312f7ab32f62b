package io.gpufleet.compose.bench.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchKubeletTest {
    @TempDir
    private Path directory;

    @Test
    void lineAndServerUnderstandEachOtherCallAfterCall() throws Exception {
        // Given
        try (var kubelet = new BenchKubelet(directory);
                var line = PluginLine.to(kubelet.podResourcesSocket())) {
            byte[] list = PluginLine.method("/v1.PodResourcesLister/List");
            for (int call = 0; call < 100; call++) {
                // When
                line.call(list, new byte[0]);
                // Then
                assertThat(ListPodResourcesResponse.parseFrom(line.answer()).getPodResourcesCount())
                        .isZero();
            }
        }
    }

    @Test
    void registeringPluginIsDialledBeforeItIsAnswered() throws Exception {
        // Given a plugin that answers everything with nothing, so that its stream ends at once
        try (var kubelet = new BenchKubelet(directory);
                var _ = new EmptyAnswers(kubelet.pluginDirectory().resolve("plugin.sock"), _ -> {});
                var line = PluginLine.to(kubelet.pluginDirectory().resolve("kubelet.sock"))) {
            var request =
                    RegisterRequest.newBuilder().setEndpoint("plugin.sock").build();
            // When
            line.call(PluginLine.method("/v1beta1.Registration/Register"), request.toByteArray());
            // Then
            assertThat(kubelet.plugin()).isEqualTo(kubelet.pluginDirectory().resolve("plugin.sock"));
            assertThat(kubelet.registeredNanos()).isLessThan(System.nanoTime());
        }
    }

    @Test
    void restartHangsUpAndRemovesEverySocket() throws Exception {
        // Given
        try (var kubelet = new BenchKubelet(directory);
                var line = PluginLine.to(kubelet.podResourcesSocket());
                var _ = new EmptyAnswers(kubelet.pluginDirectory().resolve("plugin.sock"), _ -> {})) {
            byte[] list = PluginLine.method("/v1.PodResourcesLister/List");
            line.call(list, new byte[0]);
            // When
            kubelet.restart();
            // Then
            assertThat(Files.exists(kubelet.pluginDirectory().resolve("plugin.sock")))
                    .isFalse();
            assertThatThrownBy(() -> line.call(list, new byte[0])).isInstanceOf(IOException.class);
        }
    }

    @Test
    void pluginThatShowsNothingIsNamedInTheWaitingsEnd() {
        // Given
        try (var kubelet = new BenchKubelet(directory)) {
            // When Then
            assertThatThrownBy(() -> kubelet.await("a list", _ -> true, Duration.ZERO))
                    .hasMessage("waited 0 s for a list; the plugin showed no list");
        }
    }
}
