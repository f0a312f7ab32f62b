package io.gpufleet.nodedaemon.podresources;

import io.gpufleet.kit.lifecycle.OnDemandThread;
import io.gpufleet.nodedaemon.app.HolderSource;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.proto.kubelet.GrpcStatusException;
import io.gpufleet.proto.kubelet.KubeletMethods;
import io.gpufleet.proto.kubelet.UnixGrpcClient;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesRequest;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesResponse;
import io.netty.channel.EventLoop;
import io.vertx.grpc.common.GrpcStatus;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/** Client of the kubelet's podresources v1 API; takes the UIDs of pods from the kubelet's checkpoint. */
public final class PodResourcesClient implements HolderSource {
    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private final UnixGrpcClient calls;
    private final Executor files;
    private final Path socket;
    private final Path checkpoint;
    private final Predicate<String> resourceFilter;
    /** Of the executor of files. */
    private final KubeletUptime uptime;

    /** Creates a client on an event loop; it connects on each {@link #list}. */
    public PodResourcesClient(
            EventLoop loop,
            Path socket,
            Path checkpoint,
            Predicate<String> resourceFilter,
            Clock clock,
            LongSupplier nanoTime) {
        this.calls = new UnixGrpcClient(loop);
        this.files = OnDemandThread.executor("pod-resources");
        this.socket = socket;
        this.checkpoint = checkpoint;
        this.resourceFilter = resourceFilter;
        this.uptime = new KubeletUptime(socket, clock, nanoTime);
    }

    @Override
    public CompletionStage<Holdings> list() {
        var result = new CompletableFuture<Holdings>();
        CompletableFuture.supplyAsync(() -> KubeletCheckpoint.read(checkpoint, resourceFilter), files)
                .thenCompose(before -> call().thenApplyAsync(response -> join(before, response), files))
                .whenComplete((holdings, failure) -> {
                    if (failure == null) {
                        result.complete(holdings);
                    } else {
                        result.completeExceptionally(translate(failure));
                    }
                });
        return result;
    }

    private CompletionStage<ListPodResourcesResponse> call() {
        return calls.call(
                socket, KubeletMethods.LIST_POD_RESOURCES, ListPodResourcesRequest.getDefaultInstance(), DEADLINE);
    }

    private static Throwable translate(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof GrpcStatusException status && status.status() == GrpcStatus.RESOURCE_EXHAUSTED
                ? new RateLimitedException("podresources calls rate limited by the kubelet")
                : cause;
    }

    private Holdings join(KubeletCheckpoint before, ListPodResourcesResponse response) {
        KubeletCheckpoint after = KubeletCheckpoint.read(checkpoint, resourceFilter);
        return new PodResourcesCheckpointJoin(resourceFilter, after, after.entriesAlsoIn(before), uptime.isReady())
                .join(response);
    }
}
