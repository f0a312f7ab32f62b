package io.gpufleet.allocation.grpc;

import com.google.protobuf.ByteString;
import io.gpufleet.allocation.app.quota.AdmissionReviewHandler;
import io.gpufleet.proto.allocation.v1.AdmissionServiceGrpcClient;
import io.gpufleet.proto.allocation.v1.AdmitRequest;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientOptions;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Forwards reviews to the quota leader. */
public final class AdmissionGrpcClient implements AutoCloseable {
    // Less than the 3 s that the API server waits.
    private static final int TIMEOUT_MILLIS = 2_500;

    private final GrpcClient client;

    /** Opens a client that shows the certificate of this replica. */
    public AdmissionGrpcClient(Vertx vertx, ReplicaTls tls) {
        // A review that nobody waits for any more is taken back: on a connection that is full, it would hold up those
        // that follow.
        var options = new GrpcClientOptions()
                .setMaxMessageSize(AdmissionGrpcServer.MAX_MESSAGE_BYTES)
                .setTimeout(TIMEOUT_MILLIS)
                .setTimeoutUnit(TimeUnit.MILLISECONDS)
                .setScheduleDeadlineAutomatically(true);
        this.client = GrpcClient.client(vertx, options, tls.client());
    }

    /** Sends a review, with its age, to the replica at host:port; fails as unavailable when it does not answer or is not the leader. */
    public CompletionStage<byte[]> forward(String address, byte[] review, long receivedNanos) {
        int colon = address.lastIndexOf(':');
        var target = SocketAddress.inetSocketAddress(
                Integer.parseInt(address.substring(colon + 1)), address.substring(0, colon));
        return AdmissionServiceGrpcClient.create(client, target)
                .admit(AdmitRequest.newBuilder()
                        .setReview(ByteString.copyFrom(review))
                        .setWaitedMillis((int) TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - receivedNanos))
                        .build())
                .toCompletionStage()
                .toCompletableFuture()
                .orTimeout(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
                .thenApply(response -> response.getReview().toByteArray())
                .exceptionally(failure -> {
                    throw new AdmissionReviewHandler.UnavailableException(
                            "the quota leader at " + address + " did not answer: " + failure.getMessage());
                });
    }

    @Override
    public void close() {
        client.close().toCompletionStage().toCompletableFuture().join();
    }
}
