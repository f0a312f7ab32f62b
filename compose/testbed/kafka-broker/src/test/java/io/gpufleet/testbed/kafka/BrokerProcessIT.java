package io.gpufleet.testbed.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
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
