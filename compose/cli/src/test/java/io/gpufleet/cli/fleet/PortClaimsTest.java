package io.gpufleet.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class PortClaimsTest {
    private static final int USUAL = 29_871;

    @Test
    void fleetsThatStartAtTheSameTimePlanDifferentPorts() {
        var messages = new ArrayList<String>();
        try (var first = new PortClaims();
                var second = new PortClaims()) {
            // When
            int mine = new PortAllocator(first::claim, messages::add).allocate("kafka", USUAL);
            int other = new PortAllocator(second::claim, messages::add).allocate("kafka", USUAL);

            // Then
            assertThat(other).isNotEqualTo(mine);
            assertThat(messages).containsExactly("port " + USUAL + " is in use: kafka uses " + other);
        }
    }

    @Test
    void portIsFreeAgainOnceTheClaimIsGivenBack() {
        try (var first = new PortClaims();
                var second = new PortClaims()) {
            assertThat(first.claim(USUAL + 1)).isTrue();
            assertThat(second.claim(USUAL + 1)).isFalse();

            first.close();

            assertThat(second.claim(USUAL + 1)).isTrue();
        }
    }

    @Test
    void portOfAProgramThatListensIsNotClaimed() throws IOException {
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var claims = new PortClaims()) {
            assertThat(claims.claim(server.getLocalPort())).isFalse();
        }
    }
}
