package io.gpufleet.testbed.fakekubelet;

import io.gpufleet.proto.kubelet.podresources.AllocatableResourcesRequest;
import io.gpufleet.proto.kubelet.podresources.AllocatableResourcesResponse;
import io.gpufleet.proto.kubelet.podresources.ContainerDevices;
import io.gpufleet.proto.kubelet.podresources.ContainerResources;
import io.gpufleet.proto.kubelet.podresources.GetPodResourcesRequest;
import io.gpufleet.proto.kubelet.podresources.GetPodResourcesResponse;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesRequest;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesResponse;
import io.gpufleet.proto.kubelet.podresources.NUMANode;
import io.gpufleet.proto.kubelet.podresources.PodResources;
import io.gpufleet.proto.kubelet.podresources.PodResourcesListerService;
import io.gpufleet.proto.kubelet.podresources.TopologyInfo;
import io.vertx.core.Future;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.StatusException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Serves podresources v1 from the inventory. Like the kubelet, it reports no pod UID and lists healthy devices only.
 */
final class PodResourcesServer extends PodResourcesListerService {
    private final DeviceInventory inventory;

    PodResourcesServer(DeviceInventory inventory) {
        this.inventory = inventory;
    }

    @Override
    public Future<ListPodResourcesResponse> list(ListPodResourcesRequest request) {
        var pods = new LinkedHashMap<PodKey, PodResources.Builder>();
        var containers = new LinkedHashMap<PodKey, Map<String, ContainerResources.Builder>>();
        Map<String, AdvertisedResource> views = inventory.views();
        for (DeviceAllocation held : inventory.allocations()) {
            pods.computeIfAbsent(
                    held.pod(),
                    pod -> PodResources.newBuilder().setName(pod.name()).setNamespace(pod.namespace()));
            containers
                    .computeIfAbsent(held.pod(), pod -> new LinkedHashMap<>())
                    .computeIfAbsent(
                            held.container(),
                            name -> ContainerResources.newBuilder().setName(name))
                    .addDevices(ContainerDevices.newBuilder()
                            .setResourceName(held.resource())
                            .addAllDeviceIds(held.deviceIds())
                            .setTopology(topology(views.get(held.resource()), held.deviceIds())));
        }
        var answer = ListPodResourcesResponse.newBuilder();
        pods.forEach((pod, builder) -> {
            containers.getOrDefault(pod, Map.of()).values().forEach(builder::addContainers);
            answer.addPodResources(builder);
        });
        return Future.succeededFuture(answer.build());
    }

    @Override
    public Future<AllocatableResourcesResponse> getAllocatableResources(AllocatableResourcesRequest request) {
        var answer = AllocatableResourcesResponse.newBuilder();
        inventory
                .views()
                .values()
                .forEach(view -> view.devices().stream()
                        .filter(AdvertisedResource.Device::healthy)
                        .forEach(device -> answer.addDevices(ContainerDevices.newBuilder()
                                .setResourceName(view.name())
                                .addDeviceIds(device.id())
                                .setTopology(topology(view, List.of(device.id()))))));
        return Future.succeededFuture(answer.build());
    }

    @Override
    public Future<GetPodResourcesResponse> get(GetPodResourcesRequest request) {
        return list(ListPodResourcesRequest.getDefaultInstance())
                .compose(all -> all.getPodResourcesList().stream()
                        .filter(pod -> pod.getName().equals(request.getPodName())
                                && pod.getNamespace().equals(request.getPodNamespace()))
                        .findFirst()
                        .map(pod -> Future.succeededFuture(GetPodResourcesResponse.newBuilder()
                                .setPodResources(pod)
                                .build()))
                        .orElseGet(() -> Future.failedFuture(new StatusException(
                                GrpcStatus.UNKNOWN,
                                "pod " + request.getPodName() + " in namespace " + request.getPodNamespace()
                                        + " not found"))));
    }

    private static TopologyInfo topology(@org.jspecify.annotations.Nullable AdvertisedResource view, List<String> ids) {
        var topology = TopologyInfo.newBuilder();
        if (view != null) {
            view.devices().stream()
                    .filter(device -> ids.contains(device.id()))
                    .flatMap(device -> device.numa().stream())
                    .distinct()
                    .forEach(numa -> topology.addNodes(NUMANode.newBuilder().setID(numa)));
        }
        return topology.build();
    }
}
