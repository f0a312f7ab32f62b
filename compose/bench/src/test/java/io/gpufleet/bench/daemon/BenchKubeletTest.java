package io.gpufleet.bench.daemon;

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
    void clientAndServerExchangeManyCalls() throws Exception {
        // Given
        try (var kubelet = new BenchKubelet(directory);
                var line = RawGrpcClient.connect(kubelet.podResourcesSocket())) {
            byte[] list = RawGrpcClient.requestHeaders("/v1.PodResourcesLister/List");
            for (int call = 0; call < 100; call++) {
                // When
                line.call(list, new byte[0]);
                // Then
                assertThat(ListPodResourcesResponse.parseFrom(line.response()).getPodResourcesCount())
                        .isZero();
            }
        }
    }

    @Test
    void pluginIsCalledBackBeforeRegisterIsAnswered() throws Exception {
        // Given a plugin with empty answers, whose stream ends at once
        try (var kubelet = new BenchKubelet(directory);
                var _ = new EmptyResponseServer(kubelet.pluginDirectory().resolve("plugin.sock"), _ -> {});
                var line = RawGrpcClient.connect(kubelet.pluginDirectory().resolve("kubelet.sock"))) {
            var request =
                    RegisterRequest.newBuilder().setEndpoint("plugin.sock").build();
            // When
            line.call(RawGrpcClient.requestHeaders("/v1beta1.Registration/Register"), request.toByteArray());
            // Then
            assertThat(kubelet.plugin()).isEqualTo(kubelet.pluginDirectory().resolve("plugin.sock"));
            assertThat(kubelet.registeredNanos()).isLessThan(System.nanoTime());
        }
    }

    @Test
    void restartClosesConnectionsAndRemovesEverySocket() throws Exception {
        // Given
        try (var kubelet = new BenchKubelet(directory);
                var line = RawGrpcClient.connect(kubelet.podResourcesSocket());
                var _ = new EmptyResponseServer(kubelet.pluginDirectory().resolve("plugin.sock"), _ -> {})) {
            byte[] list = RawGrpcClient.requestHeaders("/v1.PodResourcesLister/List");
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
    void timeoutNamesPluginThatSentNoList() {
        // Given
        try (var kubelet = new BenchKubelet(directory)) {
            // When Then
            assertThatThrownBy(() -> kubelet.await("a list", _ -> true, Duration.ZERO))
                    .hasMessage("waited 0 s for a list; the plugin sent no list");
        }
    }
}
