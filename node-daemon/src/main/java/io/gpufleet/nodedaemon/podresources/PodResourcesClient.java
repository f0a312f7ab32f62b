package io.gpufleet.nodedaemon.podresources;

import io.gpufleet.nodedaemon.app.HolderSource;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.proto.kubelet.UnaryCalls;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesRequest;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesResponse;
import io.gpufleet.proto.kubelet.podresources.PodResourcesListerGrpcClient;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.grpc.client.InvalidStatusException;
import io.vertx.grpc.common.GrpcStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/** Client of the kubelet's podresources v1 API; takes the UIDs of pods from the kubelet's checkpoint. */
public final class PodResourcesClient implements HolderSource, AutoCloseable {
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final Duration KUBELET_STARTUP = Duration.ofSeconds(15);

    private final Vertx vertx;
    private final Context context;
    private final UnaryCalls calls;
    private final Path socket;
    private final Path checkpoint;
    private final Predicate<String> resourceFilter;
    private final Clock clock;

    /** Creates a client; it connects on each {@link #list}. */
    public PodResourcesClient(
            Vertx vertx, Path socket, Path checkpoint, Predicate<String> resourceFilter, Clock clock) {
        this.vertx = vertx;
        this.context = vertx.getOrCreateContext();
        this.calls = new UnaryCalls(vertx, context);
        this.socket = socket;
        this.checkpoint = checkpoint;
        this.resourceFilter = resourceFilter;
        this.clock = clock;
    }

    @Override
    public CompletionStage<Holdings> list() {
        var result = new CompletableFuture<Holdings>();
        // Runs on the event loop from the start: a response that arrives before its handler is attached is lost.
        context.runOnContext(_ -> fetch(result));
        return result;
    }

    private void fetch(CompletableFuture<Holdings> result) {
        vertx.executeBlocking(() -> KubeletCheckpoint.read(checkpoint, resourceFilter), false)
                .compose(before ->
                        call().compose(response -> vertx.executeBlocking(() -> join(before, response), false)))
                .onSuccess(result::complete)
                .onFailure(failure -> result.completeExceptionally(translate(failure)));
    }

    private Future<ListPodResourcesResponse> call() {
        return calls.call(
                socket, PodResourcesListerGrpcClient.List, ListPodResourcesRequest.getDefaultInstance(), DEADLINE);
    }

    private static Throwable translate(Throwable failure) {
        return failure instanceof InvalidStatusException status
                        && status.actualStatus() == GrpcStatus.RESOURCE_EXHAUSTED
                ? new RateLimitedException("podresources calls rate limited by the kubelet")
                : failure;
    }

    private Holdings join(KubeletCheckpoint before, ListPodResourcesResponse response) {
        KubeletCheckpoint after = KubeletCheckpoint.read(checkpoint, resourceFilter);
        return new HolderJoin(resourceFilter, after, after.entriesAlsoIn(before), isKubeletReady()).join(response);
    }

    private boolean isKubeletReady() {
        try {
            var socketCreated = Files.getLastModifiedTime(socket).toInstant();
            return Duration.between(socketCreated, clock.instant()).compareTo(KUBELET_STARTUP) >= 0;
        } catch (IOException absent) {
            return false;
        }
    }

    @Override
    public void close() {
        calls.close();
    }
}
