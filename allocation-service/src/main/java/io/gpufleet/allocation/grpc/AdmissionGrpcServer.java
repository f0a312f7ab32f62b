package io.gpufleet.allocation.grpc;

import com.google.protobuf.ByteString;
import io.gpufleet.allocation.app.quota.AdmissionReviewHandler;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.proto.allocation.v1.AdmissionServiceGrpcService;
import io.gpufleet.proto.allocation.v1.AdmissionServiceService;
import io.gpufleet.proto.allocation.v1.AdmitRequest;
import io.gpufleet.proto.allocation.v1.AdmitResponse;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.health.HealthService;
import io.vertx.grpc.reflection.ReflectionService;
import io.vertx.grpc.server.GrpcServer;
import io.vertx.grpc.server.GrpcServerOptions;
import io.vertx.grpc.server.StatusException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * gRPC server of a replica, for other replicas: AdmissionService on the quota leader, FAILED_PRECONDITION on a standby. A
 * caller without the certificate of a replica is refused before it sends anything.
 */
public final class AdmissionGrpcServer implements AutoCloseable {
    private static final String ANY_ADDRESS = "0.0.0.0";

    /** A review has up to 4 MiB; Vert.x takes 256 KiB. */
    static final long MAX_MESSAGE_BYTES = 5L * 1024 * 1024;

    private final BoundHttpServer server;
    private final String host;

    private AdmissionGrpcServer(BoundHttpServer server, String host) {
        this.server = server;
        this.host = host;
    }

    /** Decides on reviews, where {@code isLeader}. */
    public record Decisions(AdmissionReviewHandler handler, BooleanSupplier isLeader) {}

    /** Opens the server; port 0 takes a free one. Blocks the caller. */
    public static AdmissionGrpcServer open(Vertx vertx, Decisions decisions, ReplicaTls tls, String host, int port) {
        BooleanSupplier isLeader = decisions.isLeader();
        GrpcServer grpc = GrpcServer.server(vertx, new GrpcServerOptions().setMaxMessageSize(MAX_MESSAGE_BYTES));
        grpc.addService(AdmissionServiceGrpcService.of(new AdmissionServiceService() {
            @Override
            public Future<AdmitResponse> admit(AdmitRequest request) {
                if (!isLeader.getAsBoolean()) {
                    return Future.failedFuture(new StatusException(
                            GrpcStatus.FAILED_PRECONDITION, "this replica is not the quota leader"));
                }
                byte[] review = request.getReview().toByteArray();
                return Future.fromCompletionStage(decisions.handler().handle(review, receivedNanos(request)))
                        .map(answer -> AdmitResponse.newBuilder()
                                .setReview(ByteString.copyFrom(answer))
                                .build())
                        .recover(failure -> Future.failedFuture(
                                new StatusException(GrpcStatus.UNAVAILABLE, String.valueOf(failure.getMessage()))));
            }
        }));
        grpc.addService(HealthService.create(vertx)
                        .register("", () -> Future.succeededFuture(true))
                        // Only the quota leader is serving: standbys forward to it.
                        .register(
                                AdmissionServiceGrpcService.SERVICE_NAME,
                                () -> Future.succeededFuture(isLeader.getAsBoolean())))
                .addService(ReflectionService.v1());
        return new AdmissionGrpcServer(
                BoundHttpServer.open(vertx, tls.server(), grpc, host, port, "GPUFLEET_GRPC_PORT"), host);
    }

    /** When the other replica received the review, by the clock of this one. */
    private static long receivedNanos(AdmitRequest request) {
        return System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(Integer.toUnsignedLong(request.getWaitedMillis()));
    }

    /** The port that is served. */
    public int port() {
        return server.port();
    }

    /** Host and port by which other replicas reach this one. */
    public String advertisedAddress() {
        return advertisedHost() + ":" + port();
    }

    /** Host by which other replicas reach this one. */
    public String advertisedHost() {
        return host.equals(ANY_ADDRESS) ? localAddress() : host;
    }

    private static String localAddress() {
        try {
            return InetAddress.getLocalHost().getHostAddress();
        } catch (UnknownHostException withoutName) {
            return "127.0.0.1";
        }
    }

    @Override
    public void close() throws Exception {
        server.close();
    }
}
