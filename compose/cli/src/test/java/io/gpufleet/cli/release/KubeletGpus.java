package io.gpufleet.cli.release;

import io.gpufleet.proto.kubelet.EventLoops;
import io.gpufleet.proto.kubelet.GrpcMethod;
import io.gpufleet.proto.kubelet.UnixGrpcClient;
import io.gpufleet.proto.kubelet.podresources.AllocatableResourcesRequest;
import io.gpufleet.proto.kubelet.podresources.AllocatableResourcesResponse;
import io.netty.channel.EventLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The GPUs that the kubelet of this machine would allocate now: what it has written to the Node is up to its period older. */
final class KubeletGpus implements AutoCloseable {
    private static final Path SOCKET = Path.of("/var/lib/kubelet/pod-resources/kubelet.sock");
    private static final GrpcMethod<AllocatableResourcesRequest, AllocatableResourcesResponse> METHOD =
            new GrpcMethod<>(
                    "/v1.PodResourcesLister/GetAllocatableResources",
                    AllocatableResourcesRequest.parser(),
                    AllocatableResourcesResponse.parser());

    private final EventLoop loop = EventLoops.open("kubelet-gpus");
    private final UnixGrpcClient client = new UnixGrpcClient(loop);

    /** Asks the kubelet; as a call that failed where it does not answer. */
    int count() {
        return client
                .call(SOCKET, METHOD, AllocatableResourcesRequest.getDefaultInstance(), Duration.ofSeconds(5))
                .toCompletableFuture()
                .join()
                .getDevicesList()
                .stream()
                .filter(devices -> devices.getResourceName().equals("nvidia.com/gpu"))
                .mapToInt(devices -> devices.getDeviceIdsCount())
                .sum();
    }

    @Override
    public void close() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
