package io.gpufleet.nodedaemon.podresources;

import io.gpufleet.nodedaemon.app.HolderSource;
import io.gpufleet.nodedaemon.model.Holder;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.proto.kubelet.podresources.ContainerResources;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesRequest;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesResponse;
import io.gpufleet.proto.kubelet.podresources.PodResourcesListerGrpcClient;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
        client.request(SocketAddress.domainSocketAddress(socket.toString()), PodResourcesListerGrpcClient.List)
                .compose(call -> {
                    call.timeout(DEADLINE_SECONDS, TimeUnit.SECONDS);
                    return call.send(ListPodResourcesRequest.getDefaultInstance());
                })
                .compose(response -> response.last())
                .compose(answer -> vertx.executeBlocking(() -> join(answer), false))
                .onSuccess(told::complete)
                .onFailure(told::completeExceptionally);
    }

    private Holdings join(ListPodResourcesResponse answer) {
        KubeletCheckpoint book = KubeletCheckpoint.read(checkpoint, ours);
        var holders = new ArrayList<Holder>();
        for (var pod : answer.getPodResourcesList()) {
            for (var container : pod.getContainersList()) {
                byResource(container)
                        .forEach((resource, ids) -> holders.add(new Holder(
                                pod.getNamespace(),
                                pod.getName(),
                                book.podUid(ids),
                                container.getName(),
                                resource,
                                ids)));
            }
        }
        holders.sort(Comparator.comparing(Holder::namespace)
                .thenComparing(Holder::pod)
                .thenComparing(Holder::container)
                .thenComparing(Holder::resource));
        return new Holdings(holders, isComplete(holders, book));
    }

    /** Ids by resource, sorted; the kubelet tells one NUMA node after the other. */
    private SortedMap<String, List<String>> byResource(ContainerResources container) {
        var byResource = new TreeMap<String, List<String>>();
        container.getDevicesList().stream()
                .filter(devices -> ours.test(devices.getResourceName()) && devices.getDeviceIdsCount() > 0)
                .forEach(devices -> byResource.merge(
                        devices.getResourceName(),
                        devices.getDeviceIdsList().stream().distinct().sorted().toList(),
                        (a, b) -> Stream.concat(a.stream(), b.stream())
                                .distinct()
                                .sorted()
                                .toList()));
        return byResource;
    }

    /**
     * A kubelet that has just started knows its checkpoint before it knows its pods. Later, what only the checkpoint
     * knows are pods that ended: it is not written anew when they do.
     */
    private boolean isComplete(List<Holder> holders, KubeletCheckpoint book) {
        var held =
                holders.stream().flatMap(holder -> holder.deviceIds().stream()).collect(Collectors.toSet());
        boolean allInBook = book.uidByDevice().keySet().containsAll(held);
        boolean allListed = held.containsAll(book.uidByDevice().keySet());
        return book.readable() && allInBook && (allListed || kubeletIsSettled());
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
