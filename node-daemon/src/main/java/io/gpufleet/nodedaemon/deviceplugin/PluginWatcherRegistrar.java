package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import io.gpufleet.nodedaemon.model.registration.KubeletSocket.Present;
import io.gpufleet.proto.kubelet.KubeletMethods;
import io.gpufleet.proto.kubelet.UnixGrpcServer;
import io.gpufleet.proto.kubelet.pluginregistration.PluginInfo;
import io.gpufleet.proto.kubelet.pluginregistration.RegistrationStatus;
import io.gpufleet.proto.kubelet.pluginregistration.RegistrationStatusResponse;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Registers through the kubelet's plugin watcher: serves a socket in the plugins_registry directory and waits for the
 * kubelet, which scans the directory every second. It connects to a socket once, so a new registration with the same
 * kubelet needs a new socket.
 */
final class PluginWatcherRegistrar implements KubeletRegistrar {
    private static final long TIMEOUT_MILLIS = TimeUnit.SECONDS.toMillis(15);

    private final EventLoop loop;
    private final PluginSocket socket;
    private final String resource;
    private final Path directory;
    private KubeletSocket publishedFor = new KubeletSocket.Absent();
    private KubeletSocket latest = new KubeletSocket.Absent();
    private CompletableFuture<Boolean> registered = new CompletableFuture<>();
    private volatile String endpoint = "";

    PluginWatcherRegistrar(EventLoop loop, PluginSocket socket, String resource, Path directory) {
        this.loop = loop;
        this.socket = socket;
        this.resource = resource;
        this.directory = directory;
    }

    /** Adds the plugin watcher's Registration service to the device plugin's server. */
    void serve(UnixGrpcServer grpc) {
        grpc.serve(KubeletMethods.GET_INFO, (_, call) -> call.respond(info().toByteArray()));
        grpc.serve(KubeletMethods.NOTIFY_REGISTRATION_STATUS, (status, call) -> {
            registrationStatus(status);
            call.respond(RegistrationStatusResponse.getDefaultInstance().toByteArray());
        });
    }

    private PluginInfo info() {
        return PluginInfo.newBuilder()
                .setType("DevicePlugin")
                .setName(resource)
                .setEndpoint(endpoint)
                .addSupportedVersions(DevicePluginServer.VERSION)
                .build();
    }

    private void registrationStatus(RegistrationStatus status) {
        if (status.getPluginRegistered()) {
            registered.complete(true);
        } else {
            fail(registered, "kubelet: " + status.getError());
        }
    }

    private static void fail(CompletableFuture<?> registration, String reason) {
        registration.completeExceptionally(new IllegalStateException(reason));
    }

    @Override
    public CompletionStage<?> register(Present kubelet) {
        boolean anotherKubelet = !kubelet.equals(publishedFor);
        publishedFor = kubelet;
        var result = new CompletableFuture<Boolean>();
        registered = result;
        ScheduledFuture<?> timer = loop.schedule(
                () -> fail(
                        result,
                        "kubelet did not connect to the socket in " + directory
                                + "; is that its plugins_registry directory?"),
                TIMEOUT_MILLIS,
                TimeUnit.MILLISECONDS);
        CompletionStage<Path> served = anotherKubelet ? socket.ensureServed() : socket.reopen();
        served.whenComplete((path, failed) -> {
            if (failed == null) {
                endpoint = path.toString();
            } else {
                result.completeExceptionally(failed);
            }
        });
        return result.whenComplete((_, _) -> timer.cancel(false));
    }

    /** Fails the registration in flight if the kubelet restarted. */
    @Override
    public void socketObserved(KubeletSocket seen) {
        if (seen instanceof Present && !seen.equals(latest) && latest instanceof Present) {
            fail(registered, "kubelet restarted");
        }
        latest = seen;
    }
}
