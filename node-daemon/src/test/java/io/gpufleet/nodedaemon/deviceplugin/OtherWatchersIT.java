package io.gpufleet.nodedaemon.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.model.registration.RegistrationSettings;
import io.gpufleet.testbed.fakekubelet.RegisterBehaviour;
import io.gpufleet.testbed.testkit.FakeForeignPlugin;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Watchers beside the kubelet that cancel, time out or vanish in each phase of the registration. */
class OtherWatchersIT {
    private static final String GPUS = "nvidia.com/gpu";

    private DevicePluginFixture node;
    private final List<OtherWatcher> watchers = new ArrayList<>();

    @BeforeEach
    void registered() throws Exception {
        node = DevicePluginFixture.with(RegistrationSettings.DEFAULT);
        node.publish(Map.of(GPUS, 2));
        node.awaitAllocatable(GPUS, 2);
    }

    @AfterEach
    void close() {
        watchers.forEach(OtherWatcher::close);
        node.close();
    }

    private Path socket() throws Exception {
        try (Stream<Path> files = Files.list(node.kubelet().devicePluginDirectory())) {
            return files.filter(file -> file.getFileName().toString().startsWith("gpufleet-"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private void connectOnePerEnd() throws Exception {
        for (OtherWatcher.End _ : OtherWatcher.End.values()) {
            watchers.add(OtherWatcher.connect(node.vertx(), socket()));
        }
    }

    /** All watch, and end in all ways; the daemon's streams are then those of before. */
    private void watchAndEnd() {
        int before = node.devicePlugins().openStreams();
        for (OtherWatcher.End end : OtherWatcher.End.values()) {
            watchers.get(end.ordinal()).watchAndEnd(end);
        }
        await().until(() -> node.devicePlugins().openStreams() == before);
    }

    private void restartedKubeletGetsListAndUpdates() {
        node.kubelet().respondToRegister(RegisterBehaviour.CONNECT);
        node.kubelet().restart();
        node.awaitAllocatable(GPUS, 2);
        node.publish(Map.of(GPUS, 1));
        node.awaitAllocatable(GPUS, 1);
        await().until(() -> node.devicePlugins().openStreams() == 1);
    }

    private void awaitReason(String text) {
        await().until(() ->
                node.devicePlugins().notRegisteredReason().orElse("").contains(text));
    }

    @ParameterizedTest
    @EnumSource(OtherWatcher.End.class)
    void watcherThatEndsLeavesTheStreamOfTheKubelet(OtherWatcher.End end) throws Exception {
        var watcher = OtherWatcher.connect(node.vertx(), socket());
        watchers.add(watcher);

        watcher.watchAndEnd(end);

        await().until(() -> node.devicePlugins().openStreams() == 1);
        node.publish(Map.of(GPUS, 1));
        node.awaitAllocatable(GPUS, 1);
        assertThat(node.kubelet().registrations(GPUS)).isEqualTo(1);
        assertThat(node.devicePlugins().notRegisteredReason()).isEmpty();
        node.publish(Map.of(GPUS, 2));
        restartedKubeletGetsListAndUpdates();
    }

    @Test
    void whileThereIsNoKubelet() throws Exception {
        connectOnePerEnd();
        node.kubelet().stop();
        awaitReason("does not exist");

        watchAndEnd();

        restartedKubeletGetsListAndUpdates();
    }

    @ParameterizedTest
    @EnumSource(value = RegisterBehaviour.class, mode = EnumSource.Mode.EXCLUDE, names = "CONNECT")
    void whileTheRegistrationIsNotComplete(RegisterBehaviour response) throws Exception {
        node.kubelet().respondToRegister(response);
        node.kubelet().restart();
        awaitReason(
                switch (response) {
                    case NONE -> "Register is in flight";
                    case FAIL -> "Register failed";
                    case CONNECT_LATER -> "not opened yet";
                    case CONNECT -> throw new IllegalStateException("registered");
                });
        connectOnePerEnd();

        watchAndEnd();

        restartedKubeletGetsListAndUpdates();
    }

    @Test
    void whileAStreamEndsSlowly() throws Exception {
        connectOnePerEnd();
        var debugger = OtherWatcher.connect(node.vertx(), socket());
        watchers.add(debugger);
        debugger.watch();
        node.kubelet().restart();
        awaitReason("is ending");

        watchAndEnd();

        debugger.close();
        restartedKubeletGetsListAndUpdates();
    }

    @Test
    void whileTheRegistrationIsDeferredToAForeignPlugin() throws Exception {
        connectOnePerEnd();
        node.kubelet().stop();
        Path socket = node.kubelet().devicePluginDirectory().resolve(FakeForeignPlugin.SOCKET);
        try (var foreign = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            foreign.bind(UnixDomainSocketAddress.of(socket));
            Files.createFile(node.kubelet().devicePluginDirectory().resolve("kubelet.sock"));
            await().until(() -> node.devicePlugins().supersededBy().equals(FakeForeignPlugin.SOCKET));

            watchAndEnd();
        }
        Files.delete(socket);

        restartedKubeletGetsListAndUpdates();
    }

    @Test
    void whileAForeignPluginServesTheResource() throws Exception {
        connectOnePerEnd();
        try (var _ = FakeForeignPlugin.register(node.kubelet().devicePluginDirectory(), GPUS, 3)) {
            await().until(() -> node.devicePlugins().supersededBy().equals(FakeForeignPlugin.SOCKET));

            watchAndEnd();

            node.awaitAllocatable(GPUS, 3);
        }
        restartedKubeletGetsListAndUpdates();
    }
}
