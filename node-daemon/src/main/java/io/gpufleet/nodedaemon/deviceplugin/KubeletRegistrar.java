package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import io.vertx.core.Future;

/** Registers a resource with the kubelet. All calls on one context. */
interface KubeletRegistrar {
    /** Completes when the kubelet has registered the resource; fails with its error. */
    Future<?> register(KubeletSocket.Present kubelet);

    /** Handles a reading of kubelet.sock. */
    void socketObserved(KubeletSocket seen);
}
