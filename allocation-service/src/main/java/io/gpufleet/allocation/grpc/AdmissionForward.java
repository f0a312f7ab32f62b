package io.gpufleet.allocation.grpc;

import com.google.protobuf.ByteString;
import io.gpufleet.allocation.app.ReviewDoor;
import io.gpufleet.proto.allocation.v1.AdmissionServiceGrpcClient;
import io.gpufleet.proto.allocation.v1.AdmitRequest;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Hands reviews to the replica that decides. */
public final class AdmissionForward implements AutoCloseable {
    // The API server waits 3 s.
    private static final long PATIENCE_MILLIS = 2_500;

    private final GrpcClient client;

    /** A client of its own. */
    public AdmissionForward(Vertx vertx) {
        this.client = GrpcClient.client(vertx);
    }

    /** Asks the replica at host:port; fails as unavailable when it does not answer or does not decide. */
    public CompletionStage<byte[]> forward(String address, byte[] review) {
        int colon = address.lastIndexOf(':');
        var target = SocketAddress.inetSocketAddress(
                Integer.parseInt(address.substring(colon + 1)), address.substring(0, colon));
        return AdmissionServiceGrpcClient.create(client, target)
                .admit(AdmitRequest.newBuilder()
                        .setReview(ByteString.copyFrom(review))
                        .build())
                .toCompletionStage()
                .toCompletableFuture()
                .orTimeout(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
                .thenApply(response -> response.getReview().toByteArray())
                .exceptionally(failure -> {
                    throw new ReviewDoor.UnavailableException(
                            "the deciding replica at " + address + " did not answer: " + failure.getMessage());
                });
    }

    @Override
    public void close() {
        client.close().toCompletionStage().toCompletableFuture().join();
    }
}
