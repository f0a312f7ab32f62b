package io.gpufleet.cli.drill;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import org.junit.jupiter.api.Test;

/** The port of a broker that is away, on the loopback address. */
class AbsentBrokerIT {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    @Test
    void heldPortIsTakenByNobodyAndAnswersNobody() throws IOException {
        int number;
        try (ServerSocket held = AbsentBroker.hold(0)) {
            number = held.getLocalPort();

            assertThatThrownBy(() -> listen(number)).isInstanceOf(BindException.class);
            try (var client = new Socket(LOOPBACK, number)) {
                assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
            }
        }
        // A port is given back once the thread that accepts has seen the end.
        await().ignoreExceptionsInstanceOf(BindException.class)
                .untilAsserted(() -> listen(number).close());
    }

    private static ServerSocket listen(int number) throws IOException {
        var socket = new ServerSocket();
        socket.bind(new InetSocketAddress(LOOPBACK, number));
        return socket;
    }
}
