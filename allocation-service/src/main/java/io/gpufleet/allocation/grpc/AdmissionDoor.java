package io.gpufleet.allocation.grpc;

import com.google.protobuf.ByteString;
import io.gpufleet.allocation.app.ReviewDoor;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.proto.allocation.v1.AdmissionServiceGrpcService;
import io.gpufleet.proto.allocation.v1.AdmissionServiceService;
import io.gpufleet.proto.allocation.v1.AdmitRequest;
import io.gpufleet.proto.allocation.v1.AdmitResponse;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.GrpcServer;
import io.vertx.grpc.server.StatusException;
import java.net.BindException;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;

/** The gRPC server of a replica: answers AdmissionService where it decides, else FAILED_PRECONDITION. */
public final class AdmissionDoor implements AutoCloseable {
    private final HttpServer server;

    private AdmissionDoor(HttpServer server) {
        this.server = server;
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
        try {
            return new AdmissionDoor(vertx.createHttpServer()
                    .requestHandler(grpc)
                    .listen(port, host)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get());
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof BindException) {
                throw new ConfigurationException("GPUFLEET_GRPC_PORT=" + port + " can not be opened on " + host
                        + ": the port is in use; end the program that has it or choose another port");
            }
            throw new IllegalStateException("gRPC server on " + host + ":" + port + " did not start", failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while starting the gRPC server", interrupted);
        }
    }

    /** The port that is served. */
    public int port() {
        return server.actualPort();
    }

    @Override
    public void close() {
        server.close().toCompletionStage().toCompletableFuture().join();
    }
}
