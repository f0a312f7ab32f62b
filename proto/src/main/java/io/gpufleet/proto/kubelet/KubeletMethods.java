package io.gpufleet.proto.kubelet;

import io.gpufleet.proto.kubelet.deviceplugin.AllocateRequest;
import io.gpufleet.proto.kubelet.deviceplugin.AllocateResponse;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginOptions;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.ListAndWatchResponse;
import io.gpufleet.proto.kubelet.deviceplugin.PreStartContainerRequest;
import io.gpufleet.proto.kubelet.deviceplugin.PreStartContainerResponse;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationRequest;
import io.gpufleet.proto.kubelet.deviceplugin.PreferredAllocationResponse;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.gpufleet.proto.kubelet.pluginregistration.InfoRequest;
import io.gpufleet.proto.kubelet.pluginregistration.PluginInfo;
import io.gpufleet.proto.kubelet.pluginregistration.RegistrationStatus;
import io.gpufleet.proto.kubelet.pluginregistration.RegistrationStatusResponse;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesRequest;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesResponse;

/** The methods by which a kubelet and its plugins call each other. */
public final class KubeletMethods {
    /** Of the kubelet: registers a device plugin. */
    public static final GrpcMethod<RegisterRequest, Empty> REGISTER =
            new GrpcMethod<>("/v1beta1.Registration/Register", RegisterRequest.parser(), Empty.parser());
    /** Of the kubelet: lists the pods with their devices. */
    public static final GrpcMethod<ListPodResourcesRequest, ListPodResourcesResponse> LIST_POD_RESOURCES =
            new GrpcMethod<>(
                    "/v1.PodResourcesLister/List", ListPodResourcesRequest.parser(), ListPodResourcesResponse.parser());

    private static final String DEVICE_PLUGIN = "/v1beta1.DevicePlugin/";

    /** Of a device plugin: which calls it wants. */
    public static final GrpcMethod<Empty, DevicePluginOptions> GET_DEVICE_PLUGIN_OPTIONS =
            new GrpcMethod<>(DEVICE_PLUGIN + "GetDevicePluginOptions", Empty.parser(), DevicePluginOptions.parser());
    /** Of a device plugin: a stream of its device lists. */
    public static final GrpcMethod<Empty, ListAndWatchResponse> LIST_AND_WATCH =
            new GrpcMethod<>(DEVICE_PLUGIN + "ListAndWatch", Empty.parser(), ListAndWatchResponse.parser());
    /** Of a device plugin: what the containers get. */
    public static final GrpcMethod<AllocateRequest, AllocateResponse> ALLOCATE =
            new GrpcMethod<>(DEVICE_PLUGIN + "Allocate", AllocateRequest.parser(), AllocateResponse.parser());
    /** Of a device plugin: which of the free devices to allocate. */
    public static final GrpcMethod<PreferredAllocationRequest, PreferredAllocationResponse> GET_PREFERRED_ALLOCATION =
            new GrpcMethod<>(
                    DEVICE_PLUGIN + "GetPreferredAllocation",
                    PreferredAllocationRequest.parser(),
                    PreferredAllocationResponse.parser());
    /** Of a device plugin: called before a container starts, where the plugin wants it. */
    public static final GrpcMethod<PreStartContainerRequest, PreStartContainerResponse> PRE_START_CONTAINER =
            new GrpcMethod<>(
                    DEVICE_PLUGIN + "PreStartContainer",
                    PreStartContainerRequest.parser(),
                    PreStartContainerResponse.parser());

    private static final String PLUGIN_REGISTRATION = "/pluginregistration.Registration/";

    /** Of a plugin in the plugins_registry directory: what it is. */
    public static final GrpcMethod<InfoRequest, PluginInfo> GET_INFO =
            new GrpcMethod<>(PLUGIN_REGISTRATION + "GetInfo", InfoRequest.parser(), PluginInfo.parser());
    /** Of a plugin in the plugins_registry directory: whether the kubelet registered it. */
    public static final GrpcMethod<RegistrationStatus, RegistrationStatusResponse> NOTIFY_REGISTRATION_STATUS =
            new GrpcMethod<>(
                    PLUGIN_REGISTRATION + "NotifyRegistrationStatus",
                    RegistrationStatus.parser(),
                    RegistrationStatusResponse.parser());

    private KubeletMethods() {}
}
