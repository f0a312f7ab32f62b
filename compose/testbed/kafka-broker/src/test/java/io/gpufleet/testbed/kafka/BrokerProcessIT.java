package io.gpufleet.testbed.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.metadata.bootstrap.BootstrapDirectory;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class BrokerProcessIT {
    @Test
    void killedBrokerComesBackOnTheSamePortWithTheSameIdentity(@TempDir Path dir) throws Exception {
        try (var broker = BrokerProcess.start(dir)) {
            String bootstrap = broker.bootstrap();
            long pid = broker.pid();
            String identity = Files.readString(dir.resolve("log/meta.properties"));

            broker.kill();
            assertThat(broker.alive()).isFalse();
            broker.restart();

            assertThat(broker.bootstrap()).isEqualTo(bootstrap);
            assertThat(broker.pid()).isNotEqualTo(pid);
            assertThat(clusterId(Files.readString(dir.resolve("log/meta.properties"))))
                    .isEqualTo(clusterId(identity));
        }
    }

    @Test
    void closedBrokerLeavesNothingInMemory(@TempDir Path dir) throws Exception {
        // Given
        Path log;
        try (var broker = BrokerProcess.start(dir)) {
            log = dir.resolve("log").toRealPath();
            assertThat(broker.alive()).isTrue();
            assertThat(log.resolve("meta.properties")).exists();
        }

        // Then
        assertThat(log.startsWith(dir.toRealPath()) || Files.notExists(log)).isTrue();
    }

    /** Feature levels decide how the broker treats transactions and groups. */
    @Test
    void eachDirectoryIsAClusterOfItsOwnWithTheFeaturesOfStorageTool(@TempDir Path dir) throws Exception {
        // Given
        var jvm = new BrokerJvm(
                new ServerProperties(dir.resolve("a"), 1, 1, 2, new AdditionalListener.Open()), KafkaJars.classPath());
        var other = new BrokerJvm(
                new ServerProperties(dir.resolve("b"), 1, 1, 2, new AdditionalListener.Open()), KafkaJars.classPath());
        for (BrokerJvm each : List.of(jvm, other)) {
            Files.createDirectories(each.properties().dir());
            each.properties().write();
        }

        // When
        jvm.format();
        other.formatByStorageTool();

        // Then
        assertThat(features(dir.resolve("a"))).isNotEmpty().isEqualTo(features(dir.resolve("b")));
        assertThat(meta(dir.resolve("a")).keySet())
                .isEqualTo(meta(dir.resolve("b")).keySet());
        assertThat(meta(dir.resolve("a")).get("cluster.id"))
                .isNotEqualTo(meta(dir.resolve("b")).get("cluster.id"));
    }

    private static Properties meta(Path dir) throws Exception {
        var meta = new Properties();
        try (var reader = Files.newBufferedReader(dir.resolve("log/meta.properties"))) {
            meta.load(reader);
        }
        return meta;
    }

    private static List<String> features(Path dir) throws Exception {
        BootstrapMetadata metadata = new BootstrapDirectory(dir.resolve("log").toString()).read();
        return metadata.records().stream().map(String::valueOf).toList();
    }

    @Test
    void portInUseIsReportedInOneLine(@TempDir Path dir) throws Exception {
        try (var taken = new ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> BrokerProcess.start(dir, taken.getLocalPort()))
                    .hasMessageContaining("port " + taken.getLocalPort())
                    .hasMessageContaining("in use");
            assertThat(Files.readString(dir.resolve("broker.out"))).contains("BindException");
        }
    }

    private static String clusterId(String meta) {
        return meta.lines()
                .filter(line -> line.startsWith("cluster.id="))
                .findFirst()
                .orElseThrow();
    }
}
