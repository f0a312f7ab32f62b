package io.gpufleet.proto.kubelet;

import static io.gpufleet.proto.kubelet.TestedGrpcSocket.echo;
import static io.gpufleet.proto.kubelet.TestedGrpcSocket.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.kubelet.UnixGrpcServer.ServedSocket;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.vertx.grpc.client.GrpcClient;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The server against requests and connections of another implementation of HTTP/2 and gRPC, that of Vert.x. */
class UnixGrpcServerIT {
    private TestedGrpcSocket grpc;

    @BeforeEach
    void open() throws IOException {
        grpc = new TestedGrpcSocket();
    }

    @AfterEach
    void close() throws Exception {
        grpc.close();
    }

    private HttpClientResponse send(HttpMethod method, String type, byte[] body) throws Exception {
        var http = grpc.vertx()
                .createHttpClient(new HttpClientOptions()
                        .setProtocolVersion(HttpVersion.HTTP_2)
                        .setHttp2ClearTextUpgrade(false));
        return grpc.get(() -> http.request(new RequestOptions()
                        .setServer(grpc.address())
                        .setMethod(method)
                        .setURI(KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS.path()))
                .compose(request -> request.putHeader("content-type", type).send(Buffer.buffer(body)))
                .compose(answer -> answer.body().map(answer)));
    }

    @Test
    void requestThatIsNoGrpcIsRefusedByHttp() throws Exception {
        grpc.serve();

        assertThat(send(HttpMethod.PUT, "application/grpc", new byte[5]).statusCode())
                .isEqualTo(405);
        assertThat(send(HttpMethod.POST, "text/plain", new byte[5]).statusCode())
                .isEqualTo(415);
    }

    @Test
    void requestWithoutWholeMessageIsAnInternalError() throws Exception {
        grpc.serve();

        assertThat(status(send(HttpMethod.POST, "application/grpc", new byte[0])))
                .isEqualTo("13");
        assertThat(status(send(HttpMethod.POST, "application/grpc", new byte[] {0, 0, 0, 0, 9, 1})))
                .isEqualTo("13");
        assertThat(status(send(HttpMethod.POST, "application/grpc+proto", new byte[] {0, 0, 0, 0, 1, 7})))
                .as("no protobuf message")
                .isEqualTo("13");
    }

    @Test
    void compressedAndOversizedMessagesAreRefused() throws Exception {
        grpc.serve();

        assertThat(status(send(HttpMethod.POST, "application/grpc", new byte[] {1, 0, 0, 0, 0})))
                .isEqualTo("12");
        assertThat(status(send(HttpMethod.POST, "application/grpc", new byte[] {0, 1, 0, 0, 1, 0})))
                .isEqualTo("8");
    }

    private static String status(HttpClientResponse response) {
        String trailer = response.getTrailer("grpc-status");
        return trailer == null ? String.valueOf(response.getHeader("grpc-status")) : trailer;
    }

    @Test
    void streamOfAClientThatCancelsIsClosedOnce() throws Exception {
        grpc.serve();
        GrpcClient other = UnixSocketGrpc.client(grpc.vertx(), UnixSocketGrpc.AUTHORITY);
        var call = grpc.get(() -> other.request(grpc.address(), DevicePluginGrpcClient.ListAndWatch)
                .compose(opened -> opened.send(Empty.getDefaultInstance()).map(opened)));
        await().until(() -> grpc.watching().size() == 1);

        grpc.vertx().runOnContext(_ -> call.cancel());

        await().until(() -> grpc.closed().get() == 1);
        grpc.loop().submit(() -> grpc.watching().getFirst().send(new byte[0])).sync();
        grpc.get(other::close);
        assertThat(grpc.get(() -> grpc.otherClient().getDevicePluginOptions(Empty.getDefaultInstance())))
                .isNotNull();
        assertThat(grpc.closed()).hasValue(1);
    }

    @Test
    void streamIsClosedWithItsConnectionAlsoAfterOurOwnEnd() throws Exception {
        grpc.serve();
        GrpcClient other = UnixSocketGrpc.client(grpc.vertx(), UnixSocketGrpc.AUTHORITY);
        var ended = new CompletableFuture<Boolean>();
        grpc.get(() -> other.request(grpc.address(), DevicePluginGrpcClient.ListAndWatch)
                .compose(call -> call.send(Empty.getDefaultInstance()))
                .map(response -> response.handler(_ -> {}).endHandler(_ -> ended.complete(true))));
        await().until(() -> grpc.watching().size() == 1);

        grpc.loop().submit(() -> grpc.watching().getFirst().end()).sync();

        assertThat(ended.get(20, TimeUnit.SECONDS)).isTrue();
        assertThat(grpc.closed()).hasValue(0);
        grpc.get(other::close);
        await().until(() -> grpc.closed().get() == 1);
    }

    @Test
    void endOfTheSocketEndsItsConnections() throws Exception {
        ServedSocket served = grpc.serve();
        grpc.get(() -> UnixSocketGrpc.client(grpc.vertx(), UnixSocketGrpc.AUTHORITY)
                .request(grpc.address(), DevicePluginGrpcClient.ListAndWatch)
                .compose(call -> call.send(Empty.getDefaultInstance())));
        await().until(() -> grpc.watching().size() == 1);

        served.close().toCompletableFuture().get(20, TimeUnit.SECONDS);

        await().until(() -> grpc.closed().get() == 1);
    }

    @Test
    void bytesThatAreNoHttp2EndTheirConnectionAlone() throws Exception {
        grpc.serve();
        try (var stranger = SocketChannel.open(UnixDomainSocketAddress.of(grpc.path()))) {
            stranger.write(ByteBuffer.wrap("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
            var rest = ByteBuffer.allocate(4096);
            while (stranger.read(rest) >= 0) {
                rest.clear();
            }
        }

        assertThat(grpc.get(() -> grpc.otherClient().allocate(request(1)))).isEqualTo(echo(1));
    }
}
