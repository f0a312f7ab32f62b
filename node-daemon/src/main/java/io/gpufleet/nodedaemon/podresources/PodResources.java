package io.gpufleet.nodedaemon.podresources;

import io.gpufleet.nodedaemon.app.HolderSource;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesRequest;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesResponse;
import io.gpufleet.proto.kubelet.podresources.PodResourcesListerGrpcClient;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.InvalidStatusException;
import io.vertx.grpc.common.GrpcStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Asks the kubelet's podresources v1, and takes the pod's UID from its checkpoint. */
public final class PodResources implements HolderSource, AutoCloseable {
    private static final long DEADLINE_SECONDS = 10;
    private static final Duration KUBELET_SETTLES = Duration.ofSeconds(15);

    private final Vertx vertx;
    private final Context context;
    private final GrpcClient client;
    private final Path socket;
    private final Path checkpoint;
    private final Predicate<String> ours;
    private final Clock clock;

    /** Asks on the socket when it is asked. */
    public PodResources(Vertx vertx, Path socket, Path checkpoint, Predicate<String> ours, Clock clock) {
        this.vertx = vertx;
        this.context = vertx.getOrCreateContext();
        this.client = GrpcClient.client(vertx);
        this.socket = socket;
        this.checkpoint = checkpoint;
        this.ours = ours;
        this.clock = clock;
    }

    @Override
    public CompletionStage<Holdings> list() {
        var told = new CompletableFuture<Holdings>();
        // On the event loop from the first step on: an answer that comes before its handler is attached is lost.
        context.runOnContext(_ -> ask(told));
        return told;
    }

    private void ask(CompletableFuture<Holdings> told) {
        vertx.executeBlocking(() -> KubeletCheckpoint.read(checkpoint, ours), false)
                .compose(before -> call().compose(answer -> vertx.executeBlocking(() -> join(before, answer), false)))
                .onSuccess(told::complete)
                .onFailure(failure -> told.completeExceptionally(inWords(failure)));
    }

    private Future<ListPodResourcesResponse> call() {
        return client.request(SocketAddress.domainSocketAddress(socket.toString()), PodResourcesListerGrpcClient.List)
                .compose(call -> {
                    call.timeout(DEADLINE_SECONDS, TimeUnit.SECONDS);
                    return call.send(ListPodResourcesRequest.getDefaultInstance());
                })
                .compose(response -> response.last());
    }

    private static Throwable inWords(Throwable failure) {
        return failure instanceof InvalidStatusException status
                        && status.actualStatus() == GrpcStatus.RESOURCE_EXHAUSTED
                ? new AskedTooOften("the kubelet answers podresources calls of this node too often already")
                : failure;
    }

    private Holdings join(KubeletCheckpoint before, ListPodResourcesResponse answer) {
        KubeletCheckpoint after = KubeletCheckpoint.read(checkpoint, ours);
        return new HolderJoin(ours, after, after.alsoIn(before), kubeletIsSettled()).join(answer);
    }

    private boolean kubeletIsSettled() {
        try {
            var served = Files.getLastModifiedTime(socket).toInstant();
            return Duration.between(served, clock.instant()).compareTo(KUBELET_SETTLES) >= 0;
        } catch (IOException notThere) {
            return false;
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
