package io.gpufleet.allocation.grpc;

import com.google.protobuf.ByteString;
import io.gpufleet.allocation.app.ReviewDoor;
import io.gpufleet.kit.web.HttpDoor;
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
import io.vertx.grpc.server.StatusException;
import java.util.function.BooleanSupplier;

/** The gRPC server of a replica: answers AdmissionService where it decides, else FAILED_PRECONDITION. */
public final class AdmissionDoor implements AutoCloseable {
    private final HttpDoor door;

    private AdmissionDoor(HttpDoor door) {
        this.door = door;
    }

    /** Serves; port 0 takes a free one. Blocks the caller. */
    public static AdmissionDoor open(Vertx vertx, ReviewDoor here, BooleanSupplier decides, String host, int port) {
        GrpcServer grpc = GrpcServer.server(vertx);
        grpc.addService(AdmissionServiceGrpcService.of(new AdmissionServiceService() {
            @Override
            public Future<AdmitResponse> admit(AdmitRequest request) {
                if (!decides.getAsBoolean()) {
                    return Future.failedFuture(
                            new StatusException(GrpcStatus.FAILED_PRECONDITION, "this replica does not decide"));
                }
                return Future.fromCompletionStage(
                                here.answer(request.getReview().toByteArray()))
                        .map(answer -> AdmitResponse.newBuilder()
                                .setReview(ByteString.copyFrom(answer))
                                .build())
                        .recover(failure -> Future.failedFuture(
                                new StatusException(GrpcStatus.UNAVAILABLE, String.valueOf(failure.getMessage()))));
            }
        }));
        grpc.addService(HealthService.create(vertx)
                        .register("", () -> Future.succeededFuture(true))
                        // Who does not decide forwards: calls go to the replica that serves this.
                        .register(
                                AdmissionServiceGrpcService.SERVICE_NAME,
                                () -> Future.succeededFuture(decides.getAsBoolean())))
                .addService(ReflectionService.v1());
        return new AdmissionDoor(HttpDoor.open(vertx, grpc, host, port, "GPUFLEET_GRPC_PORT"));
    }

    /** The port that is served. */
    public int port() {
        return door.port();
    }

    @Override
    public void close() throws Exception {
        door.close();
    }
}
